import type { ProseVerdict } from '../review/contract/parse-verdict.ts'
import { clearFail, type Fail, type FailState, recordFail } from './fail-state.ts'

export type Reviewed = {
  readonly verdict: ProseVerdict
  /** Known from a moment ago, not asked again. */
  readonly cached: boolean
  /** null: about nothing that a later review could find mended, so nothing is recorded. */
  readonly key: string | null
  readonly about: string
  readonly summary: string
  readonly at: number
}

/** What there is to say about a change, a thought or a command; nothing of it blocks. */
export type Tell =
  | { readonly kind: 'nothing' }
  /** `settled`: there was an open finding, and this clears it. */
  | { readonly kind: 'passed'; readonly about: string; readonly settled: boolean }
  | {
      readonly kind: 'found'
      readonly about: string
      readonly verdict: Fail['verdict']
      readonly summary: string
      readonly cached: boolean
    }
  /** The reviewer could not answer. That is no verdict, and nothing is remembered of it. */
  | { readonly kind: 'unavailable'; readonly about: string; readonly why: string; readonly nextStep: string }
  /** The session may not ask now; `line` says so, once. */
  | { readonly kind: 'refused'; readonly line: string | null }

/**
 * The one place where a verdict meets the fail state, so that neither can be forgotten. A cached UNCERTAIN is recorded,
 * since nobody looks at that change again; a fresh one is no news and leaves what was, which may be a FAIL.
 */
export function afterReview(state: FailState, reviewed: Reviewed): { readonly state: FailState; readonly tell: Tell } {
  const { verdict, cached, key, about, summary, at } = reviewed
  const found = (of: Fail['verdict']): Tell => ({ kind: 'found', about, verdict: of, summary, cached })
  if (key === null) return { state, tell: verdict === 'PASS' ? passed(about, false) : found(verdict) }
  switch (verdict) {
    case 'PASS': {
      const settled = state.fails.some((fail) => fail.key === key)
      return { state: clearFail(state, key), tell: cached ? { kind: 'nothing' } : passed(about, settled) }
    }
    case 'FAIL':
      return { state: recordFail(state, { key, about, verdict, summary, at }), tell: found(verdict) }
    case 'UNCERTAIN':
      return {
        state: cached ? recordFail(state, { key, about, verdict, summary, at }) : state,
        tell: found(verdict),
      }
  }
}

const passed = (about: string, settled: boolean): Tell => ({ kind: 'passed', about, settled })
