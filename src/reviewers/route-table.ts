import { either, keyName, quoteShort } from '../config/errors.ts'
import { nearestName } from '../config/nearest-name.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { type BackendName, backendNames } from '../schemas/review.ts'
import { sha256 } from '../system/sha256.ts'
import { isOpenai, isReadableOnTheWay, readBaseUrl } from './openai/base-url.ts'

/** The route table: which reviewers are asked, in which order, under which conditions. */

const failModes = ['fallthrough', 'hard_fail'] as const
type FailMode = (typeof failModes)[number]

/** A row of the route table: who reviews, under which conditions, and whether a failure falls through to the next row. */
export type Route = {
  /** No other row has it; it stands for the row in every record. */
  readonly name: string
  readonly backend: BackendName
  readonly when: readonly string[]
  readonly capabilities: readonly string[]
  readonly failMode: FailMode
  /** For one pass; null: the default of all rows. */
  readonly timeoutMs: number | null
  readonly retries: number
  /** null: by `review.models`. */
  readonly model: string | null
  /** Of `curl`; null: by OPENAI_BASE_URL and OPENAI_API_KEY. */
  readonly endpoint: Endpoint | null
  /** Dollars for a million tokens; null: not known. */
  readonly price: Price | null
}

export type Endpoint = {
  /** null: OPENAI_BASE_URL, or OpenAI. */
  readonly baseUrl: string | null
  readonly apiKeyEnv: string | null
  readonly api: 'auto' | 'chat' | 'responses'
  /** Over http also beyond this machine. */
  readonly allowHttp: boolean
}

type Price = { readonly input: number; readonly cached: number; readonly output: number }

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
  claude: ['sandbox', 'ephemeral', 'multi_pass', 'tool_access'],
  curl: ['basic'],
  checklist: ['basic'],
}

type Review = Pick<EffectiveConfig['review'], 'routes' | 'route_schema' | 'execution_mode' | 'policy' | 'readers'> &
  Partial<Pick<EffectiveConfig['review'], 'second_opinion'>>
type Row = NonNullable<Review['routes']>[number]

const defaultRows: readonly Row[] = [
  {
    backend: 'hounfour',
    when: ['flatline_routing_enabled', 'model_invoke_available'],
    fail_mode: 'fallthrough',
    retries: 0,
  },
  { backend: 'codex', when: ['codex_available'], fail_mode: 'fallthrough', retries: 0 },
  { backend: 'curl', when: ['always'], fail_mode: 'hard_fail', retries: 3 },
]
export const defaultRoutes: readonly Route[] = defaultRows.map(asRoute)

export type BuiltTable =
  | { readonly kind: 'table'; readonly table: RouteTable }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }

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
  const { route_schema, policy } = review
  if (route_schema > maxRouteSchema) return invalid([tooNew(route_schema)])
  const ignored = review.routes === undefined || chosenByUser ? null : customRoutesProblem(review, env)
  const { problems, ...table } =
    review.routes === undefined || ignored !== null
      ? builtInTable(review, ignored)
      : customTable(review.routes, review, chosenByUser)
  if (problems.length > 0) return invalid(problems)
  if (table.routes.length === 0)
    return invalid(['review.routes: there is no row in the route table, so no reviewer is available.'])
  // The hash is that of the table before CI leaves rows out, so that one is pinned for every machine.
  const notPinned = pinProblem(table, policy.routes_sha256)
  if (notPinned !== null) return invalid([notPinned])
  const isAllowed = ({ name, backend }: Route): boolean =>
    policy.ci_backends === null || !isCi(env.CI) || [name, backend].some((one) => policy.ci_backends?.includes(one))
  const routes = table.routes.filter(isAllowed)
  const left = namesOf(table.routes.filter((route) => !isAllowed(route)))
  if (routes.length === 0)
    return invalid([
      `review.policy.ci_backends: in CI only ${either(policy.ci_backends ?? [])} may review, and the table has ${left.join(', ')}.`,
    ])
  const names = namesOf(routes)
  const notReaders = chosenByUser ? [] : readerProblems(review, names)
  if (notReaders.length > 0) return invalid(notReaders)
  const notices = [
    ...table.notices,
    ...(left.length === 0 ? [] : [`review.policy.ci_backends leaves out in CI: ${left.join(', ')}.`]),
    ...(chosenByUser ? leftOutNotices(review, names) : []),
  ]
  return { kind: 'table', table: { ...table, routes, notices } }
}

const invalid = (problems: readonly string[]): BuiltTable => ({ kind: 'invalid', problems })
const namesOf = (routes: readonly Route[]): string[] => routes.map(({ name }) => name)

