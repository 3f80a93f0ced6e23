/** The route table: which reviewers are asked, in which order, under which conditions. */
import { either, keyName, quoteShort } from '../config/errors.ts'
import { nearestName } from '../config/nearest-name.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { type BackendName, backendNames } from '../schemas/review.ts'
import { conditionNames, showConditions } from './conditions.ts'

const failModes = ['fallthrough', 'hard_fail'] as const
type FailMode = (typeof failModes)[number]

/** A row of the route table: who reviews, under which conditions, and whether a failure falls through to the next row. */
export type Route = {
  readonly backend: BackendName
  /** Names of conditions that must all hold. */
  readonly when: readonly string[]
  readonly capabilities: readonly string[]
  readonly failMode: FailMode
  /** For one pass; null: the default of all rows. */
  readonly timeoutMs: number | null
  readonly retries: number
}

export type RouteTable = {
  readonly origin: 'default' | 'config'
  readonly routes: readonly Route[]
  /** What of the configured table was ignored or replaced, and why. */
  readonly notices: readonly string[]
}

/** For a row without `capabilities`. */
const defaultCapabilities: { readonly [name in BackendName]: readonly string[] } = {
  hounfour: ['agent_binding', 'metering', 'trust_scopes'],
  codex: ['sandbox', 'ephemeral', 'multi_pass', 'tool_access'],
  curl: ['basic'],
  checklist: ['basic'],
}

const row = (backend: BackendName, when: readonly string[], failMode: FailMode, retries = 0): Route => ({
  backend,
  when,
  capabilities: defaultCapabilities[backend],
  failMode,
  timeoutMs: null,
  retries,
})

export const defaultRoutes: readonly Route[] = [
  row('hounfour', ['flatline_routing_enabled', 'model_invoke_available'], 'fallthrough'),
  row('codex', ['codex_available'], 'fallthrough'),
  row('curl', ['always'], 'hard_fail', 3),
]

export type BuiltTable =
  | { readonly kind: 'table'; readonly table: RouteTable }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }

type Review = Pick<EffectiveConfig['review'], 'routes' | 'route_schema' | 'execution_mode' | 'policy'>
type Row = NonNullable<Review['routes']>[number]
type Environment = { readonly CI?: string | undefined; readonly PLAN_GATE_CUSTOM_ROUTES?: string | undefined }

const maxRouteSchema = 1

/**
 * The user's own table as it is, or the built-in one.
 * `chosenByUser`: the row comes from `--reviewer` of an install and not from a file, so it needs no opt-in in CI.
 */
export function buildRouteTable(
  review: Review,
  env: Environment,
  { chosenByUser }: { readonly chosenByUser: boolean } = { chosenByUser: false },
): BuiltTable {
  if (review.route_schema > maxRouteSchema) return { kind: 'invalid', problems: [tooNew(review.route_schema)] }
  if (review.routes === undefined) return builtInTable(review, [])
  const reason = chosenByUser ? null : customRoutesProblem(review, env)
  return reason === null
    ? customTable(review.routes, review, chosenByUser)
    : builtInTable(review, [`Using the default routes because ${reason}.`])
}

const tooNew = (version: number): string =>
  `review.route_schema: version ${version} is newer than this plan-gate, which knows ${maxRouteSchema}. ` +
  'Upgrade plan-gate: npm install --save-dev plan-gate@latest'

/** A pull request can contain a plan-gate.yaml, and CI has keys that cost money. */
function customRoutesProblem({ policy }: Review, env: Environment): string | null {
  if (env.PLAN_GATE_CUSTOM_ROUTES === '1') return null
  if (policy.require_custom_routes_opt_in)
    return 'review.policy.require_custom_routes_opt_in wants PLAN_GATE_CUSTOM_ROUTES=1 for review.routes'
  return isCi(env.CI) ? 'in CI review.routes counts only with PLAN_GATE_CUSTOM_ROUTES=1' : null
}

const isCi = (value = ''): boolean => !['', 'false', '0'].includes(value.trim().toLowerCase())

function builtInTable({ execution_mode, policy }: Review, notices: readonly string[]): BuiltTable {
  const routes = applyExecutionMode(defaultRoutes, execution_mode)
  const limit = policy.max_routes
  const stay = `the ${routes.length} built-in ones stay`
  const tooLong = `review.policy.max_routes (${limit}) is for routes of your own; ${stay}.`
  return asTable({ origin: 'default', routes, notices: routes.length > limit ? [...notices, tooLong] : notices })
}

