/** `approval.json`, and the bytes of the plan that it is about. */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import validate from '../schemas/generated/approval.js'
import type { Approval } from '../schemas/records.ts'
import {
  errnoOf,
  type Refused,
  type RegularRead,
  readJson,
  readRegular,
  StoreError,
  saveJson,
  throwIfUnreadable,
} from './files.ts'
import { appendEvent } from './ledger.ts'
import { maxPlanBytes, planPath, reviewPaths } from './own-paths.ts'

/** The plan's bytes; throws if the file exists and cannot be read. */
export function readPlanBytes(root: string): RegularRead {
  const read = readRegular(root, planPath, maxPlanBytes)
  throwIfUnreadable(planPath, read)
  return read
}

/** Whether it holds for the plan as it is now is decided in `gate/plan-state.ts`. */
export function readApproval(
  root: string,
  path: string = reviewPaths.approval,
): { kind: 'absent' } | Refused | { kind: 'recorded'; approval: Approval } {
  const read = readJson(root, path, validate, 64 * 1024)
  return read.kind === 'read' ? { kind: 'recorded', approval: read.value } : read
}

export const writeApproval = (root: string, approval: Approval): void => saveJson(root, reviewPaths.approval, approval)

/**
 * Revokes without the lock, where the cycle cannot be archived first. The renamed file makes the next holder of the lock
 * end the cycle. A ledger that cannot be written does not keep the approval.
 */
export async function revokeApproval(root: string, why: string): Promise<void> {
  if (!renameToRevoked(root)) remove(join(root, reviewPaths.approval))
  await appendEvent(root, { type: 'approval-revoked', why }).catch(() => {})
}

/** Only by renaming, so that the next holder of the lock ends the cycle; otherwise nothing is done. */
export async function tryRevoke(root: string, why: string, now?: () => Date): Promise<void> {
  if (renameToRevoked(root)) await appendEvent(root, { type: 'approval-revoked', why }, now).catch(() => {})
}

function renameToRevoked(root: string): boolean {
  try {
    renameSync(join(root, reviewPaths.approval), join(root, reviewPaths.revoked))
    return true
  } catch {
    return false
  }
}

function remove(approval: string): void {
  try {
    rmSync(approval, { recursive: true, force: true })
  } catch (error) {
    throw new StoreError(reviewPaths.approval, `cannot be removed (${errnoOf(error)})`, undefined, error)
  }
}
