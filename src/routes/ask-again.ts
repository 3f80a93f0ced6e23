import type { Answer, Failure, FailureClass } from '../schemas/backend.ts'
import type { AttemptBudget } from './attempt-budget.ts'
import type { Route } from './route.ts'

export type AskAgainRules = {
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
