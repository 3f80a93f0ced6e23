import type { ProseVerdict } from '../review/contract/parse-verdict.ts'
import type { FailureClass, Usage } from '../schemas/backend.ts'
import { afterReview, type Reviewed, type Tell } from './after-review.ts'
import { clearFail, type FailState, readFailState } from './fail-state.ts'
import { type Limits, readSpending, type Spending, settleCall, takeCall } from './limit-cost.ts'
import { asRecord, textOrNull } from './read-values.ts'
import { forgetReview, readSharing, type Sharing, shareReview } from './share-review.ts'
import { lookUp, type Memory, readMemory, remember } from './verdict-memory.ts'

/** All that is kept of one session, as one JSON file: what is read and written together cannot come apart. */
export type ReflectState = {
  readonly memory: Memory
  readonly fails: FailState
  readonly spending: Spending
  readonly sharing: Sharing
  /** The hash of the plan after whose approval Claude has stopped once with nothing done yet. */
  readonly askedToStart: string | null
}

/** A missing or damaged file is a session that has just begun. */
export function readReflectState(value: unknown): ReflectState {
  const { memory, fails, spending, sharing, askedToStart } = asRecord(value)
  return {
    memory: readMemory(memory),
    fails: readFailState(fails),
    spending: readSpending(spending),
    sharing: readSharing(sharing),
    askedToStart: textOrNull(askedToStart),
  }
}

/** What is looked at. `hash` is null for what is never the same twice, `key` for what nothing can clear. */
export type Subject = { readonly hash: string | null; readonly key: string | null; readonly about: string }

export type FollowSettings = {
  readonly ttlMs: number
  readonly maxEntries: number
  readonly quietMs: number
  readonly limits: Limits
}

export type Followed = { readonly state: ReflectState; readonly tell: Tell }

/** Before a call, with the state locked: whether there is one to be made, or what is known without. */
export function beforeAsking(
  state: ReflectState,
  subject: Subject,
  { ttlMs, quietMs, limits }: FollowSettings,
  now: number,
): { readonly kind: 'ask'; readonly state: ReflectState } | ({ readonly kind: 'known' } & Followed) {
  const { hash, key, about } = subject
  const known = hash === null ? null : lookUp(state.memory, hash, now, ttlMs)
  // With the time of its judgement, so that a repeat changes nothing that would have to be written.
  if (known !== null) return { kind: 'known', ...settled(state, { ...known, cached: true, key, about }) }
  const { sharing, isShared } = share(state, subject, now, quietMs)
  if (isShared) return { kind: 'known', state: { ...state, sharing }, tell: { kind: 'nothing' } }
  const grant = takeCall(state.spending, limits, now)
  const { spending } = grant
  if (grant.kind === 'granted') return { kind: 'ask', state: { ...state, spending, sharing } }
  return { kind: 'known', state: { ...state, spending }, tell: { kind: 'refused', line: grant.line } }
}

function share({ sharing, fails }: ReflectState, { key, about }: Subject, now: number, quietMs: number) {
  if (key === null || quietMs <= 0) return { sharing, isShared: false }
  const isOpen = fails.fails.some((fail) => fail.key === key)
  return shareReview(sharing, { key, about, isOpen }, now, quietMs)
}

export type Reflected =
  | {
      readonly kind: 'judged'
      readonly verdict: ProseVerdict
      readonly summary: string
      readonly usage: Usage | null
    }
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly why: string
      readonly nextStep: string
      readonly retryAfterMs: number | null
    }

/** After a call, with the state read anew under the lock: others have written meanwhile. */
export function afterAsking(
  state: ReflectState,
  { hash, key, about }: Subject,
  answer: Reflected,
  { maxEntries }: FollowSettings,
  now: number,
): Followed {
  switch (answer.kind) {
    case 'failed': {
      const { why, nextStep } = answer
      const spending = settleCall(state.spending, answer, now)
      const sharing = key === null ? state.sharing : forgetReview(state.sharing, key)
      return { state: { ...state, spending, sharing }, tell: { kind: 'unavailable', about, why, nextStep } }
    }
    case 'judged': {
      const { verdict, summary, usage } = answer
      const spending = settleCall(state.spending, { kind: 'answered', usage }, now)
      const memory =
        hash === null
          ? state.memory
          : remember(state.memory, { hash, verdict, at: now, path: about, summary }, maxEntries)
      return settled({ ...state, spending, memory }, { verdict, summary, cached: false, key, about, at: now })
    }
  }
}

function settled(state: ReflectState, reviewed: Reviewed): Followed {
  const { state: fails, tell } = afterReview(state.fails, reviewed)
  return { state: { ...state, fails }, tell }
}

/** A command that had failed has succeeded, or a file that was found wrong is gone: nothing is open about it. */
export const clearOpen = (state: ReflectState, key: string): ReflectState => ({
  ...state,
  fails: clearFail(state.fails, key),
})
