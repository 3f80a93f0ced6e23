import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { appendEvent } from './append-event.ts'
import { archiveCycle, cycleEntries, moveInto, nextCycle, resetCounter } from './archive-cycle.ts'
import { lstatEntry } from './check-folder.ts'
import { ensureReviewDir } from './ensure-review-dir.ts'
import { cyclePath, reviewDir, reviewPaths } from './review-paths.ts'
import { noStep, type Step } from './step.ts'
import { errnoOf, StoreError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'

export type CycleEnd = { kind: 'ended'; cycle: number } | { kind: 'nothing-to-end' }

type EndOptions = { why: string; now?: () => Date; step?: Step }

/**
 * Revokes the approval, then moves the cycle's files to `history/cycle-NNNN` and sets the counter to 0. Only inside
 * `withLock`. The Codex thread stays: the reviewer remembers the cycles before.
 */
export async function endCycle(root: string, options: EndOptions): Promise<CycleEnd> {
  const { why, now = () => new Date(), step = noStep } = options
  ensureReviewDir(root, reviewDir, step)
  const entries = cycleEntries(root)
  if (entries.length === 0) {
    resetCounter(root, step)
    return { kind: 'nothing-to-end' }
  }
  const partial = revoke(root, step)
  if (entries.includes('approval.json')) await appendEvent(root, { type: 'approval-revoked', why }, { now, step })
  return { kind: 'ended', cycle: await archiveCycle(root, partial, false, { now, step }) }
}

/** Where the archive cannot be made, the approval is removed all the same: it must not outlive its cycle. */
function revoke(root: string, step: Step): string {
  try {
    const partial = makePartial(root, step)
    if (lstatEntry(root, reviewPaths.approval).kind === 'entry') moveInto(root, partial, reviewPaths.approval, step)
    syncFolder(join(root, partial))
    syncFolder(join(root, reviewDir))
    return partial
  } catch (error) {
    if (lstatEntry(root, reviewPaths.approval).kind === 'entry') {
      rmSync(join(root, reviewPaths.approval), { recursive: true, force: true })
    }
    throw error
  }
}

function makePartial(root: string, step: Step): string {
  ensureReviewDir(root, reviewPaths.history, step)
  const partial = `${cyclePath(nextCycle(root))}.partial`
  step(`make ${partial}`)
  try {
    mkdirSync(join(root, partial), { mode: 0o700 })
  } catch (error) {
    throw new StoreError(partial, `cannot be made (${errnoOf(error)})`, undefined, error)
  }
  syncFolder(join(root, reviewPaths.history))
  return partial
}
