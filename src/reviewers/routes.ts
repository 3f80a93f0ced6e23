import type { EffectiveConfig } from '../config/schema.ts'
import type { Answer, Failure } from '../schemas/review.ts'
import type { Expected, PassTimes } from '../state/pass-times.ts'
import { cancelledFailure, type FailedAnswer, failedAnswer, failureClasses, failureOf } from './failure.ts'
import { serverHost } from './openai/base-url.ts'
import {
  type ConditionFacts,
  cacheFacts,
  evaluateConditions,
  type Fact,
  type Route,
  type RouteTable,
  routeLabel,
  showConditions,
} from './route-table.ts'

/** `failure` includes an answer without a valid verdict. */
export type Attempt<T> = { readonly kind: 'success'; readonly value: T } | ({ readonly kind: 'failure' } & Failure)

export type RouteEffects<T> = {
  readonly facts: ConditionFacts
  /** A whole review by this row, all its passes. Its first attempt has been taken from the budget. */
  readonly attempt: (route: Route, budget: AttemptBudget) => Promise<Attempt<T>>
  readonly timeLeftMs: () => number
  readonly maxAttempts: number
  readonly trace: (line: string) => void
  readonly isCancelled: () => boolean
}

export type RouteFailure = { readonly name: string } & Failure
export type Unserved = {
  readonly kind: 'unserved'
  readonly because: 'no-route' | 'hard-fail' | 'exhausted' | 'attempts' | 'deadline' | 'cancelled'
  readonly failures: readonly RouteFailure[]
  readonly skipped: readonly { readonly name: string; readonly why: string }[]
}
export type RouteOutcome<T> =
  | ({ readonly kind: 'served'; readonly route: Route; readonly value: T } & Pick<Unserved, 'failures' | 'skipped'>)
  | Unserved

export async function runRoutes<T>(
  { routes }: Pick<RouteTable, 'routes'>,
  effects: RouteEffects<T>,
): Promise<RouteOutcome<T>> {
  const facts = cacheFacts(effects.facts)
  const budget = attemptBudget(effects.maxAttempts)
  const failures: RouteFailure[] = []
  const skipped: { name: string; why: string }[] = []
  const unserved = (because: Unserved['because']): Unserved => ({ kind: 'unserved', because, failures, skipped })

  for (const route of routes) {
    const { name } = route
    const row = `${routeLabel(route)}, conditions=[${showConditions(route.when)}]`
    const fact = await evaluateConditions(route.when, facts)
    const end = effects.isCancelled() ? 'cancelled' : effects.timeLeftMs() > 0 ? null : 'deadline'
    if (end !== null) {
      effects.trace(`[route-table] ended before ${row}, why=${end}`)
      return unserved(end)
    }
    if (!fact.holds) {
      effects.trace(`[route-table] skipping ${row}, why=${fact.why}`)
      skipped.push({ name, why: fact.why })
      continue
    }
    if (!budget.take()) {
      effects.trace(`[route-table] ended before ${row}, why=attempts`)
      return unserved('attempts')
    }
    effects.trace(`[route-table] trying ${row}, result=pending`)
    const attempt = await effects.attempt(route, budget)
    if (attempt.kind === 'success') {
      effects.trace(`[route-table] trying ${row}, result=success`)
      return { kind: 'served', route, value: attempt.value, failures, skipped }
    }
    effects.trace(`[route-table] trying ${row}, result=fail (${attempt.failure})`)
    const { failure, why, nextStep, retryAfterMs } = attempt
    failures.push({ name, failure, why, nextStep, retryAfterMs })
    if (failure === 'cancelled' || effects.isCancelled()) return unserved('cancelled')
    if (route.failMode === 'hard_fail') return unserved('hard-fail')
  }
  return unserved(failures.length === 0 ? 'no-route' : 'exhausted')
}

