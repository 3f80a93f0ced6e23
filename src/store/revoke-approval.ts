import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type AppendOptions, appendEvent } from './append-event.ts'
import { reviewPaths } from './review-paths.ts'
import { errnoOf, StoreError } from './store-error.ts'

/**
 * Takes the approval away and nothing else, without the lock: for what cannot wait for a cycle to be archived. Under
 * its other name it tells the next holder of the lock that there is one to end. That it is gone counts for more than
 * that it is on record.
 */
export async function revokeApproval(root: string, why: string, options: AppendOptions = {}): Promise<void> {
  if (!setAside(root)) remove(join(root, reviewPaths.approval))
  await appendEvent(root, { type: 'approval-revoked', why }, options).catch(() => {})
}

/** The same as far as the next holder of the lock hears of it; else nothing is done. */
export async function revokeIfKept(root: string, why: string, options: AppendOptions = {}): Promise<void> {
  if (setAside(root)) await appendEvent(root, { type: 'approval-revoked', why }, options).catch(() => {})
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
