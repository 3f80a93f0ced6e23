import type { BackendName, Failure } from '../schemas/backend.ts'
import { type AttemptBudget, attemptBudget } from './attempt-budget.ts'
import { askOnce, type ConditionFacts, evaluateConditions, showConditions } from './conditions.ts'
import type { Route, RouteTable } from './route.ts'

/** `failure` includes an answer that does not keep the contract: no row serves with it. */
export type Attempt<T> = { readonly kind: 'success'; readonly value: T } | ({ readonly kind: 'failure' } & Failure)

export type RouteEffects<T> = {
  readonly facts: ConditionFacts
  /** A whole review by this row, all its passes. The first attempt is taken from the budget already. */
  readonly attempt: (route: Route, budget: AttemptBudget) => Promise<Attempt<T>>
  readonly timeLeftMs: () => number
  readonly maxAttempts: number
  readonly trace: (line: string) => void
  readonly isCancelled: () => boolean
}

export type RouteFailure = { readonly backend: BackendName } & Failure
export type Unserved = {
  readonly kind: 'unserved'
  readonly because: 'no-route' | 'hard-fail' | 'exhausted' | 'attempts' | 'deadline' | 'cancelled'
  readonly failures: readonly RouteFailure[]
  readonly skipped: readonly { readonly backend: BackendName; readonly why: string }[]
}
export type RouteOutcome<T> = { readonly kind: 'served'; readonly route: Route; readonly value: T } | Unserved

/** Row by row from the top; the first success wins. */
export async function runRoutes<T>(
  { routes }: Pick<RouteTable, 'routes'>,
  effects: RouteEffects<T>,
): Promise<RouteOutcome<T>> {
  const facts = askOnce(effects.facts)
  const budget = attemptBudget(effects.maxAttempts)
  const failures: RouteFailure[] = []
  const skipped: { backend: BackendName; why: string }[] = []
  const unserved = (because: Unserved['because']): Unserved => ({ kind: 'unserved', because, failures, skipped })

  for (const route of routes) {
    const { backend } = route
    const row = `backend=${backend}, conditions=[${showConditions(route.when)}]`
    const fact = await evaluateConditions(route.when, facts)
    const end = reasonToEnd(effects)
    if (end !== null) {
      effects.trace(`[route-table] ended before ${row}, why=${end}`)
      return unserved(end)
    }
    if (!fact.holds) {
      effects.trace(`[route-table] skipping ${row}, why=${fact.why}`)
      skipped.push({ backend, why: fact.why })
      continue
    }
    if (!budget.take()) {
      effects.trace(`[route-table] ended before ${row}, why=attempts`)
      return unserved('attempts')
    }
    const attempt = await effects.attempt(route, budget)
    if (attempt.kind === 'success') {
      effects.trace(`[route-table] trying ${row}, result=success`)
      return { kind: 'served', route, value: attempt.value }
    }
    effects.trace(`[route-table] trying ${row}, result=fail (${attempt.failure})`)
    failures.push(asRouteFailure(backend, attempt))
    if (attempt.failure === 'cancelled' || effects.isCancelled()) return unserved('cancelled')
    if (route.failMode === 'hard_fail') return unserved('hard-fail')
  }
  return unserved(failures.length === 0 ? 'no-route' : 'exhausted')
}

function reasonToEnd<T>({ isCancelled, timeLeftMs }: RouteEffects<T>): 'cancelled' | 'deadline' | null {
  if (isCancelled()) return 'cancelled'
  return timeLeftMs() > 0 ? null : 'deadline'
}

const asRouteFailure = (backend: BackendName, { failure, why, nextStep, retryAfterMs }: Failure): RouteFailure => ({
  backend,
  failure,
  why,
  nextStep,
  retryAfterMs,
})