/** The one failure to report for a review that no row has done. */
export function mainFailure({ because, failures, skipped }: Unserved): Failure {
  if (because === 'cancelled') return cancelledFailure
  const last = lastOf(failures)
  const end = endings.find(([name]) => name === because)
  if (end === undefined) return last ?? noRoute(skipped)
  const [, why, nextStep] = end
  return {
    failure: because === 'deadline' ? 'timeout' : (last?.failure ?? 'rejected'),
    why: last === null ? why : `${why} ${last.why}`,
    nextStep: last === null ? nextStep : `${last.nextStep} ${nextStep}`,
    retryAfterMs: last?.retryAfterMs ?? null,
  }
}

const endings = [
  ['attempts', 'There were no more attempts.', 'Allow more of them with review.policy.max_attempts.'],
  [
    'deadline',
    'The time for this review ran out.',
    'Allow more with review.policy.max_total_seconds and, for a plan, plan.deadline_seconds.',
  ],
] as const

/**
 * The class of the last failure decides, except that a row which could not even ask does not hide one that did: a missing
 * key after a Codex that timed out is not the problem. The reasons of all rows are reported.
 */
function lastOf(failures: readonly RouteFailure[]): Failure | null {
  const last = failures.findLast(({ failure }) => failure !== 'auth' && failure !== 'not-installed') ?? failures.at(-1)
  if (last === undefined) return null
  return {
    failure: last.failure,
    why: joinReasons(failures, ({ why }) => why),
    nextStep: joinReasons(failures, ({ nextStep }) => nextStep),
    retryAfterMs: last.retryAfterMs,
  }
}

/** With the names of the rows where they differ. */
function joinReasons(failures: readonly RouteFailure[], part: (failure: RouteFailure) => string): string {
  const [first, ...others] = failures
  if (first !== undefined && others.every((other) => part(other) === part(first))) return part(first)
  return failures
    .map((failure) => `${failure.name}: ${part(failure)}`)
    .reduce((before, next) => `${before}${/[.!?]$/.test(before) ? '' : ';'} ${next}`)
}

function noRoute(skipped: Unserved['skipped']): Failure {
  const whys = skipped.map(({ name, why }) => `${name} (${why})`).join('; ')
  return failureOf(
    'not-installed',
    whys === '' ? 'No reviewer is available: the route table is empty.' : `No reviewer is available: ${whys}.`,
    'Install one of them, or change review.routes; `plan-gate routes` shows which row would review, and why the others would not.',
  )
}

export const exitCodeOf = (outcome: RouteOutcome<unknown>): 0 | 1 | 2 | 3 | 4 | 5 =>
  outcome.kind === 'served' ? 0 : failureClasses[mainFailure(outcome).failure].exitCode

/** `why` this row would not review; null for the one that would. */
export type Prediction = { readonly route: Route; readonly why: string | null }

/** Which row would review now. No reviewer is asked, and credentials are not tested. */
export async function predictRoutes(
  { routes }: Pick<RouteTable, 'routes'>,
  facts: ConditionFacts,
): Promise<readonly Prediction[]> {
  const cached = cacheFacts(facts)
  const predictions: Prediction[] = []
  /** Why later rows are not used, set by the first row that is reached. */
  let decided: string | null = null
  for (const route of routes) {
    const conditions = await evaluateConditions(route.when, cached)
    const need = await prerequisite(route, cached)
    const unmet = conditions.holds ? (need.holds ? null : `it would fail: ${need.why}`) : conditions.why
    predictions.push({ route, why: unmet ?? decided })
    if (decided !== null || !conditions.holds) continue
    const { name, failMode } = route
    if (failMode === 'hard_fail') decided = `${name} ${need.holds ? 'comes' : 'fails'} first, and ends the review`
    else if (need.holds) decided = `${name} comes first`
  }
  return predictions
}

