import { join } from 'node:path'
import { planPath } from '../gate/place-of.ts'
import { judgePlanChange, type PlanChange } from '../plan/judge-plan-change.ts'
import type { Approval } from '../schemas/approval.ts'
import { appendEvent } from '../store/append-event.ts'
import { endCycle } from '../store/end-cycle.ts'
import { eventsFromEnd } from '../store/events-from-end.ts'
import { readApproval } from '../store/read-approval.ts'
import { isHalfEnded } from '../store/recover-cycle.ts'
import { throwIfUnreadable } from '../store/refuse-unread.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { areAsSeen, rememberSeen, signatureOf } from '../store/seen-files.ts'
import { withLock } from '../store/with-lock.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { readPlanFile } from './read-plan-state.ts'

/**
 * Brings the record in line with the plan as it is, whatever tool or person changed it. The gate does not wait for
 * this: it compares the hash itself at each call.
 */
export async function syncApproval(root: string): Promise<PlanChange> {
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

/** What `settlePlan` will come upon; changes nothing of it. */
export function lookAtPlan(root: string): PlanChange {
  // Before it is read: what replaces it meanwhile is not taken for what was found to be on record.
  const signature = signatureOf([join(root, reviewPaths.approval)])
  const read = readApproval(root)
  throwIfUnreadable(reviewPaths.approval, read)
  if (read.kind !== 'recorded') return { kind: 'nothing' }
  const plan = readPlanFile(root)
  throwIfUnreadable(planPath, plan)
  const planHash = plan.kind === 'read' ? plan.hash() : null
  return judgePlanChange({
    planHash,
    approval: read.approval,
    recordedHash: recordedHash(root, read.approval, signature),
  })
}

/**
 * The approval's plan where it is on record in this cycle, else null. An approval that no review and no command of ours
 * wrote is on record once it was found here, whatever it says of itself. While the file is untouched, the ledger is not read.
 */
function recordedHash(root: string, approval: Approval, signature: string): string | null {
  const own = readGitDirs(root)?.own
  if (own !== undefined && areAsSeen(own, 'approval', signature)) return approval.plan_hash
  for (const event of eventsFromEnd(root, ['approved', 'approved-manually', 'cycle-archived'])) {
    if (event.type === 'cycle-archived') return null
    if (event.plan_hash !== approval.plan_hash) continue
    if (own !== undefined) rememberSeen(own, 'approval', signature)
    return approval.plan_hash
  }
  return null
}
