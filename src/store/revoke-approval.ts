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
  setAside(root)
  await appendEvent(root, { type: 'approval-revoked', why }, options).catch(() => {})
}

function setAside(root: string): void {
  const approval = join(root, reviewPaths.approval)
  try {
    renameSync(approval, join(root, reviewPaths.revoked))
  } catch {
    remove(approval)
  }
}

function remove(approval: string): void {
  try {
    rmSync(approval, { recursive: true, force: true })
  } catch (error) {
    throw new StoreError(reviewPaths.approval, `cannot be removed (${errnoOf(error)})`, undefined, error)
  }
}
