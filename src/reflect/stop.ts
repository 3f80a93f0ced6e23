/** Whether Claude may stop, decided before and after the final review. */
import type { ProseVerdict } from '../review/answer/answer.ts'
import type { FailureClass } from '../schemas/review.ts'
import { type OpenFinding, type OpenFindings, openFindings } from './session-state.ts'
import type { Trace } from './trace-plan.ts'

export type StopFacts = {
  /** `stop_hook_active`: Claude was kept from stopping already and stops again. */
  readonly isActive: boolean
  readonly fails: OpenFindings
  readonly lastMessage: string | null
  /** Read only when there is no last message. */
  readonly transcript: () => string
  readonly trace: Trace | null
  readonly traceability: 'advisory' | 'blocking' | 'off'
}

/** `trace` is what is to be mentioned of it; null for nothing. */
export type StopEnd =
  /** `line`: for the user. `open`: what stays open all the same. */
  | {
      readonly kind: 'let-go'
      readonly line: string | null
      readonly open: readonly OpenFinding[]
      readonly trace: Trace | null
    }
  | { readonly kind: 'block'; readonly because: BlockedBy; readonly trace: Trace | null }

type BlockedBy =
  | { readonly kind: 'open'; readonly fails: readonly OpenFinding[] }
  | { readonly kind: 'review'; readonly verdict: 'FAIL' | 'UNCERTAIN'; readonly summary: string }
  | { readonly kind: 'unavailable'; readonly why: string; readonly nextStep: string }
  | { readonly kind: 'trace' }

export type StopDecision =
  | StopEnd
  /** One review of the whole; `decideAfterReview` decides by its result. */
  | { readonly kind: 'ask'; readonly content: string; readonly source: 'message' | 'transcript' }

/**
 * Before any call. A second stop is always let go: Claude was told once, and a session must not be
 * caught in a loop that only its user can break.
 */
export function decideStop({ isActive, fails, lastMessage, transcript, ...facts }: StopFacts): StopDecision {
  const open = openFindings(fails)
  const trace = reportableTrace(facts)
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
  | { readonly kind: 'refused'; readonly because: 'limit' | 'backoff'; readonly why: string }

/** Anything but a PASS holds Claude once, a reviewer that could not answer included. */
export function decideAfterReview(review: StopReview, facts: Pick<StopFacts, 'trace' | 'traceability'>): StopEnd {
  const trace = reportableTrace(facts)
  const block = (because: BlockedBy): StopEnd => ({ kind: 'block', because, trace })
  const letGo = (line: string | null): StopEnd => ({ kind: 'let-go', line, open: [], trace })
  switch (review.kind) {
    case 'judged':
      return review.verdict === 'PASS'
        ? letGo(null)
        : block({ kind: 'review', verdict: review.verdict, summary: review.summary })
    case 'failed':
      // Cancelled by the user, who is there and knows.
      return review.failure === 'cancelled'
        ? letGo(null)
        : block({ kind: 'unavailable', why: review.why, nextStep: review.nextStep })
    case 'refused':
      // The user has set the limit; a service that is busy is a reviewer that could not answer.
      return review.because === 'limit'
        ? letGo(`plan-gate: Claude stops without a final review of its work: ${review.why}.`)
        : block({ kind: 'unavailable', why: review.why, nextStep: 'Wait until then, and let Claude stop once more.' })
  }
}

const reportableTrace = ({ trace, traceability }: Pick<StopFacts, 'trace' | 'traceability'>): Trace | null =>
  traceability === 'off' || trace === null || trace.unplanned.length + trace.undone.length === 0 ? null : trace
