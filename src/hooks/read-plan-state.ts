import { planPath } from '../gate/place-of.ts'
import { type PlanFile, type PlanState, planState } from '../gate/plan-state.ts'
import type { Refused } from '../store/check-folder.ts'
import { readApproval } from '../store/read-approval.ts'
import { readRegular } from '../store/read-regular.ts'
import { throwIfUnreadable } from '../store/refuse-unread.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { sha256 } from '../store/sha256.ts'

export const readPlanState = (root: string): PlanState => planState(readPlanFile(root), readApproval(root))

/** For whoever would say too much with "not approved" of what only cannot be read now: that throws. */
export function readPlanStateForSure(root: string) {
  const [plan, approval] = [readPlanFile(root), readApproval(root)]
  throwIfUnreadable(planPath, plan)
  throwIfUnreadable(reviewPaths.approval, approval)
  return { plan, approval, state: planState(plan, approval) }
}

/** A plan has no limit here: whether it is too long is the review's business, and the gate must be able to close. */
export function readPlanFile(root: string): Exclude<PlanFile, { kind: 'refused' }> | Refused {
  const read = readRegular(root, planPath, 64 * 1024 * 1024)
  if (read.kind === 'absent') return { kind: 'absent' }
  if (read.kind === 'refused') return { ...read, why: `cannot be used: ${read.why}` }
  return { kind: 'read', hash: () => sha256(read.bytes) }
}
