import { backendNames } from '../schemas/backend.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { nearestName } from '../schemas/nearest-name.ts'
import { either, quoted } from '../schemas/show-value.ts'
import { applyExecutionMode } from './apply-execution-mode.ts'
import { conditionNames } from './conditions.ts'
import { defaultRoutes, type FailMode, failModes, type Route, type RouteTable, usualCapabilities } from './route.ts'

export type BuiltTable =
  | { readonly kind: 'table'; readonly table: RouteTable }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }

type Review = Pick<EffectiveConfig['review'], 'routes' | 'route_schema' | 'execution_mode' | 'policy'>
type Row = NonNullable<Review['routes']>[number]
type Environment = { readonly CI?: string | undefined; readonly PLAN_GATE_CUSTOM_ROUTES?: string | undefined }

const newestSchema = 1

/**
 * The table that counts. One of the user's own is used as it is or not at all; the built-in one is always there.
 * `chosenByUser`: the row comes from `--reviewer` of an install and not from a file, so CI has no reason to doubt it.
 */
export function buildRouteTable(
  review: Review,
  env: Environment,
  { chosenByUser }: { readonly chosenByUser: boolean } = { chosenByUser: false },
): BuiltTable {
  if (review.route_schema > newestSchema) return { kind: 'invalid', problems: [tooNew(review.route_schema)] }
  if (review.routes === undefined) return builtInTable(review, [])
  const reason = chosenByUser ? null : whyNotAllowed(review, env)
  return reason === null
    ? customTable(review.routes, review, chosenByUser)
    : builtInTable(review, [`Using the default routes because ${reason}.`])
}

const tooNew = (version: number): string =>
  `review.route_schema: version ${version} is newer than this plan-gate, which knows ${newestSchema}. ` +
  'Upgrade plan-gate: npm install --save-dev plan-gate@latest'

/** A pull request can bring a plan-gate.yaml along, and CI has keys that cost money. */
function whyNotAllowed({ policy }: Review, env: Environment): string | null {
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
  const problems = [...tooManyRows(rows.length, policy.max_routes), ...rows.flatMap(problemsOf)]
  if (problems.length > 0) return { kind: 'invalid', problems }
  const routes = rows.map(asRoute)
  const isFirst = ({ backend }: Route, index: number) =>
    routes.findIndex((other) => other.backend === backend) === index
  const kept = routes.filter(isFirst)
  const notices = [
    ...rows.flatMap(noticesOn),
    ...routes.flatMap((route, index) => (isFirst(route, index) ? [] : [leftOut(route, index)])),
    ...kept.slice(-1).flatMap(noticesOnLast),
    ...(execution_mode === 'auto' ? [] : [overruled(execution_mode, chosenByUser)]),
  ]
  return asTable({ origin: 'config', routes: kept, notices })
}

const asTable = (table: RouteTable): BuiltTable =>
  table.routes.length > 0
    ? { kind: 'table', table }
    : { kind: 'invalid', problems: ['review.routes: there is no row in the route table, so nobody can review.'] }

const tooManyRows = (count: number, most: number): string[] =>
  count > most ? [`review.routes: ${count} rows are more than review.policy.max_routes allows (${most}).`] : []

const nameOf = (index: number): string => `review.routes[${index}]`

/** The schema finds these, too; but not everything that hands over a configuration has been through it. */
function problemsOf({ backend, when }: Row, index: number): string[] {
  const names: readonly string[] = backendNames
  return [
    ...(names.includes(backend)
      ? []
      : [`${nameOf(index)}.backend: expected ${either(names)}, found ${quoted(String(backend))}.`]),
    ...(when.length > 0 ? [] : [`${nameOf(index)}.when: expected at least one condition, such as always; found none.`]),
  ]
}

const asRoute = ({ backend, when, capabilities, fail_mode, timeout, retries }: Row): Route => ({
  backend,
  when,
  capabilities: capabilities ?? usualCapabilities[backend],
  failMode: failModes.find((mode) => mode === fail_mode) ?? 'fallthrough',
  timeoutMs: timeout === undefined ? null : timeout * 1000,
  retries,
})

function noticesOn({ when, fail_mode }: Row, index: number): string[] {
  const unknown = when.filter((name) => !conditionNames.includes(name))
  return [
    ...unknown.map((name) => {
      const known = `${quoted(name)} is not a known condition, so it never holds and the row is never used.`
      return `${nameOf(index)}.when: ${known} ${hintFor(name)}`
    }),
    ...(failModes.includes(fail_mode as FailMode)
      ? []
      : [`${nameOf(index)}.fail_mode: ${quoted(fail_mode)} is not known; taken as fallthrough.`]),
  ]
}

function hintFor(name: string): string {
  const nearest = nearestName(name, conditionNames)
  return nearest === undefined ? `There are ${conditionNames.join(', ')}.` : `Did you mean ${nearest}?`
}

const leftOut = ({ backend }: Route, index: number): string =>
  `${nameOf(index)}: ${backend} has a row already, and the first one counts. This one is left out.`

const noticesOnLast = ({ backend, failMode }: Route): string[] => {
  const nothing = `after the last row, ${backend}, there is nothing to fall through to`
  return failMode === 'hard_fail' ? [] : [`review.routes: ${nothing}; give it fail_mode: hard_fail.`]
}

const overruled = (mode: string, chosenByUser: boolean): string =>
  chosenByUser
    ? `review.execution_mode (${mode}) is ignored: the reviewer was chosen with --reviewer.`
    : `review.execution_mode (${mode}) is ignored: review.routes takes its place.`