const tooNew = (version: number): string =>
  `review.route_schema: version ${version} is newer than this plan-gate, which knows ${maxRouteSchema}. ` +
  'Upgrade plan-gate: npm install --save-dev plan-gate@latest'

/** A pull request can contain a plan-gate.yaml, and CI has keys that cost money. */
function customRoutesProblem({ policy }: Review, env: Environment): string | null {
  if (env.PLAN_GATE_CUSTOM_ROUTES === '1') return null
  if (policy.require_custom_routes_opt_in)
    return 'review.policy.require_custom_routes_opt_in requires PLAN_GATE_CUSTOM_ROUTES=1 for review.routes'
  return isCi(env.CI) ? 'in CI review.routes counts only with PLAN_GATE_CUSTOM_ROUTES=1' : null
}

const isCi = (value = ''): boolean => !['', 'false', '0'].includes(value.trim().toLowerCase())

export function pinProblem(table: RouteTable, pinned: string | null): string | null {
  const actual = sha256(canonicalTable(table))
  if (pinned === null || pinned === actual) return null
  return `review.policy.routes_sha256: the route table is not the pinned one: pinned ${pinned}, and this one has ${actual}. Look at it with \`plan-gate routes\`; if it is as it should be, pin its hash.`
}

/** A reader that is not there could not be missed: an approval would simply not need it. */
function readerProblems({ readers }: Review, names: readonly string[]): string[] {
  if (!Array.isArray(readers)) return []
  const twice = readers.filter((reader, index) => readers.indexOf(reader) !== index)
  return [
    ...readers
      .filter((reader) => !names.includes(reader))
      .map((reader) => `review.readers: ${quoteShort(reader)} is no row of this table; there are ${names.join(', ')}.`),
    ...[...new Set(twice)].map(
      (reader) => `review.readers: ${quoteShort(reader)} is named twice. A number asks one row several times.`,
    ),
  ]
}

/** Where a person has named the one reviewer, there is nobody beside it, whatever the file says. */
function leftOutNotices({ readers, second_opinion = 'never' }: Review, names: readonly string[]): string[] {
  const missing = Array.isArray(readers) ? readers.filter((reader) => !names.includes(reader)) : []
  const option = `--reviewer ${names.join(', ')} of the install leaves out`
  return [
    ...(missing.length === 0 ? [] : [`review.readers names ${missing.join(' and ')}, which ${option}.`]),
    ...(second_opinion === 'never' ? [] : [`review.second_opinion does not count, because ${option} every other row.`]),
  ]
}

type Draft = RouteTable & { readonly problems: readonly string[] }

function builtInTable({ execution_mode, policy: { max_routes } }: Review, ignored: string | null): Draft {
  const routes = applyExecutionMode(defaultRoutes, execution_mode)
  const tooLong = `review.policy.max_routes (${max_routes}) is for routes of your own; the ${routes.length} built-in ones stay.`
  const notices = [
    ...(ignored === null ? [] : [`Using the default routes because ${ignored}.`]),
    ...(routes.length > max_routes ? [tooLong] : []),
  ]
  return { origin: 'default', routes, notices, problems: [] }
}

function customTable(rows: readonly Row[], { policy, execution_mode: mode }: Review, chosenByUser: boolean): Draft {
  const limit = policy.max_routes
  const all = rows.map(asRoute)
  const firstAt = ({ name }: Route): number => all.findIndex((other) => other.name === name)
  const routes = all.filter((route, index) => firstAt(route) === index)
  const last = routes.at(-1)
  return {
    origin: 'config',
    routes,
    problems: [
      ...(rows.length > limit
        ? [`review.routes: ${rows.length} rows are more than review.policy.max_routes allows (${limit}).`]
        : []),
      ...rows.flatMap((row, index) => rowProblems(row).map((problem) => `${nameOf(index)}.${problem}`)),
      ...all.flatMap((route, index) => nameProblem(all, rows, firstAt(route), index)),
    ],
    notices: [
      ...rows.flatMap(rowNotices),
      ...all.flatMap((route, index) => (firstAt(route) === index ? [] : [duplicateNotice(route, index)])),
      ...(last === undefined || last.failMode === 'hard_fail'
        ? []
        : [
            `review.routes: after the last row, ${last.name}, there is nothing to fall through to; give it fail_mode: hard_fail.`,
          ]),
      ...(mode === 'auto'
        ? []
        : [
            `review.execution_mode (${mode}) is ignored: ${chosenByUser ? 'the reviewer was chosen with --reviewer' : 'review.routes takes its place'}.`,
          ]),
    ],
  }
}

const nameOf = (index: number): string => `review.routes[${index}]`

