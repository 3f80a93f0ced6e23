import type { LedgerEvent } from '../schemas/ledger-event.ts'

export type KnownApproval = { kind: 'none' } | { kind: 'ended' } | { kind: 'by-hand' } | { kind: 'by'; route: string }

/** What the ledger knows of an approval of these bytes. One that was revoked since, or whose cycle ended, is none any more. */
export function findApproval(events: readonly LedgerEvent[], planHash: string): KnownApproval {
  const last = events.findLastIndex(({ type, plan_hash }) => approving.includes(type) && plan_hash === planHash)
  const event = events[last]
  if (event === undefined) return { kind: 'none' }
  if (events.slice(last).some(({ type }) => ending.includes(type))) return { kind: 'ended' }
  return event.type === 'approved-manually' ? { kind: 'by-hand' } : { kind: 'by', route: String(event.route) }
}

const approving = ['approved', 'approved-manually']
const ending = ['approval-revoked', 'cycle-archived']
