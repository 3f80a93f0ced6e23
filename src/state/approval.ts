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

type ApprovalRead = { kind: 'absent' } | Refused | { kind: 'recorded'; approval: Approval }

const maxBytes = 64 * 1024

/** What is recorded; whether it holds for the plan as it is now is decided in `gate/`. */
export function readApproval(root: string, path: string = reviewPaths.approval): ApprovalRead {
  const read = readJson(root, path, validate, maxBytes)
  return read.kind === 'read' ? { kind: 'recorded', approval: read.value } : read
}

/**
 * Takes the approval away and nothing else, without the lock: for what cannot wait for a cycle to be archived. Under
 * its other name it tells the next holder of the lock that there is one to end. That it is gone counts for more than
 * that it is on record.
 */
export async function revokeApproval(root: string, why: string): Promise<void> {
  if (!setAside(root)) remove(join(root, reviewPaths.approval))
  await appendEvent(root, { type: 'approval-revoked', why }).catch(() => {})
}

/** The same as far as the next holder of the lock hears of it; else nothing is done. */
export async function tryRevoke(root: string, why: string, now?: () => Date): Promise<void> {
  if (setAside(root)) await appendEvent(root, { type: 'approval-revoked', why }, now).catch(() => {})
}

function setAside(root: string): boolean {
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

export const writeApproval = (root: string, approval: Approval): void => saveJson(root, reviewPaths.approval, approval)
