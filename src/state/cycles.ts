/** The cycles in `.claude/review`: the current one under its lock, and the archive of the finished ones. */
import { mkdirSync, renameSync } from 'node:fs'
import { join, posix } from 'node:path'
import { forgetApproval, tryRevoke } from './approval.ts'
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

/**
 * Revokes the approval, then moves the cycle's files to `history/cycle-NNNN` and sets the counter to 0. Only inside
 * `withLock`. The Codex thread stays, because the reviewer remembers earlier cycles. Where the archive cannot be made, the
 * approval is revoked all the same; where even that fails, the next call tries again, and the gate stays closed because the
 * plan's hash differs.
 */
export async function endCycle(root: string, why: string, now?: () => Date) {
  ensureReviewDir(root)
  const entries = cycleEntries(root)
  if (entries.length === 0) {
    resetCounter(root)
    return { kind: 'nothing-to-end' } as const
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
  return { kind: 'ended', cycle: await archiveCycle(root, partial, false, now) } as const
}

/** Names only: an entry of any kind is moved. The approval comes first. */
const cycleEntries = (root: string): string[] =>
  listNames(root, reviewDir).filter((name) => /^approval\.(?:revoked\.)?json$|^passes$|^plan_v\d+\./.test(name))

/** The suffix marks everything in it as incomplete. */
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
 * Finishes `history/cycle-NNNN.partial`. Each step can be repeated after a crash; the event may then be in the ledger
 * twice, rather than not at all.
 */
async function archiveCycle(root: string, partial: string, recovered: boolean, now?: () => Date): Promise<number> {
  forgetApproval(root)
  if (pathExists(root, reviewPaths.revoked)) moveInto(root, partial, reviewPaths.revoked, 'approval.json')
  // An approval.json beside the revoked one was written by hand since.
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

/** Never overwrites: a name can only be taken after somebody has edited the archive. */
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
 * Runs `work` with exclusive access to `.claude/review`, after removing stale temporary files and finishing a cycle whose
 * end was interrupted. `work` must check the signal before it writes (see `holdLock`). With less than 5 s, a holder that was
 * killed makes this call busy. Do not nest; the ledger has its own lock.
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

export const isEndInterrupted = (root: string): boolean =>
  pathExists(root, reviewPaths.revoked) || listCycles(root).some(({ kind }) => kind === 'partial')

/** Finishes an `endCycle` that a crash interrupted. */
async function recoverCycle(root: string): Promise<void> {
  for (const { folder, kind } of listCycles(root)) {
    if (kind === 'partial') await archiveCycle(root, folder, true)
  }
  if (pathExists(root, reviewPaths.revoked)) await archiveCycle(root, beginArchive(root), true)
}
