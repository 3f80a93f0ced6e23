import type { Answer, Failure, FailureClass } from '../schemas/review.ts'
import type { Route, RouteFailure, RouteOutcome, Unserved } from './routes.ts'

type AskAgainRules = {
  readonly route: Route
  /** For a row that names no timeout of its own. */
  readonly passTimeoutMs: number
  readonly timeLeftMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly budget: AttemptBudget
  readonly tell: (line: string) => void
  readonly isCancelled: () => boolean
}

/** After these failures the same question may be answered: `wait` as the service asks, `retry` as the row allows. */
const remedies: { readonly [name in FailureClass]: 'wait' | 'retry' | 'none' } = {
  'rate-limited': 'wait',
  timeout: 'retry',
  transport: 'retry',
  server: 'retry',
  crashed: 'retry',
  'not-installed': 'none',
  auth: 'none',
  quota: 'none',
  malformed: 'none',
  refused: 'none',
  rejected: 'none',
  cancelled: 'none',
}

const rateLimitWaits = [5_000, 15_000, 45_000] as const
const retryWaits = [1_000, 2_000, 4_000, 8_000] as const
/** A service that says "retry after 0" is still given a moment. */
const shortestWait = 1_000
/** With less time than this, a reviewer would be cut off in the middle of a sentence. */
const usefulMs = 20_000

/** Asks, and asks again where the class of a failure promises that it helps. The first question costs no attempt. */
export async function askWithRetry(ask: (timeoutMs: number) => Promise<Answer>, rules: AskAgainRules): Promise<Answer> {
  let last: Failed | null = null
  for (let done: Done = { wait: 0, retry: 0 }; ; ) {
    if (rules.isCancelled()) return cancelled(last)
    const timeoutMs = Math.min(passTimeout(rules), rules.timeLeftMs())
    if (timeoutMs <= 0) return last ?? outOfTime
    const answer = await ask(timeoutMs)
    if (answer.kind === 'answered') return answer
    last = answer
    const next = planNext(answer, done, rules)
    if (next.kind === 'give-up') return answer
    if (next.kind === 'no-time' || !rules.budget.take()) {
      const why = next.kind === 'no-time' ? next.why : 'the attempts of this review are used up'
      rules.tell(`${rules.route.backend}: ${answer.failure}; not asked again, because ${why}.`)
      return answer
    }
    rules.tell(`${rules.route.backend}: ${answer.failure}; asked again ${after(next.waitMs)} (${next.count}).`)
    if (next.waitMs > 0) await rules.sleep(next.waitMs)
    done = next.done
  }
}

type Failed = Extract<Answer, { kind: 'failed' }>
type Done = { readonly wait: number; readonly retry: number }
type Next =
  | { readonly kind: 'give-up' }
  | { readonly kind: 'no-time'; readonly why: string }
  | { readonly kind: 'again'; readonly waitMs: number; readonly count: string; readonly done: Done }

const passTimeout = ({ route, passTimeoutMs }: AskAgainRules): number => route.timeoutMs ?? passTimeoutMs

function planNext(answer: Failed, done: Done, rules: AskAgainRules): Next {
  const remedy = remedies[answer.failure]
  if (remedy === 'none') return { kind: 'give-up' }
  const most = remedy === 'wait' ? rateLimitWaits.length : rules.route.retries
  const before = done[remedy]
  if (before >= most) return { kind: 'give-up' }
  const waitMs = waitBefore(answer, before)
  const needed = waitMs + Math.min(usefulMs, passTimeout(rules))
  if (needed > rules.timeLeftMs()) return { kind: 'no-time', why: noTime(waitMs) }
  return { kind: 'again', waitMs, count: `${before + 1} of ${most}`, done: { ...done, [remedy]: before + 1 } }
}

function waitBefore({ failure, retryAfterMs }: Failure, before: number): number {
  if (retryAfterMs !== null) return Math.max(retryAfterMs, shortestWait)
  // Who timed out has been waited for long enough.
  if (failure === 'timeout') return 0
  const waits: readonly number[] = failure === 'rate-limited' ? rateLimitWaits : retryWaits
  return waits[Math.min(before, waits.length - 1)] ?? shortestWait
}

const noTime = (waitMs: number): string =>
  waitMs === 0 ? 'too little time is left' : `too little time would be left after waiting ${seconds(waitMs)}`
