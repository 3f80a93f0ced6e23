/** `approval.json`, the bytes of the plan that it is about, and the copy in the git directory that says where it comes from. */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Approval, approvalSchema } from '../schemas/records.ts'
import { orElse } from '../system/errors.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import {
  errnoOf,
  putFile,
  type Refused,
  type RegularRead,
  readJson,
  readRegular,
  removePath,
  StoreError,
  saveFile,
  throwIfUnreadable,
} from './files.ts'
import { appendEvent } from './ledger.ts'
import { gitDirFolder, maxPlanBytes, planPath, reviewPaths } from './own-paths.ts'

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
  const read = readJson(root, path, approvalSchema, maxApprovalBytes)
  return read.kind === 'read' ? { kind: 'recorded', approval: read.value } : read
}

const maxApprovalBytes = 64 * 1024

/** The copy first: without it, an approval counts as written by hand. */
export function writeApproval(root: string, approval: Approval): void {
  const text = `${JSON.stringify(approval, null, 2)}\n`
  recordApproval(root, text)
  saveFile(root, reviewPaths.approval, text)
}

const copyPath = `${gitDirFolder}/approval.json`

/** Keeps a copy of an approval that holds. Without a git directory none can be kept, and none counts. */
export function recordApproval(root: string, approval: string | Uint8Array): void {
  const gitDir = readGitDirs(root)?.own
  if (gitDir !== undefined) putFile(gitDir, copyPath, approval, 0o600)
}

export const readRecordedApproval = (gitDir: string): RegularRead => readRegular(gitDir, copyPath, maxApprovalBytes)

export const readApprovalBytes = (root: string): RegularRead =>
  readRegular(root, reviewPaths.approval, maxApprovalBytes)

/** Whether approval.json is what was recorded; also where there is neither. */
export function isRecordedApproval(root: string, gitDir: string): boolean {
  const [found, recorded] = [readApprovalBytes(root), readRecordedApproval(gitDir)]
  if (recorded.kind !== 'read') return recorded.kind === 'absent' && found.kind === 'absent'
  return found.kind === 'read' && found.bytes.equals(recorded.bytes)
}

/** The end of an approval: the same bytes do not count again. */
export function forgetApproval(root: string): void {
  const gitDir = readGitDirs(root)?.own
  if (gitDir !== undefined) removePath(gitDir, copyPath)
}

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

/**
 * Takes the approval away, and the cycle goes on with its findings. Only inside `withLock`. The copy goes last: an approval
 * without one would count as written by hand.
 */
export async function withdrawApproval(root: string, why: string): Promise<void> {
  remove(join(root, reviewPaths.approval))
  forgetApproval(root)
  await appendEvent(root, { type: 'approval-revoked', why })
}

function renameToRevoked(root: string): boolean {
  const isRenamed = tryRename(root)
  forgetApproval(root)
  return isRenamed
}

const tryRename = (root: string): boolean =>
  orElse(() => {
    renameSync(join(root, reviewPaths.approval), join(root, reviewPaths.revoked))
    return true
  }, false)

function remove(approval: string): void {
  try {
    rmSync(approval, { recursive: true, force: true })
  } catch (error) {
    throw new StoreError(reviewPaths.approval, `cannot be removed (${errnoOf(error)})`, undefined, error)
  }
}
