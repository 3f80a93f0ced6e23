import type { Answer, Failure, FailureClass } from '../schemas/review.ts'
import { routeLabel } from './conditions.ts'
import { cancelledFailure, type FailedAnswer, failedAnswer, failureOf } from './failure.ts'
import type { Route } from './route-table.ts'

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

/** The attempts that one review may make: each row that is tried and each retry takes one. */
export type AttemptBudget = {
  /** false when none is left. */
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
    const policy = retryPolicy[answer.failure]
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

/** `wait`: retry with the waits for a rate limit; `retry`: as often as the row allows. */
const retryPolicy: { readonly [name in FailureClass]: 'wait' | 'retry' | 'none' } = {
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