const after = (waitMs: number): string => (waitMs === 0 ? 'at once' : `after ${seconds(waitMs)}`)
const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`

const unanswered = (failure: FailureClass, why: string, nextStep: string): Failed => ({
  kind: 'failed',
  failure,
  why,
  nextStep,
  retryAfterMs: null,
  thread: null,
  notices: [],
})

const outOfTime = unanswered(
  'timeout',
  'No time was left to ask.',
  'Allow more with review.policy.max_total_seconds and, for a plan, plan.deadline_seconds.',
)

/** What the last turn left behind, its thread above all, is still there. */
const cancelled = (last: Failed | null): Failed => ({
  ...unanswered('cancelled', 'The review was cancelled.', 'Start it again when you want it.'),
  ...(last === null ? {} : { thread: last.thread, notices: last.notices }),
})

/** The attempts that one review may make: each row that is tried and each retry takes one. */
export type AttemptBudget = {
  /** False when none is left; nothing may be tried then. */
  readonly take: () => boolean
}

export function attemptBudget(attempts: number): AttemptBudget {
  let left = attempts
  return {
    take() {
      if (left <= 0) return false
      left -= 1
      return true
    },
  }
}

/** 1: the service failed; 2: nobody to ask; 3: no time; 4: no credentials; 5: an answer that is none. */
const exitCodes: { readonly [name in FailureClass]: 1 | 2 | 3 | 4 | 5 } = {
  'not-installed': 2,
  auth: 4,
  quota: 1,
  'rate-limited': 1,
  timeout: 3,
  transport: 1,
  server: 1,
  malformed: 5,
  refused: 1,
  rejected: 1,
  crashed: 1,
  cancelled: 1,
}

/** What `plan-gate review` ends with. */
export const exitCodeOf = (outcome: RouteOutcome<unknown>): 0 | 1 | 2 | 3 | 4 | 5 =>
  outcome.kind === 'served' ? 0 : exitCodes[mainFailure(outcome).failure]

/** The one thing to tell a person about a review that nobody did. */
export function mainFailure({ because, failures, skipped }: Unserved): Failure {
  switch (because) {
    case 'no-route':
      return noRoute(skipped)
    case 'hard-fail':
    case 'exhausted':
      return lastOf(failures) ?? noRoute(skipped)
    case 'attempts':
      return withReason(failures, lastOf(failures)?.failure ?? 'rejected', {
        why: 'There were no more attempts.',
        nextStep: 'Allow more of them with review.policy.max_attempts.',
      })
    case 'deadline':
      return withReason(failures, 'timeout', {
        why: 'The time for this review ran out.',
        nextStep: 'Allow more with review.policy.max_total_seconds and, for a plan, plan.deadline_seconds.',
      })
    case 'cancelled':
      return failure('cancelled', 'The review was cancelled.', 'Start it again when you want it.')
  }
}

/**
 * The class of the last failure decides, but a row that could not even ask says nothing about one that did: a missing
 * key behind a Codex that timed out is not what went wrong. What all rows met is told.
 */
function lastOf(failures: readonly RouteFailure[]): Failure | null {
  const last = failures.findLast(({ failure }) => failure !== 'auth' && failure !== 'not-installed') ?? failures.at(-1)
  if (last === undefined) return null
  return {
    failure: last.failure,
    why: told(failures, ({ why }) => why),
    nextStep: told(failures, ({ nextStep }) => nextStep),
    retryAfterMs: last.retryAfterMs,
  }
}

/** With the names of the rows, as soon as there is more than one. */
function told(failures: readonly RouteFailure[], part: (failure: RouteFailure) => string): string {
  const [first, ...others] = failures
  if (first !== undefined && others.every((other) => part(other) === part(first))) return part(first)
  return failures.map((failure) => `${failure.backend}: ${part(failure)}`).join(' ')
}

function withReason(
  failures: readonly RouteFailure[],
  name: Failure['failure'],
  { why, nextStep }: Pick<Failure, 'why' | 'nextStep'>,
): Failure {
  const last = lastOf(failures)
  return last === null
    ? failure(name, why, nextStep)
    : { ...last, failure: name, why: `${why} ${last.why}`, nextStep: `${last.nextStep} ${nextStep}` }
}

function noRoute(skipped: Unserved['skipped']): Failure {
  const whys = skipped.map(({ backend, why }) => `${backend} (${why})`).join('; ')
  return failure(
    'not-installed',
    whys === ''
      ? 'There is nobody who could review: the route table is empty.'
      : `There is nobody who could review now: ${whys}.`,
    'Install one of them, or change review.routes; `plan-gate routes` shows who would serve, and why the others not.',
  )
}

const failure = (name: Failure['failure'], why: string, nextStep: string): Failure => ({
  failure: name,
  why,
  nextStep,
  retryAfterMs: null,
})
