import type { Approval } from '../schemas/approval.ts'
import validate from '../schemas/generated/approval.js'
import type { Refused } from './check-folder.ts'
import { readJson } from './read-json.ts'
import { reviewPaths } from './review-paths.ts'

export type ApprovalRead = { kind: 'absent' } | Refused | { kind: 'recorded'; approval: Approval }

const maxBytes = 64 * 1024

/** What is recorded; whether it holds for the plan as it is now is decided in `gate/`. */
export function readApproval(root: string, path: string = reviewPaths.approval): ApprovalRead {
  const read = readJson(root, path, validate, maxBytes)
  return read.kind === 'read' ? { kind: 'recorded', approval: read.value } : read
}
