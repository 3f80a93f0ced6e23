import { mkdirSync, renameSync } from 'node:fs'
import { join, posix } from 'node:path'
import { appendEvent } from './append-event.ts'
import { pathExists } from './check-folder.ts'
import { ensureReviewDir } from './ensure-review-dir.ts'
import { listCycles } from './history.ts'
import { listNames } from './list-names.ts'
import { cyclePath, reviewDir, reviewPaths } from './review-paths.ts'
import { listRevisions } from './revisions.ts'
import type { Step } from './step.ts'
import { errnoOf, StoreError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'
import { readCounter, writeCounter } from './version-counter.ts'

export type ArchiveOptions = { now: () => Date; step: Step }

/** What a cycle leaves behind in `.claude/review`, whatever kind of entry it is; the approval first. */
export const cycleEntries = (root: string): string[] =>
  listNames(root, reviewDir).filter((name) => /^approval\.(?:revoked\.)?json$|^passes$|^plan_v\d+\./.test(name))

/** A folder for the next cycle of the history; under its name everything in it is taken for half done. */
export function beginArchive(root: string, step: Step): string {
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

/**
 * Finishes `history/cycle-NNNN.partial`. Each step can be done again, so it does not matter where a crash came between;
 * only the event may then be there twice, rather than not at all.
 */
export async function archiveCycle(
  root: string,
  partial: string,
  recovered: boolean,
  options: ArchiveOptions,
): Promise<number> {
  const { now, step } = options
  if (pathExists(root, reviewPaths.revoked)) moveInto(root, partial, reviewPaths.revoked, step, 'approval.json')
  // One that is there beside the revoked one was written by hand since.
  const isRevoked = hasApproval(root, partial)
  const entries = cycleEntries(root).filter((name) => name !== 'approval.json' || !isRevoked)
  for (const name of entries) moveInto(root, partial, `${reviewDir}/${name}`, step)
  syncFolder(join(root, partial))
  syncFolder(join(root, reviewDir))
  resetCounter(root, step)

  const cycle = numberFor(root, partial)
  const revisions = listRevisions(root, partial).length
  const approved = hasApproval(root, partial)
  await appendEvent(root, { type: 'cycle-archived', cycle, revisions, approved, recovered }, { now, step })
  move(root, partial, cyclePath(cycle), step)
  syncFolder(join(root, reviewPaths.history))
  return cycle
}

const hasApproval = (root: string, folder: string): boolean => pathExists(root, `${folder}/approval.json`)

/** A name that is taken, which only meddling can bring about, must not cost what was archived under it. */
export function moveInto(
  root: string,
  folder: string,
  path: string,
  step: Step,
  name: string = posix.basename(path),
): void {
  let target = `${folder}/${name}`
  for (let n = 2; pathExists(root, target); n += 1) target = `${folder}/${name}.${n}`
  move(root, path, target, step)
}

export function resetCounter(root: string, step: Step): void {
  const { value, why } = readCounter(root)
  if (value !== 0 || why !== null) writeCounter(root, 0, step)
}

function numberFor(root: string, partial: string): number {
  const own = listCycles(root).find(({ folder }) => folder === partial)?.cycle ?? 1
  return pathExists(root, cyclePath(own)) ? nextCycle(root) : own
}

const nextCycle = (root: string): number => Math.max(0, ...listCycles(root).map(({ cycle }) => cycle)) + 1

function move(root: string, from: string, to: string, step: Step): void {
  step(`move ${from}`)
  try {
    renameSync(join(root, from), join(root, to))
  } catch (error) {
    throw new StoreError(from, `cannot be moved to ${to} (${errnoOf(error)})`, undefined, error)
  }
}