/** Beyond what the schema of the configuration finds. */
function rowProblems(row: Row): string[] {
  const { backend, name = backend, base_url, allow_http, model } = row
  const problems: string[] = []
  if (name !== backend && backendNames.some((other) => other === name))
    problems.push(`name: ${name} is another backend, and would stand for it in every record. Choose another.`)
  // What it found once is fixed when it finds it no more, and records know a row by its name.
  if (backend === 'checklist' && name !== backend)
    problems.push('name: there is one checklist, and it is called checklist.')
  if (backend !== 'curl') {
    const foreign = (['base_url', 'api_key_env', 'api', 'allow_http'] as const).filter((key) => row[key] !== undefined)
    const why = `only a row with backend: curl has a server; this one has backend: ${backend}.`
    return [...problems, ...foreign.map((key) => `${key}: ${why}`)]
  }
  if (base_url === undefined) return problems
  const base = readBaseUrl(base_url, allow_http)
  if (base.kind === 'refused')
    problems.push(
      `base_url: the address ${base.flaw}. Expected one such as https://gateway.example/v1; http beyond this machine needs allow_http: true.`,
    )
  else if (!isOpenai(base.url) && model === undefined)
    problems.push(
      `model: expected the model that ${base.url.host} is to use, because the default ones are OpenAI's; found none.`,
    )
  return problems
}

/** Another reviewer under the same name is a mistake, where somebody has chosen the name. */
function nameProblem(all: readonly Route[], rows: readonly Row[], first: number, index: number): string[] {
  const isNamed = [first, index].some((one) => rows[one]?.name !== undefined)
  if (!isNamed || JSON.stringify(all[first]) === JSON.stringify(all[index])) return []
  const name = quoteShort(all[index]?.name ?? '')
  return [
    `${nameOf(index)}.name: ${name} is the name of ${nameOf(first)} as well, with other settings. Give each row a name of its own.`,
  ]
}

function asRoute(row: Row): Route {
  return {
    name: row.name ?? row.backend,
    backend: row.backend,
    when: row.when,
    capabilities: row.capabilities ?? defaultCapabilities[row.backend],
    failMode: failModes.find((mode) => mode === row.fail_mode) ?? 'fallthrough',
    timeoutMs: row.timeout === undefined ? null : row.timeout * 1000,
    retries: row.retries,
    model: row.model ?? null,
    endpoint: endpointOf(row),
    price: row.price === undefined ? null : { ...row.price, cached: row.price.cached ?? row.price.input },
  }
}

function endpointOf({ base_url, api_key_env, api = 'auto', allow_http = false }: Row): Endpoint | null {
  if (base_url === undefined && api_key_env === undefined && api === 'auto' && !allow_http) return null
  return {
    baseUrl: base_url ?? null,
    // The key of one service is not sent to another.
    apiKeyEnv: api_key_env ?? (base_url === undefined ? 'OPENAI_API_KEY' : null),
    api,
    allowHttp: allow_http,
  }
}

function rowNotices({ when, fail_mode, base_url = '', api_key_env }: Row, index: number): string[] {
  const unknown = when.filter((name) => !conditionNames.includes(name))
  return [
    ...unknown.map((name) => {
      const problem = `${quoteShort(name)} is not a known condition, so it never holds and the row is never used.`
      return `${nameOf(index)}.when: ${problem} ${hintFor(name)}`
    }),
    ...(failModes.includes(fail_mode as FailMode)
      ? []
      : [`${nameOf(index)}.fail_mode: ${quoteShort(fail_mode)} is not known; taken as fallthrough.`]),
    ...(api_key_env !== undefined && URL.canParse(base_url) && isReadableOnTheWay(new URL(base_url))
      ? [`${nameOf(index)}: the key in ${api_key_env} goes unencrypted, and others on the way can read it.`]
      : []),
  ]
}

function hintFor(name: string): string {
  const nearest = nearestName(name, conditionNames)
  return nearest === undefined ? `There are ${conditionNames.join(', ')}.` : `Did you mean ${nearest}?`
}

const duplicateNotice = ({ name, backend }: Route, index: number): string =>
  `${nameOf(index)}: ${name} has a row already, and the first one counts. This one is left out${name === backend ? '; give it a name: of its own' : ''}.`

type ExecutionMode = EffectiveConfig['review']['execution_mode']

/** The rows of a table that `review.execution_mode` keeps. */
export function applyExecutionMode(routes: readonly Route[], mode: ExecutionMode): readonly Route[] {
  switch (mode) {
    case 'auto':
      return routes
    case 'curl':
      return routes.filter(({ backend }) => backend === 'curl').map((route) => ({ ...route, failMode: 'hard_fail' }))
    case 'codex':
      // A missing Codex is an error then; a condition would skip the row silently.
      return routes
        .filter(({ backend }) => backend === 'codex' || backend === 'curl')
        .map((route) => (route.backend === 'codex' ? { ...route, when: ['always'], failMode: 'hard_fail' } : route))
  }
}

