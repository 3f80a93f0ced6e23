import { join } from 'node:path'
import { appendEvent } from './append-event.ts'
import { archiveCycle, beginArchive, cycleEntries, moveInto, resetCounter } from './archive-cycle.ts'
import { ensureReviewDir } from './ensure-review-dir.ts'
import { reviewDir, reviewPaths } from './review-paths.ts'
import { revokeIfKept } from './revoke-approval.ts'
import { noStep, type Step } from './step.ts'
import { syncFolder } from './sync-folder.ts'

export type CycleEnd = { kind: 'ended'; cycle: number } | { kind: 'nothing-to-end' }

type EndOptions = { why: string; now?: () => Date; step?: Step }

/**
 * Revokes the approval, then moves the cycle's files to `history/cycle-NNNN` and sets the counter to 0. Only inside
 * `withLock`. The Codex thread stays: the reviewer remembers the cycles before. Where the archive cannot be made, the
 * approval goes all the same; where even that cannot be done, it stays for the next call to find: as long as the plan is
 * another one, it holds for nothing.
 */
export async function endCycle(root: string, options: EndOptions): Promise<CycleEnd> {
  const { why, now = () => new Date(), step = noStep } = options
  ensureReviewDir(root, reviewDir, step)
  const entries = cycleEntries(root)
  if (entries.length === 0) {
    resetCounter(root, step)
    return { kind: 'nothing-to-end' }
  }
  const isApproved = entries.includes('approval.json')
  let partial: string
  try {
    partial = beginArchive(root, step)
    if (isApproved) moveInto(root, partial, reviewPaths.approval, step)
    syncFolder(join(root, partial))
    syncFolder(join(root, reviewDir))
  } catch (error) {
    if (isApproved) await revokeIfKept(root, why, { now, step })
    throw error
  }
  if (isApproved) await appendEvent(root, { type: 'approval-revoked', why }, { now, step })
  return { kind: 'ended', cycle: await archiveCycle(root, partial, false, { now, step }) }
}
