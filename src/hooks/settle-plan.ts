import { planPath } from '../gate/place-of.ts'
import { judgePlanChange, type PlanChange } from '../plan/judge-plan-change.ts'
import type { Approval } from '../schemas/approval.ts'
import { appendEvent } from '../store/append-event.ts'
import { endCycle } from '../store/end-cycle.ts'
import { readApproval } from '../store/read-approval.ts'
import { readEvents } from '../store/read-events.ts'
import { isHalfEnded } from '../store/recover-cycle.ts'
import { refuseUnread } from '../store/refuse-unread.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { withLock } from '../store/with-lock.ts'
import { readPlanFile } from './read-plan-state.ts'

/**
 * Brings the record in line with the plan as it is, whatever tool or person changed it. The gate does not wait for
 * this: it compares the hash itself at each call.
 */
export async function settlePlan(root: string): Promise<PlanChange> {
  const seen = lookAtPlan(root)
  // `withLock` finishes what a crash left of the end of a cycle; nobody else might come by for long.
  if (seen.kind === 'nothing' && !isHalfEnded(root)) return seen
  const settled = await withLock(root, () => settle(root), { waitMs: 10_000 })
  return settled.kind === 'done' ? settled.value : seen
}

/** Looked at once more under the lock: another hook may have been faster. */
async function settle(root: string): Promise<PlanChange> {
  const change = lookAtPlan(root)
  switch (change.kind) {
    case 'nothing':
      return change
    case 'approval-outdated':
      await endCycle(root, { why: change.why })
      return change
    case 'approved-by-hand':
      await appendEvent(root, { type: 'approved-manually', plan_hash: change.planHash, reason: change.reason })
      return change
  }
}

/** What `settlePlan` will come upon; changes nothing. */
export function lookAtPlan(root: string): PlanChange {
  const read = readApproval(root)
  refuseUnread(reviewPaths.approval, read)
  if (read.kind !== 'recorded') return { kind: 'nothing' }
  const plan = readPlanFile(root)
  refuseUnread(planPath, plan)
  const planHash = plan.kind === 'read' ? plan.hash() : null
  return judgePlanChange({ planHash, approval: read.approval, recordedHash: recordedHash(root, read.approval) })
}

/** Only reviews write a route, and no tool may; an approval without one was written by a person. */
function recordedHash(root: string, approval: Approval): string | null {
  if (typeof approval.route === 'string' && approval.route !== 'manual') return approval.plan_hash
  const read = readEvents(root)
  const last = read.kind === 'read' ? read.events.findLast(({ type }) => type === 'approved-manually') : undefined
  return typeof last?.plan_hash === 'string' ? last.plan_hash : null
}
