import { readApproval } from '../state/approval.ts'
import { type Refused, readRegular, throwIfUnreadable } from '../state/files.ts'
import { maxPlanBytes, planPath, reviewPaths } from '../state/own-paths.ts'
import { sha256 } from '../system/sha256.ts'
import { type PlanFile, type PlanState, planState } from './plan-state.ts'

export const readPlanState = (root: string): PlanState => planState(readPlanFile(root), readApproval(root))

/** Like `readPlanState`, but throws if either file exists and cannot be read. */
export function readPlanStateOrThrow(root: string) {
  const [plan, approval] = [readPlanFile(root), readApproval(root)]
  throwIfUnreadable(planPath, plan)
  throwIfUnreadable(reviewPaths.approval, approval)
  return { plan, approval, state: planState(plan, approval) }
}

/** The size limit of a plan is the review's concern; the gate only has to hash it. */
export function readPlanFile(root: string): Exclude<PlanFile, { kind: 'refused' }> | Refused {
  const read = readRegular(root, planPath, maxPlanBytes)
  if (read.kind === 'absent') return { kind: 'absent' }
  if (read.kind === 'refused') return { ...read, why: `cannot be used: ${read.why}` }
  return { kind: 'read', hash: () => sha256(read.bytes) }
}