function customTable(rows: readonly Row[], { policy, execution_mode }: Review, chosenByUser: boolean): BuiltTable {
  const problems = [...tooManyRows(rows.length, policy.max_routes), ...rows.flatMap(rowProblems)]
  if (problems.length > 0) return { kind: 'invalid', problems }
  const routes = rows.map(asRoute)
  const isFirst = ({ backend }: Route, index: number) =>
    routes.findIndex((other) => other.backend === backend) === index
  const kept = routes.filter(isFirst)
  const notices = [
    ...rows.flatMap(rowNotices),
    ...routes.flatMap((route, index) => (isFirst(route, index) ? [] : [duplicateNotice(route, index)])),
    ...kept.slice(-1).flatMap(lastRowNotices),
    ...(execution_mode === 'auto' ? [] : [ignoredModeNotice(execution_mode, chosenByUser)]),
  ]
  return asTable({ origin: 'config', routes: kept, notices })
}

const asTable = (table: RouteTable): BuiltTable =>
  table.routes.length > 0
    ? { kind: 'table', table }
    : { kind: 'invalid', problems: ['review.routes: there is no row in the route table, so no reviewer is available.'] }

const tooManyRows = (count: number, limit: number): string[] =>
  count > limit ? [`review.routes: ${count} rows are more than review.policy.max_routes allows (${limit}).`] : []

const nameOf = (index: number): string => `review.routes[${index}]`

/** The schema finds these as well, but not every configuration passed in has been validated by it. */
function rowProblems({ backend, when }: Row, index: number): string[] {
  const names: readonly string[] = backendNames
  return [
    ...(names.includes(backend)
      ? []
      : [`${nameOf(index)}.backend: expected ${either(names)}, found ${quoteShort(String(backend))}.`]),
    ...(when.length > 0 ? [] : [`${nameOf(index)}.when: expected at least one condition, such as always; found none.`]),
  ]
}

const asRoute = ({ backend, when, capabilities, fail_mode, timeout, retries }: Row): Route => ({
  backend,
  when,
  capabilities: capabilities ?? defaultCapabilities[backend],
  failMode: failModes.find((mode) => mode === fail_mode) ?? 'fallthrough',
  timeoutMs: timeout === undefined ? null : timeout * 1000,
  retries,
})

function rowNotices({ when, fail_mode }: Row, index: number): string[] {
  const unknown = when.filter((name) => !conditionNames.includes(name))
  return [
    ...unknown.map((name) => {
      const problem = `${quoteShort(name)} is not a known condition, so it never holds and the row is never used.`
      return `${nameOf(index)}.when: ${problem} ${hintFor(name)}`
    }),
    ...(failModes.includes(fail_mode as FailMode)
      ? []
      : [`${nameOf(index)}.fail_mode: ${quoteShort(fail_mode)} is not known; taken as fallthrough.`]),
  ]
}

function hintFor(name: string): string {
  const nearest = nearestName(name, conditionNames)
  return nearest === undefined ? `There are ${conditionNames.join(', ')}.` : `Did you mean ${nearest}?`
}

const duplicateNotice = ({ backend }: Route, index: number): string =>
  `${nameOf(index)}: ${backend} has a row already, and the first one counts. This one is left out.`

const lastRowNotices = ({ backend, failMode }: Route): string[] => {
  const nothing = `after the last row, ${backend}, there is nothing to fall through to`
  return failMode === 'hard_fail' ? [] : [`review.routes: ${nothing}; give it fail_mode: hard_fail.`]
}

const ignoredModeNotice = (mode: string, chosenByUser: boolean): string =>
  chosenByUser
    ? `review.execution_mode (${mode}) is ignored: the reviewer was chosen with --reviewer.`
    : `review.execution_mode (${mode}) is ignored: review.routes takes its place.`

type ExecutionMode = EffectiveConfig['review']['execution_mode']

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
        .map((route) => (route.backend === 'codex' ? required(route) : route))
  }
}

/** With `execution_mode: codex` a missing Codex is an error; a condition would skip the row silently. */
const required = (route: Route): Route => ({ ...route, when: ['always'], failMode: 'hard_fail' })

/** For the hash of a table: equal exactly for the same rows in the same order, wherever they come from. */
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

/** For the log of a review: the table's origin, its rows and its notices. */
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
