import { readPlanState } from '../hooks/read-plan-state.ts'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import { readApproval } from '../store/read-approval.ts'
import { readEvents } from '../store/read-events.ts'
import { readRegular } from '../store/read-regular.ts'
import { revisionPath } from '../store/review-paths.ts'
import { listRevisions } from '../store/revisions.ts'
import { sha256 } from '../store/sha256.ts'
import { verifyLedger } from '../store/verify-ledger.ts'
import { describePlan } from './describe-plan.ts'

export type Check = { readonly name: string; readonly holds: boolean; readonly detail: string }

/** What the record says about this cycle, and whether it says the same everywhere. */
export function checkRecord(root: string): Check[] {
  const read = readEvents(root)
  const events = read.kind === 'read' ? read.events : []
  const cycle = events.slice(events.findLastIndex(({ type }) => type === 'cycle-archived') + 1)
  return [checkLedger(root), ...checkSnapshots(root, cycle), checkApproval(root, cycle)]
}

function checkLedger(root: string): Check {
  const check = verifyLedger(root)
  const is = (holds: boolean, detail: string): Check => ({ name: 'ledger', holds, detail })
  switch (check.kind) {
    case 'absent':
      return is(false, 'there is none')
    case 'refused':
      return is(false, check.why)
    case 'broken':
      return is(false, `line ${check.line} of events.jsonl: ${check.why}`)
    case 'intact':
      return is(
        true,
        `${check.events} events, head ${check.head.slice(0, 12)}${check.tornBytes > 0 ? `, ${check.tornBytes} torn bytes at the end` : ''}`,
      )
  }
}

/** A reviewed revision is the bytes that were submitted under its number. */
function checkSnapshots(root: string, cycle: readonly LedgerEvent[]): Check[] {
  return listRevisions(root).flatMap(({ revision, parts }) => {
    if (!parts.includes('codex.json')) return []
    const name = `revision ${revision}`
    const submitted = cycle.findLast((event) => event.type === 'reviewed' && event.revision === revision)
    const snapshot = readRegular(root, revisionPath(revision, 'snapshot.md'))
    if (snapshot.kind !== 'read') return [{ name, holds: false, detail: 'its snapshot is gone or cannot be read' }]
    if (submitted === undefined) return [{ name, holds: false, detail: 'the ledger knows of no such review' }]
    const holds = submitted.plan_hash === sha256(snapshot.bytes)
    return [{ name, holds, detail: holds ? String(submitted.verdict) : 'its snapshot is not what was reviewed' }]
  })
}

function checkApproval(root: string, cycle: readonly LedgerEvent[]): Check {
  const state = readPlanState(root)
  const is = (holds: boolean, detail: string): Check => ({ name: 'approval', holds, detail })
  if (state.kind !== 'approved') return is(false, describePlan(state))
  const read = readApproval(root)
  const route = read.kind === 'recorded' ? (read.approval.route ?? 'manual') : 'manual'
  const known = cycle.some(
    ({ type, plan_hash }) => (type === 'approved' || type === 'approved-manually') && plan_hash === state.hash,
  )
  if (known) return is(true, route === 'manual' ? 'by hand, on record' : `by ${route}, on record`)
  return route === 'manual'
    ? is(true, 'by hand, not on record yet')
    : is(false, `approval.json names ${route}, but the ledger knows of no such approval`)
}
