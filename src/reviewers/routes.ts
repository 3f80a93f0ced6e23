import { either, keyName, quoteShort } from '../config/errors.ts'
import { nearestName } from '../config/nearest-name.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { type BackendName, backendNames, type Failure } from '../schemas/review.ts'
import { type AttemptBudget, attemptBudget } from './retry.ts'

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
      : [`${nameOf(index)}.backend: expected ${either(names)}, found ${quoteShort(String(backend))}.`]),
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
      const known = `${quoteShort(name)} is not a known condition, so it never holds and the row is never used.`
      return `${nameOf(index)}.when: ${known} ${hintFor(name)}`
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
        .map((route) => (route.backend === 'codex' ? insisted(route) : route))
  }
}

/** Who asks for Codex is told that it is missing; a condition would pass it over in silence. */
const insisted = (route: Route): Route => ({ ...route, when: ['always'], failMode: 'hard_fail' })

/** `why` is the end of a sentence: "codex is not on PATH". */
export type Fact = { readonly holds: true } | { readonly holds: false; readonly why: string }

/** What conditions may ask about the machine and the configuration. Nothing is looked up before it is asked for. */
export type ConditionFacts = {
  readonly codex: () => Promise<Fact>
  readonly openAiKey: () => Promise<Fact>
  readonly modelInvoke: () => Promise<Fact>
  readonly flatlineRouting: boolean
}

type Condition = { readonly name: string; readonly ask: (facts: ConditionFacts) => Fact | Promise<Fact> }

const yes: Fact = { holds: true }

/** All conditions there are. A route table names them; it cannot define one, and nothing in it is ever evaluated. */
const conditions = [
  { name: 'always', ask: () => yes },
  { name: 'codex_available', ask: ({ codex }) => codex() },
  {
    name: 'flatline_routing_enabled',
    ask: ({ flatlineRouting }) =>
      flatlineRouting ? yes : { holds: false, why: 'hounfour.flatline_routing is not true' },
  },
  { name: 'model_invoke_available', ask: ({ modelInvoke }) => modelInvoke() },
  { name: 'openai_key_set', ask: ({ openAiKey }) => openAiKey() },
] as const satisfies readonly Condition[]

type ConditionName = (typeof conditions)[number]['name']
export const conditionNames: readonly string[] = conditions.map(({ name }) => name)

/** Without it the backend can only fail, whatever its row asks for. */
const needOf: { readonly [name in BackendName]: ConditionName } = {
  hounfour: 'model_invoke_available',
  codex: 'codex_available',
  curl: 'openai_key_set',
  checklist: 'always',
}

/** Whether all of them hold; the first that does not says why, and the rest is not asked. */
export async function evaluateConditions(names: readonly string[], facts: ConditionFacts): Promise<Fact> {
  for (const name of names) {
    const fact = await evaluate(name, facts)
    if (!fact.holds) return fact
  }
  return yes
}

/** Never throws: what cannot be found out does not hold. */
async function evaluate(name: string, facts: ConditionFacts): Promise<Fact> {
  const condition: Condition | undefined = conditions.find((known) => known.name === name)
  if (condition === undefined) return { holds: false, why: `${quoteShort(name)} is not a known condition` }
  try {
    return await condition.ask(facts)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { holds: false, why: `${name} could not be found out: ${quoteShort(message)}` }
  }
}

/** The same facts, each looked up at most once. */
export const askOnce = (facts: ConditionFacts): ConditionFacts => ({
  codex: once(facts.codex),
  openAiKey: once(facts.openAiKey),
  modelInvoke: once(facts.modelInvoke),
  flatlineRouting: facts.flatlineRouting,
})

function once(ask: () => Promise<Fact>): () => Promise<Fact> {
  let answer: Promise<Fact> | undefined
  return async () => {
    answer ??= ask()
    return answer
  }
}

export const showConditions = (names: readonly string[]): string => names.map(keyName).join(', ')

const failModes = ['fallthrough', 'hard_fail'] as const
type FailMode = (typeof failModes)[number]

/** A row of the route table: who reviews, under which conditions, and what becomes of the review when that fails. */
export type Route = {
  readonly backend: BackendName
  /** Names of conditions that must all hold. */
  readonly when: readonly string[]
  readonly capabilities: readonly string[]
  readonly failMode: FailMode
  /** For one pass; null: what holds for every row. */
  readonly timeoutMs: number | null
  readonly retries: number
}

export type RouteTable = {
  readonly origin: 'default' | 'config'
  readonly routes: readonly Route[]
  /** What people should know about the table: what of it was ignored or replaced, and why. */
  readonly notices: readonly string[]
}

/** What a row that says nothing about it may be used for. */
const usualCapabilities: { readonly [name in BackendName]: readonly string[] } = {
  hounfour: ['agent_binding', 'metering', 'trust_scopes'],
  codex: ['sandbox', 'ephemeral', 'multi_pass', 'tool_access'],
  curl: ['basic'],
  checklist: ['basic'],
}

const row = (backend: BackendName, when: readonly string[], failMode: FailMode, retries = 0): Route => ({
  backend,
  when,
  capabilities: usualCapabilities[backend],
  failMode,
  timeoutMs: null,
  retries,
})

export const defaultRoutes: readonly Route[] = [
  row('hounfour', ['flatline_routing_enabled', 'model_invoke_available'], 'fallthrough'),
  row('codex', ['codex_available'], 'fallthrough'),
  row('curl', ['always'], 'hard_fail', 3),
]

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

/** `why` a row would not be the one that serves; null for the one that would. */
export type Prediction = { readonly route: Route; readonly why: string | null }

/** Who would serve now, without asking anybody. That a reviewer answers once it is asked is taken for granted. */
export async function predictRoutes(
  { routes }: Pick<RouteTable, 'routes'>,
  facts: ConditionFacts,
): Promise<readonly Prediction[]> {
  const asked = askOnce(facts)
  const predictions: Prediction[] = []
  /** The row after which nothing is reached, or only if that row fails. */
  let decided: { readonly why: string } | null = null
  for (const route of routes) {
    const conditions = await evaluateConditions(route.when, asked)
    const need = await evaluateConditions([needOf[route.backend]], asked)
    const unmet = conditions.holds ? (need.holds ? null : `it would fail: ${need.why}`) : conditions.why
    predictions.push({ route, why: unmet ?? decided?.why ?? null })
    if (decided === null && conditions.holds) decided = decidedBy(route, need.holds)
  }
  return predictions
}

function decidedBy({ backend, failMode }: Route, works: boolean): { readonly why: string } | null {
  switch (failMode) {
    case 'hard_fail':
      return {
        why: works ? `${backend} comes first, and ends the review` : `${backend} fails first, and ends the review`,
      }
    case 'fallthrough':
      return works ? { why: `${backend} comes first` } : null
  }
}

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
