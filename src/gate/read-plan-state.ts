import { readApproval } from '../state/approval.ts'
import { type Refused, readRegular, throwIfUnreadable } from '../state/files.ts'
import { maxPlanBytes, planPath, reviewPaths } from '../state/own-paths.ts'
import { sha256 } from '../system/sha256.ts'
import { type PlanFile, type PlanState, planState } from './plan-state.ts'

export const readPlanState = (root: string): PlanState => planState(readPlanFile(root), readApproval(root))

/** For whoever would say too much with "not approved" of what only cannot be read now: that throws. */
export function readPlanStateOrThrow(root: string) {
  const [plan, approval] = [readPlanFile(root), readApproval(root)]
  throwIfUnreadable(planPath, plan)
  throwIfUnreadable(reviewPaths.approval, approval)
  return { plan, approval, state: planState(plan, approval) }
}

/** A plan has no limit here: whether it is too long is the review's business, and the gate must be able to close. */
export function readPlanFile(root: string): Exclude<PlanFile, { kind: 'refused' }> | Refused {
  const read = readRegular(root, planPath, maxPlanBytes)
  if (read.kind === 'absent') return { kind: 'absent' }
  if (read.kind === 'refused') return { ...read, why: `cannot be used: ${read.why}` }
  return { kind: 'read', hash: () => sha256(read.bytes) }
}
