import type { EffectiveConfig } from '../schemas/config.ts'
import type { Route } from './route.ts'

export type ExecutionMode = EffectiveConfig['review']['execution_mode']

/** The rows of a table that `review.execution_mode` keeps. */
export function applyExecutionMode(routes: readonly Route[], mode: ExecutionMode): readonly Route[] {
  switch (mode) {
    case 'auto':
      return routes
    case 'curl':
      return routes.filter(({ backend }) => backend === 'curl').map((route) => ({ ...route, failMode: 'hard_fail' }))
    case 'codex':
      return routes
        .filter(({ backend }) => backend === 'codex' || backend === 'curl')
        .map((route) => (route.backend === 'codex' ? insisted(route) : route))
  }
}

/** Who asks for Codex is told that it is missing; a condition would pass it over in silence. */
const insisted = (route: Route): Route => ({ ...route, when: ['always'], failMode: 'hard_fail' })