/** For the hash of a table: equal exactly for the same rows in the same order, wherever they come from. */
export const canonicalTable = ({ routes }: Pick<RouteTable, 'routes'>): string =>
  JSON.stringify({ route_schema: 1, routes: routes.map(canonicalRow) })

/** What a row does not set is left out, so that the hash of a table without it stays what it was. */
const canonicalRow = (route: Route): object => ({
  ...(route.name === route.backend ? {} : { name: route.name }),
  backend: route.backend,
  when: route.when,
  capabilities: route.capabilities,
  fail_mode: route.failMode,
  timeout_ms: route.timeoutMs,
  retries: route.retries,
  ...(route.model === null ? {} : { model: route.model }),
  ...(route.endpoint === null ? {} : { endpoint: route.endpoint }),
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

/** Where the text goes, and with which key. */
const serverOf = ({ endpoint }: Route): string =>
  endpoint === null ? '' : `, server=${endpoint.baseUrl ?? 'default'}, key=${endpoint.apiKeyEnv ?? 'none'}`

function describeRoute(route: Route, index: number): string {
  const { when, capabilities, failMode, timeoutMs, retries } = route
  const timeout = timeoutMs === null ? 'default' : `${timeoutMs / 1000}s`
  const usedFor = capabilities.map(keyName).join(', ')
  const what = `${routeLabel(route)}, conditions=[${showConditions(when)}], capabilities=[${usedFor}]`
  return `route ${index + 1}: ${what}, fail_mode=${failMode}, timeout=${timeout}, retries=${retries}${serverOf(route)}`
}

/** The conditions that a row of the route table can name. */

/** `why` ends a sentence: "codex is not on PATH". */
export type Fact = { readonly holds: true } | { readonly holds: false; readonly why: string }

/** Facts about the machine and the configuration, looked up on demand. */
export type ConditionFacts = {
  readonly codex: () => Promise<Fact>
  readonly claude: () => Promise<Fact>
  readonly key: (variable: string) => Promise<Fact>
  readonly modelInvoke: () => Promise<Fact>
  readonly flatlineRouting: boolean
}

const yes: Fact = { holds: true }

/** A route table names conditions; it cannot define one, and nothing in it is evaluated as code. */
const conditions: { readonly [name: string]: (facts: ConditionFacts) => Fact | Promise<Fact> } = {
  always: () => yes,
  claude_available: ({ claude }) => claude(),
  codex_available: ({ codex }) => codex(),
  flatline_routing_enabled: ({ flatlineRouting }) =>
    flatlineRouting ? yes : { holds: false, why: 'hounfour.flatline_routing is not true' },
  model_invoke_available: ({ modelInvoke }) => modelInvoke(),
  openai_key_set: ({ key }) => key('OPENAI_API_KEY'),
}

export const conditionNames: readonly string[] = Object.keys(conditions)

/** The first fact that does not hold; the conditions after it are not evaluated. */
export async function evaluateConditions(names: readonly string[], facts: ConditionFacts): Promise<Fact> {
  for (const name of names) {
    const fact = await evaluate(name, facts)
    if (!fact.holds) return fact
  }
  return yes
}

/** Never throws: a condition that throws does not hold. */
async function evaluate(name: string, facts: ConditionFacts): Promise<Fact> {
  const ask = Object.hasOwn(conditions, name) ? conditions[name] : undefined
  if (ask === undefined) return { holds: false, why: `${quoteShort(name)} is not a known condition` }
  try {
    return await ask(facts)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { holds: false, why: `${name} could not be determined: ${quoteShort(message)}` }
  }
}

export function cacheFacts(facts: ConditionFacts): ConditionFacts {
  const answers = new Map<string, Promise<Fact>>()
  const once = (name: string, ask: () => Promise<Fact>): Promise<Fact> => {
    const answer = answers.get(name) ?? ask()
    answers.set(name, answer)
    return answer
  }
  return {
    codex: () => once('codex', facts.codex),
    claude: () => once('claude', facts.claude),
    key: (variable) => once(`the key ${variable}`, () => facts.key(variable)),
    modelInvoke: () => once('model-invoke', facts.modelInvoke),
    flatlineRouting: facts.flatlineRouting,
  }
}

export const showConditions = (names: readonly string[]): string => names.map(keyName).join(', ')

/** For a trace: `backend=curl, name=ollama`. */
export const routeLabel = ({ name, backend }: { readonly name: string; readonly backend: string }): string =>
  name === backend ? `backend=${backend}` : `backend=${backend}, name=${name}`