/** Without it the reviewer fails, even if the row's own conditions hold. */
async function prerequisite({ backend, endpoint }: Route, facts: ConditionFacts): Promise<Fact> {
  switch (backend) {
    case 'hounfour':
      return evaluateConditions(['model_invoke_available'], facts)
    case 'codex':
      return evaluateConditions(['codex_available'], facts)
    case 'claude':
      return evaluateConditions(['claude_available'], facts)
    case 'curl': {
      const variable = endpoint === null ? 'OPENAI_API_KEY' : endpoint.apiKeyEnv
      return variable === null ? { holds: true } : facts.key(variable)
    }
    case 'checklist':
      return { holds: true }
  }
}

type RetryContext = {
  readonly route: Route
  /** For a row without a timeout of its own. */
  readonly passTimeoutMs: number
  readonly timeLeftMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly budget: AttemptBudget
  readonly onProgress: (line: string) => void
  readonly trace: (line: string) => void
  readonly isCancelled: () => boolean
}

/** The attempts that one review may make: each row that is tried and each retry takes one, while there is one left. */
export type AttemptBudget = { readonly take: () => boolean }

export function attemptBudget(attempts: number): AttemptBudget {
  let left = attempts
  return { take: () => left-- > 0 }
}

/** Asks, and retries by the class of the failure. The first question takes no attempt from the budget. */
export async function askWithRetry(
  ask: (timeoutMs: number) => Promise<Answer>,
  context: RetryContext,
): Promise<Answer> {
  const { route, passTimeoutMs, timeLeftMs, budget, onProgress } = context
  const passTimeout = route.timeoutMs ?? passTimeoutMs
  const retries = { wait: 0, retry: 0 }
  for (let last: FailedAnswer | null = null; ; ) {
    // The thread of the last turn can still be resumed.
    if (context.isCancelled()) return { ...(last ?? failedAnswer(cancelledFailure)), ...cancelledFailure }
    const timeoutMs = Math.min(passTimeout, timeLeftMs())
    if (timeoutMs <= 0) return last ?? failedAnswer(outOfTime)
    const answer = await ask(timeoutMs)
    if (answer.kind === 'answered') return answer
    last = answer
    const policy = failureClasses[answer.failure].retry
    const limit = policy === 'wait' ? rateLimitWaits.length : route.retries
    if (policy === 'none' || retries[policy] >= limit) return answer
    const waitMs = waitBefore(answer, retries[policy])
    const isTooLate = waitMs + Math.min(minUsefulMs, passTimeout) > timeLeftMs()
    const prefix = `${route.name}: ${answer.failure};`
    if (isTooLate || !budget.take()) {
      const left = waitMs === 0 ? 'is left' : `would be left after waiting ${seconds(waitMs)}`
      const why = isTooLate ? `too little time ${left}` : 'the attempts of this review are used up'
      onProgress(`${prefix} not asked again, because ${why}.`)
      return answer
    }
    retries[policy] += 1
    const count = retries[policy]
    const when = waitMs === 0 ? 'at once' : `after ${seconds(waitMs)}`
    onProgress(`${prefix} asked again ${when} (${count} of ${limit}).`)
    context.trace(`[route-table] retry ${count}/${limit} for ${routeLabel(route)}, ${when}, why=${answer.failure}`)
    if (waitMs > 0) await context.sleep(waitMs)
  }
}

const outOfTime = failureOf(
  'timeout',
  'No time was left to ask.',
  'Allow more with review.policy.max_total_seconds and, for a plan, plan.deadline_seconds.',
)

const rateLimitWaits = [5_000, 15_000, 45_000] as const
const retryWaits = [1_000, 2_000, 4_000, 8_000] as const
/** Also for "retry after 0". */
const minWaitMs = 1_000
/** With less time a reviewer would be cut off in the middle of its answer. */
const minUsefulMs = 20_000

