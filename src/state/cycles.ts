import { mkdirSync, renameSync } from 'node:fs'
import { join, posix } from 'node:path'
import { tryRevoke } from './approval.ts'
import {
  checkFolder,
  ensureReviewDir,
  errnoOf,
  listNames,
  pathExists,
  StoreError,
  sweepTemporaries,
  syncFolder,
} from './files.ts'
import { appendEvent } from './ledger.ts'
import { holdLock, type LockResult } from './lock.ts'
import { cyclePath, reviewDir, reviewPaths } from './own-paths.ts'
import { listRevisions, readCounter, writeCounter } from './revisions.ts'

type CycleEnd = { kind: 'ended'; cycle: number } | { kind: 'nothing-to-end' }

/**
 * Revokes the approval, then moves the cycle's files to `history/cycle-NNNN` and sets the counter to 0. Only inside
 * `withLock`. The Codex thread stays: the reviewer remembers the cycles before. Where the archive cannot be made, the
 * approval goes all the same; where even that cannot be done, it stays for the next call to find: as long as the plan is
 * another one, it holds for nothing.
 */
export async function endCycle(root: string, why: string, now?: () => Date): Promise<CycleEnd> {
  ensureReviewDir(root)
  const entries = cycleEntries(root)
  if (entries.length === 0) {
    resetCounter(root)
    return { kind: 'nothing-to-end' }
  }
  const isApproved = entries.includes('approval.json')
  let partial: string
  try {
    partial = beginArchive(root)
    if (isApproved) moveInto(root, partial, reviewPaths.approval)
    syncFolder(join(root, partial))
    syncFolder(join(root, reviewDir))
  } catch (error) {
    if (isApproved) await tryRevoke(root, why, now)
    throw error
  }
  if (isApproved) await appendEvent(root, { type: 'approval-revoked', why }, now)
  return { kind: 'ended', cycle: await archiveCycle(root, partial, false, now) }
}

/** What a cycle leaves behind in `.claude/review`, whatever kind of entry it is; the approval first. */
const cycleEntries = (root: string): string[] =>
  listNames(root, reviewDir).filter((name) => /^approval\.(?:revoked\.)?json$|^passes$|^plan_v\d+\./.test(name))

/** A folder for the next cycle of the history; under its name everything in it is taken for half done. */
function beginArchive(root: string): string {
  ensureReviewDir(root, reviewPaths.history)
  const partial = `${cyclePath(nextCycle(root))}.partial`
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
async function archiveCycle(root: string, partial: string, recovered: boolean, now?: () => Date): Promise<number> {
  if (pathExists(root, reviewPaths.revoked)) moveInto(root, partial, reviewPaths.revoked, 'approval.json')
  // One that is there beside the revoked one was written by hand since.
  const isRevoked = hasApproval(root, partial)
  const entries = cycleEntries(root).filter((name) => name !== 'approval.json' || !isRevoked)
  for (const name of entries) moveInto(root, partial, `${reviewDir}/${name}`)
  syncFolder(join(root, partial))
  syncFolder(join(root, reviewDir))
  resetCounter(root)

  const cycle = numberFor(root, partial)
  const revisions = listRevisions(root, partial).length
  const approved = hasApproval(root, partial)
  await appendEvent(root, { type: 'cycle-archived', cycle, revisions, approved, recovered }, now)
  move(root, partial, cyclePath(cycle))
  syncFolder(join(root, reviewPaths.history))
  return cycle
}

const hasApproval = (root: string, folder: string): boolean => pathExists(root, `${folder}/approval.json`)

/** A name that is taken, which only meddling can bring about, must not cost what was archived under it. */
function moveInto(root: string, folder: string, path: string, name: string = posix.basename(path)): void {
  let target = `${folder}/${name}`
  for (let n = 2; pathExists(root, target); n += 1) target = `${folder}/${name}.${n}`
  move(root, path, target)
}

function resetCounter(root: string): void {
  const { value, why } = readCounter(root)
  if (value !== 0 || why !== null) writeCounter(root, 0)
}

function numberFor(root: string, partial: string): number {
  const own = listCycles(root).find(({ folder }) => folder === partial)?.cycle ?? 1
  return pathExists(root, cyclePath(own)) ? nextCycle(root) : own
}

const nextCycle = (root: string): number => Math.max(0, ...listCycles(root).map(({ cycle }) => cycle)) + 1

function move(root: string, from: string, to: string): void {
  try {
    renameSync(join(root, from), join(root, to))
  } catch (error) {
    throw new StoreError(from, `cannot be moved to ${to} (${errnoOf(error)})`, undefined, error)
  }
}

/** `folder` is what `readApproval`, `listRevisions` and `readRevision` take. Partial: its archiving was interrupted. */
type Cycle = { cycle: number; folder: string; kind: 'archived' | 'partial' }

/** In ascending order. */
export function listCycles(root: string): readonly Cycle[] {
  const cycles: Cycle[] = []
  for (const name of listNames(root, reviewPaths.history)) {
    const match = /^cycle-(\d{4,9})(\.partial)?$/.exec(name)
    const folder = `${reviewPaths.history}/${name}`
    if (!match || checkFolder(root, folder).kind !== 'folder') continue
    cycles.push({ cycle: Number(match[1]), folder, kind: match[2] ? 'partial' : 'archived' })
  }
  return cycles.sort((a, b) => a.cycle - b.cycle)
}

/**
 * Alone in `.claude/review`, which is first put in order: what killed writers left is swept, a cycle whose end was
 * interrupted is ended. `work` must look at the signal before it writes (see `holdLock`). Allow more than 5 s, or a
 * holder that was killed makes this call busy. Do not nest; the ledger has its own lock and is free inside.
 */
export async function withLock<T>(
  root: string,
  work: (signal: AbortSignal) => T | Promise<T>,
  options: { waitMs: number },
): Promise<LockResult<T>> {
  ensureReviewDir(root)
  return holdLock(
    join(root, reviewPaths.lock),
    async (signal) => {
      sweepTemporaries(root, reviewDir)
      sweepTemporaries(root, reviewPaths.passes)
      await recoverCycle(root)
      return work(signal)
    },
    options,
  )
}

/** Whether the end of a cycle was interrupted. */
export const isEndInterrupted = (root: string): boolean =>
  pathExists(root, reviewPaths.revoked) || listCycles(root).some(({ kind }) => kind === 'partial')

/** Finishes what a crash left of `endCycle`. `withLock` does it before anything else; so no other caller is needed. */
async function recoverCycle(root: string): Promise<void> {
  for (const { folder, kind } of listCycles(root)) {
    if (kind === 'partial') await archiveCycle(root, folder, true)
  }
  if (pathExists(root, reviewPaths.revoked)) await archiveCycle(root, beginArchive(root), true)
}
