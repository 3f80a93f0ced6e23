import { readPlanState } from '../gate/read-plan-state.ts'
import { findApproval, findMismatches } from '../plan/revisions.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import { readApproval } from '../state/approval.ts'
import { listCycles } from '../state/cycles.ts'
import { readRegular } from '../state/files.ts'
import { readEvents, verifyLedger } from '../state/ledger.ts'
import { reviewDir, revisionPath } from '../state/own-paths.ts'
import { listRevisions } from '../state/revisions.ts'
import { sha256 } from '../system/sha256.ts'
import { describePlan } from './terminal.ts'

export type Check = { readonly name: string; readonly holds: boolean; readonly detail: string }

/** Checks the ledger, the snapshots of each cycle, and the approval against each other. */
export function checkRecord(root: string): Check[] {
  const read = readEvents(root)
  // Nothing else can be checked then.
  if (read.kind === 'refused') return [{ name: 'ledger', holds: false, detail: read.why }]
  const { ended, current } = eventsByCycle(read.kind === 'read' ? read.events : [])
  // If archiving was interrupted, the ledger does not have its end yet.
  const archived = listCycles(root).flatMap(({ cycle, folder }) =>
    checkSnapshots(root, ended.get(cycle) ?? current, folder, `cycle ${cycle}, revision`),
  )
  return [
    checkLedger(root),
    ...archived,
    ...checkSnapshots(root, current, reviewDir, 'revision'),
    ...findMismatches(root).map(({ name, why }) => ({ name, holds: false, detail: why })),
    checkApproval(root, current),
  ]
}

function checkLedger(root: string): Check {
  const check = verifyLedger(root)
  const result = (holds: boolean, detail: string): Check => ({ name: 'ledger', holds, detail })
  if (check.kind === 'absent') return result(false, 'there is none')
  if (check.kind === 'refused') return result(false, check.why)
  if (check.kind === 'broken') return result(false, `line ${check.line} of events.jsonl: ${check.why}`)
  const torn = check.tornBytes > 0 ? `, ${check.tornBytes} torn bytes at the end` : ''
  return result(true, `${check.events} events, head ${check.head.slice(0, 12)}${torn}`)
}

/** The snapshot of a reviewed revision must be the text that was submitted. */
function checkSnapshots(root: string, cycle: readonly LedgerEvent[], folder: string, label: string): Check[] {
  return listRevisions(root, folder).flatMap(({ revision, parts }) => {
    if (!parts.includes('codex.json')) return []
    const name = `${label} ${revision}`
    const submitted = cycle.findLast((event) => event.type === 'reviewed' && event.revision === revision)
    const snapshot = readRegular(root, revisionPath(revision, 'snapshot.md', folder))
    if (snapshot.kind !== 'read') return [{ name, holds: false, detail: 'its snapshot is missing or cannot be read' }]
    if (submitted === undefined) return [{ name, holds: false, detail: 'the ledger has no such review' }]
    const holds = submitted.plan_hash === sha256(snapshot.bytes)
    return [{ name, holds, detail: holds ? String(submitted.verdict) : 'its snapshot is not the reviewed text' }]
  })
}

function checkApproval(root: string, cycle: readonly LedgerEvent[]): Check {
  const state = readPlanState(root)
  const result = (holds: boolean, detail: string): Check => ({ name: 'approval', holds, detail })
  if (state.kind !== 'approved') return result(false, describePlan(state))
  const read = readApproval(root)
  // Read successfully a moment ago, for the state of the plan.
  if (read.kind === 'refused' && read.errno !== undefined) return result(false, read.why)
  const route = read.kind === 'recorded' ? (read.approval.route ?? 'manual') : 'manual'
  const known = ['by', 'by-hand'].includes(findApproval(cycle, state.hash).kind)
  if (known) return result(true, route === 'manual' ? 'by hand, recorded' : `by ${route}, recorded`)
  return route === 'manual'
    ? result(true, 'by hand, not recorded yet')
    : result(false, `approval.json names ${route}, but the ledger has no such approval`)
}

type EventsByCycle = {
  readonly ended: ReadonlyMap<number, readonly LedgerEvent[]>
  readonly current: readonly LedgerEvent[]
}

/** A cycle ends with the event that it was archived. */
export function eventsByCycle(events: readonly LedgerEvent[]): EventsByCycle {
  const ended = new Map<number, readonly LedgerEvent[]>()
  let current: LedgerEvent[] = []
  for (const event of events) {
    current.push(event)
    if (event.type !== 'cycle-archived') continue
    const cycle = Number(event.cycle)
    // After a crash there may be two such events.
    ended.set(cycle, [...(ended.get(cycle) ?? []), ...current])
    current = []
  }
  return { ended, current }
}