function waitBefore({ failure, retryAfterMs }: Failure, before: number): number {
  if (retryAfterMs !== null) return Math.max(retryAfterMs, minWaitMs)
  // A timeout was wait enough.
  if (failure === 'timeout') return 0
  const waits: readonly number[] = failure === 'rate-limited' ? rateLimitWaits : retryWaits
  return waits[Math.min(before, waits.length - 1)] ?? minWaitMs
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`

/** What a person should know of a row before it reviews: what it may see, and what it costs. */

/** Of a plan; anything else only with `--tool-access`. */
function describeAccess({ backend, capabilities, endpoint }: Route, env: NodeJS.ProcessEnv): string {
  if (backend === 'checklist') return 'nothing leaves this machine'
  const host = backend === 'curl' ? serverHost(endpoint, env) : null
  const where = host === null ? '' : ` at ${host}`
  return capabilities.includes('tool_access') ? `may read the repository${where}` : `sees only what it is sent${where}`
}

/** By its price and by what passes of it have taken so far. */
function describePrice({ backend, price }: Route, expected: Expected | null): string {
  if (backend === 'checklist') return 'free'
  const tokens = expected?.tokens ?? null
  const usual = tokens === null ? '' : `, about ${Math.max(1, Math.round(tokens / 1000))}k tokens a pass`
  return price === null
    ? `its price is not known${usual}`
    : `$${price.input} in and $${price.output} out for a million tokens${usual}`
}

/** `env`: of the user, for OPENAI_BASE_URL. */
export const describeRow = (route: Route, times: PassTimes, env: NodeJS.ProcessEnv): string =>
  [
    ...(route.model === null ? [] : [`model ${route.model}`]),
    describeAccess(route, env),
    describePrice(route, times.expect(route.name, 'high')),
  ].join('; ')

/** `row`: null where none can be used. */
type Serving = { readonly row: string | null; readonly words: string; readonly warnings: readonly string[] }

/** Who would review now, what it may see and costs, and who reads beside it. */
export async function describeServing(
  { routes }: Pick<RouteTable, 'routes'>,
  { readers, second_opinion }: Pick<EffectiveConfig['review'], 'readers' | 'second_opinion'>,
  facts: ConditionFacts,
  times: PassTimes,
  env: NodeJS.ProcessEnv,
): Promise<Serving> {
  const predictions = await predictRoutes({ routes }, facts)
  const row = predictions.find(({ why }) => why === null)?.route
  if (row === undefined) return { row: null, words: 'nobody can be asked (plan-gate routes)', warnings: [] }
  const named = Array.isArray(readers) ? readers : []
  const beside: string[] = []
  const absent: string[] = []
  const warnings: string[] = []
  for (const { name, when } of routes.filter(({ name }) => named.includes(name) && name !== row.name)) {
    const fact = await evaluateConditions(when, facts)
    if (fact.holds) beside.push(name)
    else {
      absent.push(name)
      warnings.push(`the reader ${name} cannot be asked: ${fact.why}`)
    }
  }
  // Only by `--reviewer`; otherwise such a table is not valid.
  const leftOut = named.filter((reader) => routes.every(({ name }) => name !== reader))
  const hasOther = routes.some((other) => other !== row && other.backend !== 'checklist')
  const advice = familyAdvice(row)
  const words = [
    `${row.name}: ${describeRow(row, times, env)}`,
    typeof readers === 'number' && readers > 1 ? `${readers} readers in the first round` : '',
    beside.length > 0 ? `read as well by ${beside.join(' and ')} in the first round` : '',
    absent.length > 0 ? `without ${absent.join(' and ')}, who cannot be asked` : '',
    leftOut.length > 0 ? `without the reader ${leftOut.join(' and ')}, which --reviewer leaves out` : '',
    second_opinion === 'never'
      ? ''
      : hasOther
        ? `a second opinion ${second_opinion}`
        : 'no second opinion, because there is no other row',
  ].filter((part) => part !== '')
  return { row: row.name, words: words.join('; '), warnings: [...warnings, ...(advice === null ? [] : [advice])] }
}

/** What a reviewer of the planner's own family is worth. null for another family. */
export const familyAdvice = ({ backend, model }: { backend: string; model: string | null }): string | null =>
  backend === 'claude' || /claude|anthropic/i.test(model ?? '')
    ? 'Claude reviews what Claude has planned: models of one family miss the same things, so a reviewer of another family is advised'
    : null
