import type { Approval } from '../schemas/approval.ts'
import type { Denial } from '../schemas/denial.ts'
import type { KeptPass } from '../schemas/kept-pass.ts'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import type { ReviewResult } from '../schemas/review-result.ts'

/** Everything that a report says, as one value. */
export type ReportData = {
  /** Of the worktree, or of the folder that the reviews were kept in. */
  readonly name: string
  readonly place: string
  readonly made_at: string
  readonly version: string
  readonly gate: Gate
  /** How many revisions of this cycle are reviewed before the decision is the user's; null where nobody knows. */
  readonly limit: number | null
  /** In their order; the last one is the current one. */
  readonly cycles: readonly Cycle[]
  /** The one that was last heard of first. */
  readonly sessions: readonly SessionDenials[]
  readonly checks: readonly { readonly name: string; readonly holds: boolean; readonly detail: string }[]
  /** What there was and could not be read. */
  readonly problems: readonly string[]
}

/** `kept`: reviews that were kept of a worktree, where no gate stands any more. */
export type Gate = {
  readonly kind: 'open' | 'closed' | 'no-plan' | 'reviewing' | 'kept'
  readonly words: string
}

export type Cycle = {
  readonly cycle: number
  /** `lost`: the ledger tells of it, but its files are gone. */
  readonly kind: 'current' | 'archived' | 'lost'
  readonly revisions: readonly Revision[]
  readonly approval: Approval | null
  readonly events: readonly LedgerEvent[]
}

export type Revision = {
  readonly revision: number
  /** Without secrets; null where it cannot be read. */
  readonly text: string | null
  /** Of the very bytes. */
  readonly plan_hash: string | null
  readonly bytes: number
  readonly submitted_at: string | null
  readonly reviewed_at: string | null
  readonly result: ReviewResult | null
  /** Why there is no result; null where there is one. */
  readonly why_none: string | null
  readonly passes: readonly KeptPass[]
}

export type SessionDenials = {
  readonly session: string
  readonly client_version: string | null
  readonly started_at: string | null
  readonly last_seen_at: string | null
  readonly denials: readonly Denial[]
}
