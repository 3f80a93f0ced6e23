import { keyName } from '../schemas/show-value.ts'
import { showConditions } from './conditions.ts'
import type { Route, RouteTable } from './route.ts'

/**
 * The text that stands for what a table does, and is hashed. Two tables have the same one exactly when they have the
 * same rows in the same order, wherever these come from.
 */
export const canonicalTable = ({ routes }: Pick<RouteTable, 'routes'>): string =>
  JSON.stringify({ route_schema: 1, routes: routes.map(canonicalRow) })

const canonicalRow = ({ backend, when, capabilities, failMode, timeoutMs, retries }: Route): object => ({
  backend,
  when,
  capabilities,
  fail_mode: failMode,
  timeout_ms: timeoutMs,
  retries,
})

/** For the log of a review: where the table comes from, its rows, and what was done to it. */
export const describeRoutes = ({ origin, routes, notices }: RouteTable): string[] =>
  [
    origin === 'default'
      ? 'using the default routes because no routes of your own count here'
      : 'using routes of your own',
    ...routes.map(describeRoute),
    ...notices.map((notice) => `notice: ${notice}`),
  ].map((line) => `[route-table] ${line}`)

function describeRoute({ backend, when, capabilities, failMode, timeoutMs, retries }: Route, index: number): string {
  const timeout = timeoutMs === null ? 'default' : `${timeoutMs / 1000}s`
  const usedFor = capabilities.map(keyName).join(', ')
  const what = `backend=${backend}, conditions=[${showConditions(when)}], capabilities=[${usedFor}]`
  return `route ${index + 1}: ${what}, fail_mode=${failMode}, timeout=${timeout}, retries=${retries}`
}
