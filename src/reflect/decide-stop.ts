import type { ProseVerdict } from '../review/contract/parse-verdict.ts'
import type { FailureClass } from '../schemas/backend.ts'
import { type Fail, type FailState, pendingFails } from './fail-state.ts'
import type { Trace } from './trace-plan.ts'

export type StopFacts = {
  /** `stop_hook_active`: Claude was kept from stopping already and stops again. */
  readonly isActive: boolean
  readonly fails: FailState
  readonly lastMessage: string | null
  /** Read only when there is no last message. */
  readonly transcript: () => string
  readonly trace: Trace | null
  readonly traceability: Traceability
}

type Traceability = 'advisory' | 'blocking' | 'off'

export type StopDecision =
  | StopEnd
  /** One look at the whole; `settleStop` decides by what comes of it. */
  | { readonly kind: 'ask'; readonly content: string; readonly source: 'message' | 'transcript' }

/** How it ends. `trace` is what is to be mentioned of it; null for nothing. */
export type StopEnd =
  /** `line`: said to the user. `open`: what stays open all the same. */
  | {
      readonly kind: 'let-go'
      readonly line: string | null
      readonly open: readonly Fail[]
      readonly trace: Trace | null
    }
  | { readonly kind: 'block'; readonly because: BlockedBy; readonly trace: Trace | null }

type BlockedBy =
  | { readonly kind: 'open'; readonly fails: readonly Fail[] }
  | { readonly kind: 'review'; readonly verdict: 'FAIL' | 'UNCERTAIN'; readonly summary: string }
  | { readonly kind: 'unavailable'; readonly why: string; readonly nextStep: string }
  | { readonly kind: 'trace' }

/**
 * Before any call. A second stop is always let go, whatever is open: Claude was told once, and a session must not be
 * caught in a loop that only its user can break.
 */
export function decideStop({ isActive, fails, lastMessage, transcript, ...facts }: StopFacts): StopDecision {
  const open = pendingFails(fails)
  const trace = worthTelling(facts)
  if (isActive) return { kind: 'let-go', line: null, open, trace: null }
  if (open.length > 0) return { kind: 'block', because: { kind: 'open', fails: open }, trace }
  if (trace !== null && facts.traceability === 'blocking') return { kind: 'block', because: { kind: 'trace' }, trace }
  const message = lastMessage?.trim() ?? ''
  if (message !== '') return { kind: 'ask', content: message, source: 'message' }
  const tail = transcript().trim()
  if (tail !== '') return { kind: 'ask', content: tail, source: 'transcript' }
  return { kind: 'let-go', line: null, open, trace }
}

export type StopReview =
  | { readonly kind: 'judged'; readonly verdict: ProseVerdict; readonly summary: string }
  | { readonly kind: 'failed'; readonly failure: FailureClass; readonly why: string; readonly nextStep: string }
  /** `takeCall` gave no call. */
  | { readonly kind: 'refused'; readonly because: 'ceiling' | 'quiet'; readonly why: string }

/** After the one look. What is not a PASS holds Claude once, a reviewer that could not answer included. */
export function settleStop(review: StopReview, facts: Pick<StopFacts, 'trace' | 'traceability'>): StopEnd {
  const trace = worthTelling(facts)
  const block = (because: BlockedBy): StopEnd => ({ kind: 'block', because, trace })
  const letGo = (line: string | null): StopEnd => ({ kind: 'let-go', line, open: [], trace })
  switch (review.kind) {
    case 'judged':
      return review.verdict === 'PASS'
        ? letGo(null)
        : block({ kind: 'review', verdict: review.verdict, summary: review.summary })
    case 'failed':
      // The user ended it; they are there, and know.
      return review.failure === 'cancelled'
        ? letGo(null)
        : block({ kind: 'unavailable', why: review.why, nextStep: review.nextStep })
    case 'refused':
      // The ceiling is what the user has asked for; a service that is busy is a reviewer that could not answer.
      return review.because === 'ceiling'
        ? letGo(`plan-gate: Claude stops without a last look at its work: ${review.why}.`)
        : block({ kind: 'unavailable', why: review.why, nextStep: 'Wait until then, and let Claude stop once more.' })
  }
}

const worthTelling = ({ trace, traceability }: Pick<StopFacts, 'trace' | 'traceability'>): Trace | null =>
  traceability === 'off' || trace === null || trace.unplanned.length + trace.undone.length === 0 ? null : trace
