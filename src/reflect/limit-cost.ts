import type { FailureClass, Usage } from '../schemas/backend.ts'
import { asRecord, wholeOrZero } from './read-values.ts'

/** What one session has spent. Times are milliseconds. */
export type Spending = {
  readonly calls: number
  readonly tokens: number
  /** No call before this. */
  readonly quietUntil: number
  /** Refusals of the service in a row; each doubles the pause. */
  readonly refusals: number
  /**
   * The reason for which it was last said that nothing is reviewed, so that it is said once and not at each edit. An
   * answer does not take it back: it may come from a call that was made before the limit was reached.
   */
  readonly said: string
}

export type Limits = { readonly maxCalls: number | null; readonly maxTokens: number | null }

/** `line`: for the user; null when they have been told. */
export type Grant =
  | { readonly kind: 'granted'; readonly spending: Spending }
  | {
      readonly kind: 'refused'
      readonly because: 'ceiling' | 'quiet'
      readonly why: string
      readonly line: string | null
      readonly spending: Spending
    }

/** A call is counted before it is made: of twenty hooks at once, none sees what the others are about to spend. */
export function takeCall(spending: Spending, limits: Limits, now: number): Grant {
  const ceiling = ceilingOf(spending, limits)
  if (ceiling !== null) return refused(spending, 'ceiling', ceiling, ceiling)
  const left = quietLeft(spending, now)
  if (left > 0) {
    const why = `the service takes no more requests for now; it is asked again in ${inWords(left)}`
    return refused(spending, 'quiet', why, `quiet ${spending.quietUntil}`)
  }
  return { kind: 'granted', spending: { ...spending, calls: spending.calls + 1 } }
}

function ceilingOf({ calls, tokens }: Spending, { maxCalls, maxTokens }: Limits): string | null {
  if (maxCalls !== null && calls >= maxCalls)
    return `this session has made the ${counted(maxCalls, 'call')} that it may make (reflect.max_calls in plan-gate.yaml)`
  if (maxTokens !== null && tokens >= maxTokens)
    return `this session has used ${counted(tokens, 'token')}, and ${counted(maxTokens, 'token')} are the limit (reflect.max_tokens in plan-gate.yaml)`
  return null
}

const refused = (spending: Spending, because: 'ceiling' | 'quiet', why: string, reason: string): Grant => ({
  kind: 'refused',
  because,
  why,
  line: spending.said === reason ? null : `plan-gate: nothing more is reviewed: ${why}.`,
  spending: { ...spending, said: reason },
})

const counted = (count: number, thing: string): string =>
  `${count.toLocaleString('en-US')} ${thing}${count === 1 ? '' : 's'}`

const inWords = (ms: number): string =>
  ms < 90_000 ? counted(Math.ceil(ms / 1000), 'second') : counted(Math.ceil(ms / 60_000), 'minute')

export type CallOutcome =
  | { readonly kind: 'answered'; readonly usage: Usage | null }
  | { readonly kind: 'failed'; readonly failure: FailureClass; readonly retryAfterMs: number | null }

/** After each call, whatever came of it. */
export function settleCall(spending: Spending, outcome: CallOutcome, now: number): Spending {
  switch (outcome.kind) {
    case 'answered':
      return { ...spending, tokens: spending.tokens + tokensOf(outcome.usage), quietUntil: 0, refusals: 0 }
    case 'failed': {
      const pause = pauses[outcome.failure]
      if (pause === undefined) return spending
      const asked = Math.max(pause * 2 ** Math.min(spending.refusals, 10), outcome.retryAfterMs ?? 0)
      const quietUntil = Math.max(quietEnd(spending, now), now + Math.min(asked, longestPauseMs))
      return { ...spending, quietUntil, refusals: spending.refusals + 1 }
    }
  }
}

/** The service wants to be left alone; the other failures say nothing about the next call. */
const pauses: { readonly [failure in FailureClass]?: number } = { 'rate-limited': 60_000, quota: 600_000 }
const longestPauseMs = 1_800_000

/** What was read from a cache is in `input` already, and was paid for less; it counts all the same. */
const tokensOf = (usage: Usage | null): number => (usage === null ? 0 : usage.input + usage.output)

/** A pause longer than any we make was written before the clock was set back. */
const quietEnd = ({ quietUntil }: Spending, now: number): number => (quietUntil - now > longestPauseMs ? 0 : quietUntil)
const quietLeft = (spending: Spending, now: number): number => Math.max(0, quietEnd(spending, now) - now)

export function readSpending(value: unknown): Spending {
  const { calls, tokens, quietUntil, refusals, said } = asRecord(value)
  return {
    calls: wholeOrZero(calls),
    tokens: wholeOrZero(tokens),
    quietUntil: wholeOrZero(quietUntil),
    refusals: wholeOrZero(refusals),
    said: typeof said === 'string' ? said : '',
  }
}
