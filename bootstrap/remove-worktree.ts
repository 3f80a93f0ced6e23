import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { refreshExcludes } from '../src/install/excludes.ts'
import { errnoOf, sweepTemporaries, writeWhole } from '../src/state/files.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { asFailure, git } from '../src/system/git.ts'
import { listWorktrees, type Repository, resolveLinks } from '../src/system/repository.ts'
import { sha256 } from '../src/system/sha256.ts'

/** What is being taken away, kept in the common git directory until it is gone. Written when nothing can be lost any more. */
export type PendingRemoval = {
  dir: string
  /** Where the folder is moved first: in one step, and to a name that nobody else uses. */
  moved: string
  /** The branch that goes, and where it was. */
  branch: { name: string; head: string } | null
  archive: string
}

const prefix = 'plan-gate-finishing-'

const nameOf = (dir: string): string => `${prefix}${sha256(dir).slice(0, 16)}.json`

export function writePendingRemoval(commonDir: string, finishing: PendingRemoval): void {
  const name = nameOf(finishing.dir)
  sweepTemporaries(commonDir, '.', name)
  writeWhole(commonDir, name, `${JSON.stringify(finishing)}\n`)
}

const deletePendingRemoval = (commonDir: string, dir: string): void =>
  rmSync(join(commonDir, nameOf(dir)), { force: true })

export const listPendingRemovals = (commonDir: string): PendingRemoval[] =>
  readdirSync(commonDir)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
    .flatMap((name) => readRecord(join(commonDir, name)) ?? [])

export const readPendingRemoval = (commonDir: string, dir: string): PendingRemoval | null =>
  readRecord(join(commonDir, nameOf(dir)))

function readRecord(path: string): PendingRemoval | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PendingRemoval
  } catch {
    return null
  }
}

/**
 * Takes the worktree away. The folder is moved in one step, so that it is there as a whole or not at all; whatever is cut
 * short after that is finished by the next run, which goes by the record. Answers what a person should know.
 */
export async function removeWorktree(repository: Repository, finishing: PendingRemoval): Promise<string[]> {
  const { commonDir } = repository
  const gitDirs = { own: commonDir, common: commonDir, mainRoot: null }
  // Once before: what it needs is then loaded, should this very program lie in the folder that goes.
  await refreshExcludes(gitDirs)
  writePendingRemoval(commonDir, finishing)
  moveAside(commonDir, finishing)
  return resumeRemoval(repository, finishing)
}

/** Each step can be done again. */
export async function resumeRemoval(repository: Repository, finishing: PendingRemoval): Promise<string[]> {
  const { commonDir } = repository
  const notes = await forgetEntry(commonDir, finishing.dir)
  await refreshExcludes({ own: commonDir, common: commonDir, mainRoot: null })
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
      `${dir} cannot be moved away (${errnoOf(error)}), so it stays as it is. The reviews are archived.`,
      'Close what is open there, or see who may write to the folder above it; then try again.',
      1,
    )
  }
}

/** git's own record of the worktree, and with it ours. A folder that is there by now is another one. */
async function forgetEntry(commonDir: string, dir: string): Promise<string[]> {
  if (unlessAbsent(() => statSync(dir), null) !== null) return []
  const listed = await listWorktrees(commonDir)
  const entry = listed.find(({ path }) => resolveLinks(path) === dir)
  if (entry === undefined) return []
  const failure = await git(commonDir, ['worktree', 'remove', '--force', entry.path]).then(() => null, asFailure)
  if (failure === null) return []
  if (failure.status !== null) return [`git keeps its entry of the worktree (${failure.stderr}): git worktree prune`]
  // The record of what is left to do stays, and the next run does it.
  throw new UserError(
    `The worktree is gone, but git's entry of it is not: ${failure.message}`,
    'Put that right, then run the same command again.',
    1,
  )
}

/** Only where it still is what was looked at. With `update-ref`, because that is decided and done in one step. */
async function deleteBranch(commonDir: string, { branch, dir }: PendingRemoval): Promise<string[]> {
  if (branch === null) return []
  const ref = `refs/heads/${branch.name}`
  const now = await git(commonDir, ['rev-parse', '--verify', '--quiet', ref]).catch(asFailure)
  if (typeof now !== 'string') return now.status === null ? [`${branch.name} is kept: ${now.message}`] : []
  const holder = (await listWorktrees(commonDir)).find((worktree) => worktree.branch === branch.name)
  if (holder !== undefined && resolveLinks(holder.path) !== dir)
    return [`${branch.name} is kept: it is checked out in ${holder.path}.`]
  if (holder !== undefined) return [`${branch.name} is kept: ${dir} is on it again.`]
  const failure = await git(commonDir, ['update-ref', '-d', ref, branch.head]).then(() => null, asFailure)
  if (failure !== null) return [`${branch.name} is kept: it has changed meanwhile (${failure.stderr}).`]
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
