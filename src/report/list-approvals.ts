import type { LedgerEvent } from '../schemas/ledger-event.ts'
import type { Cycle, ReportData } from './report-data.ts'

export type ApprovalFate = {
  readonly at: string | null
  readonly cycle: number
  readonly revision: number | null
  readonly hash: string
  /** The backend, or `manual`. */
  readonly route: string
  readonly verification: string | null
  readonly reason: string | null
  /** How it ended; null: it stands. */
  readonly ended: string | null
}

/** By the ledger; and the one that was put there by hand, of which the ledger has not heard yet. */
export function listApprovals({ cycles, gate }: Pick<ReportData, 'cycles' | 'gate'>): readonly ApprovalFate[] {
  return cycles.flatMap((cycle) => {
    const recorded = cycle.events.flatMap((event, index) => approvalIn(event, cycle, cycle.events.slice(index + 1)))
    const unrecorded = unrecordedIn(cycle, recorded)
    const all = unrecorded === null ? recorded : [...recorded, unrecorded]
    const stands = cycle.kind === 'current' && gate.kind === 'open'
    return all.map((approval, index) =>
      approval.ended !== null || (stands && index === all.length - 1)
        ? approval
        : { ...approval, ended: index < all.length - 1 ? 'another one followed' : 'it holds no longer' },
    )
  })
}

function approvalIn(
  event: LedgerEvent,
  { cycle, revisions }: Cycle,
  later: readonly LedgerEvent[],
): readonly ApprovalFate[] {
  const isManual = event.type === 'approved-manually'
  if (!isManual && event.type !== 'approved') return []
  const next = later.find(({ type }) => type === 'approval-revoked' || type.startsWith('approved'))
  return [
    {
      at: event.at,
      cycle,
      revision: typeof event.revision === 'number' ? event.revision : revisionOf(revisions, event.plan_hash),
      hash: textOr(event.plan_hash, ''),
      route: isManual ? 'manual' : textOr(event.route, 'unknown'),
      verification: typeof event.verification === 'string' ? event.verification : null,
      reason: typeof event.reason === 'string' ? event.reason : null,
      ended: next?.type === 'approval-revoked' ? textOr(next.why, 'it was revoked') : null,
    },
  ]
}

function unrecordedIn({ cycle, approval, revisions }: Cycle, recorded: readonly ApprovalFate[]): ApprovalFate | null {
  if (approval === null || !approval.is_optimal || recorded.some(({ hash }) => hash === approval.plan_hash)) return null
  return {
    at: approval.approved_at ?? null,
    cycle,
    revision: revisionOf(revisions, approval.plan_hash),
    hash: approval.plan_hash,
    route: approval.route ?? 'manual',
    verification: approval.verification ?? null,
    reason: approval.reason ?? 'not on record yet',
    ended: null,
  }
}

const revisionOf = (revisions: Cycle['revisions'], planHash: unknown): number | null =>
  revisions.findLast(({ plan_hash: hash }) => hash === planHash)?.revision ?? null

const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other)
