import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { refreshExcludes, removeSharedFolder } from '../src/install/excludes.ts'
import { errnoOf, readAnyJson, sweepTemporaries, writeAtomic } from '../src/state/files.ts'
import { forgetGate } from '../src/state/gates.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { asFailure, git } from '../src/system/git.ts'
import { listWorktrees, type Repository, resolveLinks } from '../src/system/repository.ts'
import { sha256 } from '../src/system/sha256.ts'

/** A removal in progress, recorded in the common git directory until it is done. Written once nothing can be lost any more. */
export type PendingRemoval = {
  dir: string
  /** The folder is renamed to this first, which is atomic. */
  moved: string
  branch: { name: string; head: string } | null
  archive: string
}

const prefix = 'plan-gate-finishing-'
const nameOf = (dir: string): string => `${prefix}${sha256(dir).slice(0, 16)}.json`

export function writePendingRemoval(commonDir: string, finishing: PendingRemoval): void {
  const name = nameOf(finishing.dir)
  sweepTemporaries(commonDir, '.', name)
  writeAtomic(commonDir, name, `${JSON.stringify(finishing)}\n`)
}

const deletePendingRemoval = (commonDir: string, dir: string): void =>
  rmSync(join(commonDir, nameOf(dir)), { force: true })

export const listPendingRemovals = (commonDir: string): PendingRemoval[] =>
  readdirSync(commonDir)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
    .flatMap((name) => (readAnyJson(commonDir, name) as PendingRemoval | null) ?? [])

/** The folder is renamed first, so that it is there as a whole or not at all. Returns notes for the user. */
export async function removeWorktree(repository: Repository, finishing: PendingRemoval): Promise<string[]> {
  const { commonDir } = repository
  const gitDirs = { own: commonDir, common: commonDir, mainRoot: null }
  // Called once before: loads its modules, in case this program lies in the folder that is removed.
  await refreshExcludes(gitDirs)
  writePendingRemoval(commonDir, finishing)
  moveAside(commonDir, finishing)
  return resumeRemoval(repository, finishing)
}

/** Every step is idempotent. */
export async function resumeRemoval(repository: Repository, finishing: PendingRemoval): Promise<string[]> {
  const { commonDir } = repository
  const notes = await removeEntry(commonDir, finishing.dir)
  await refreshExcludes({ own: commonDir, common: commonDir, mainRoot: null })
  removeSharedFolder(commonDir)
  forgetGate(finishing.dir)
  notes.push(...(await deleteBranch(commonDir, finishing)))
  removeMoved(finishing)
  deletePendingRemoval(commonDir, finishing.dir)
  return notes
}

function moveAside(commonDir: string, { dir, moved }: PendingRemoval): void {
  try {
    renameSync(dir, moved)
  } catch (error) {
    deletePendingRemoval(commonDir, dir)
    throw new UserError(
      `${dir} cannot be renamed (${errnoOf(error)}), so it was not removed. The reviews are archived.`,
      'Close what is open there, or check the permissions of the folder above it; then try again.',
      1,
    )
  }
}

/** git's entry of the worktree, which holds our records. A folder that exists by now is another worktree. */
async function removeEntry(commonDir: string, dir: string): Promise<string[]> {
  if (unlessAbsent(() => statSync(dir), null) !== null) return []
  const listed = await listWorktrees(commonDir)
  const entry = listed.find(({ path }) => resolveLinks(path) === dir)
  if (entry === undefined) return []
  const failure = await git(commonDir, ['worktree', 'remove', '--force', entry.path]).then(() => null, asFailure)
  if (failure === null) return []
  if (failure.status !== null) return [`git keeps its entry of the worktree (${failure.stderr}): git worktree prune`]
  // The record stays, so the next run resumes.
  throw new UserError(
    `The worktree is gone, but git's entry of it is not: ${failure.message}`,
    'Fix that, then run the same command again.',
    1,
  )
}

/** Only if it has not moved since the checks. `update-ref` compares and deletes atomically. */
async function deleteBranch(commonDir: string, { branch }: PendingRemoval): Promise<string[]> {
  if (branch === null) return []
  const ref = `refs/heads/${branch.name}`
  const now = await git(commonDir, ['rev-parse', '--verify', '--quiet', ref]).catch(asFailure)
  if (typeof now !== 'string') return now.status === null ? [`${branch.name} is kept: ${now.message}`] : []
  const holder = (await listWorktrees(commonDir)).find((worktree) => worktree.branch === branch.name)
  if (holder !== undefined) return [`${branch.name} is kept: it is checked out in ${holder.path}.`]
  const failure = await git(commonDir, ['update-ref', '-d', ref, branch.head]).then(() => null, asFailure)
  if (failure !== null) return [`${branch.name} is kept: it has changed in the meantime (${failure.stderr}).`]
  // Fails where the branch has no configuration.
  await git(commonDir, ['config', '--remove-section', `branch.${branch.name}`]).catch(asFailure)
  return []
}

function removeMoved({ moved }: PendingRemoval): void {
  try {
    rmSync(moved, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    throw new UserError(
      `The worktree is gone, but what was in it cannot be removed from ${moved} (${errnoOf(error)}).`,
      'Remove that folder yourself, then run the same command again.',
      1,
    )
  }
}
