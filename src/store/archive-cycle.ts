import { readdirSync, renameSync } from 'node:fs'
import { join, posix } from 'node:path'
import { appendEvent } from './append-event.ts'
import { lstatEntry } from './check-folder.ts'
import { listCycles } from './history.ts'
import { cyclePath, reviewDir, reviewPaths } from './review-paths.ts'
import { listRevisions } from './revisions.ts'
import type { Step } from './step.ts'
import { errnoOf, StoreError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'
import { readCounter, writeCounter } from './version-counter.ts'

export type ArchiveOptions = { now: () => Date; step: Step }

/** What a cycle leaves behind in `.claude/review`, whatever kind of entry it is; the approval first. */
export const cycleEntries = (root: string): string[] =>
  readdirSync(join(root, reviewDir))
    .filter((name) => name === 'approval.json' || name === 'passes' || /^plan_v\d+\./.test(name))
    .sort()

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

const hasApproval = (root: string, folder: string): boolean =>
  lstatEntry(root, `${folder}/approval.json`).kind === 'entry'

/** A name that is taken, which only meddling can bring about, must not cost what was archived under it. */
export function moveInto(root: string, folder: string, path: string, step: Step): void {
  let target = `${folder}/${posix.basename(path)}`
  for (let n = 2; lstatEntry(root, target).kind === 'entry'; n += 1) target = `${folder}/${posix.basename(path)}.${n}`
  move(root, path, target, step)
}

export function resetCounter(root: string, step: Step): void {
  const { value, why } = readCounter(root)
  if (value !== 0 || why !== null) writeCounter(root, 0, step)
}

function numberFor(root: string, partial: string): number {
  const own = listCycles(root).find(({ folder }) => folder === partial)?.cycle ?? 1
  return lstatEntry(root, cyclePath(own)).kind === 'absent' ? own : nextCycle(root)
}

export const nextCycle = (root: string): number => Math.max(0, ...listCycles(root).map(({ cycle }) => cycle)) + 1

function move(root: string, from: string, to: string, step: Step): void {
  step(`move ${from}`)
  try {
    renameSync(join(root, from), join(root, to))
  } catch (error) {
    throw new StoreError(from, `cannot be moved to ${to} (${errnoOf(error)})`, undefined, error)
  }
}
