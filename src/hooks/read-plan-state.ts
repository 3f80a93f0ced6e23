import { planPath } from '../gate/place-of.ts'
import { type PlanFile, type PlanState, planState } from '../gate/plan-state.ts'
import { readApproval } from '../store/read-approval.ts'
import { readRegular } from '../store/read-regular.ts'

export const readPlanState = (root: string): PlanState => planState(readPlanFile(root), readApproval(root))

/** A plan has no limit here: whether it is too long is the review's business, and the gate must be able to close. */
export function readPlanFile(root: string): PlanFile {
  const read = readRegular(root, planPath, 64 * 1024 * 1024)
  if (read.kind === 'absent') return { kind: 'absent' }
  if (read.kind === 'refused') return { kind: 'refused', why: `cannot be used: ${read.why}` }
  return { kind: 'read', hash: () => sha256(read.bytes) }
}

/** Loading node:crypto costs 2 ms, which a call before any approval need not pay. */
export const sha256 = (bytes: Uint8Array): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex')
