import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { shellWord } from '../src/install/hook-entries.ts'
import type { OpenedWorktree } from '../src/schemas/records.ts'
import { readRegular, throwIfUnreadable } from '../src/state/files.ts'
import { maxPlanBytes, planPath } from '../src/state/own-paths.ts'
import { readInstallRecord, readOpenedWorktree } from '../src/state/records.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { git } from '../src/system/git.ts'
import { type GitDirs, readGitDirs } from '../src/system/git-dirs.ts'
import {
  findRepository,
  listWorktrees,
  type Repository,
  resolveLinks,
  type WorktreeEntry,
} from '../src/system/repository.ts'
import { listPendingRemovals, type PendingRemoval, readPendingRemoval } from './remove-worktree.ts'

/**
 * The files that would be lost, as `git status` marks them. The plan is not among them: it goes into the archive byte
 * for byte.
 */
export async function uncommitted(root: string): Promise<string[]> {
  const flags = ['--porcelain', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=none']
  const listed = await git(root, ['status', ...flags], { timeoutMs: 300_000 })
  const isArchived = readRegular(root, planPath, maxPlanBytes).kind === 'read'
  const records = listed.split('\0').filter((record) => record !== '')
  return isArchived ? records.filter((record) => record.slice(3) !== planPath) : records
}

/** What git ignores and nobody would miss, or nobody would notice: folders as a whole, our own left out. */
export async function ignoredIn(root: string): Promise<string[]> {
  const flags = ['--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const listed = await git(root, ['ls-files', ...flags])
  return listed.split('\0').filter((path) => path !== '' && !path.startsWith('.claude/'))
}

/** A worktree that bootstrap opened, and what is known of it. */
export type Finishable = {
  repository: Repository
  gitDirs: GitDirs
  listed: WorktreeEntry
  root: string
  opened: OpenedWorktree
}

export type Target =
  | ({ kind: 'worktree' } & Finishable)
  /** An earlier run was cut short while it took the worktree away. */
  | { kind: 'begun'; repository: Repository; begun: PendingRemoval }

/** The worktree that is meant: the one that is named, or the one that the user stands in. */
export async function findFinishable(cwd: string, named: string | null): Promise<Target> {
  const dir = resolveLinks(resolve(cwd, named ?? '.'))
  const isThere = unlessAbsent(() => statSync(dir), null) !== null
  const repository = await findRepository(isThere ? dir : cwd)
  const begun = readPendingRemoval(repository.commonDir, dir)
  if (begun !== null && (existsSync(begun.moved) || !isThere)) return { kind: 'begun', repository, begun }
  const listed = await listWorktrees(repository.dir)
  const { checkout } = repository
  const gitDirs = checkout === null ? null : readGitDirs(checkout)
  const here = listed.find(({ path }) => checkout !== null && resolveLinks(path) === resolveLinks(checkout))
  if (named !== null && !isThere) throw isGone(dir, listed, repository)
  if (checkout === null || gitDirs === null || here === undefined || here === listed[0])
    throw isNoWorktree(checkout, listed, repository)
  if (named !== null && dir !== resolveLinks(checkout))
    throw new UserError(
      `${dir} is a folder in the worktree ${checkout}.`,
      `Name that: plan-gate finish ${shellWord(checkout)}`,
    )
  const opened = readOpenedWorktree(gitDirs.own)
  throwIfUnreadable('plan-gate/opened.json', opened)
  if (opened.kind !== 'read') throw isNotOurs(checkout, gitDirs)
  return { kind: 'worktree', repository, gitDirs, listed: here, root: checkout, opened: opened.value }
}

function isGone(dir: string, listed: readonly WorktreeEntry[], repository: Repository): UserError {
  const isKnown = listed.some(({ path }) => resolveLinks(path) === dir)
  return isKnown
    ? new UserError(
        `The folder of the worktree ${dir} is gone, and what was in it.`,
        `Bring it back (plan-gate bootstrap --dir ${shellWord(dir)}), or forget it: git worktree prune`,
      )
    : new UserError(`There is no ${dir}.`, nameOne(listed, repository))
}

const isNoWorktree = (checkout: string | null, listed: readonly WorktreeEntry[], repository: Repository): UserError =>
  checkout === null
    ? new UserError('This is a bare repository, and no worktree of it.', nameOne(listed, repository))
    : new UserError(
        `${checkout} is the main checkout, which stays.`,
        `${nameOne(listed, repository)} (The gate goes out of the main checkout with plan-gate uninstall.)`,
      )

/** Which there are to name. */
function nameOne(listed: readonly WorktreeEntry[], { commonDir }: Repository): string {
  const opened = listed.flatMap(({ path }) => {
    const gitDirs = readGitDirs(path)
    return gitDirs !== null && readOpenedWorktree(gitDirs.own).kind === 'read' ? [path] : []
  })
  const names = [...new Set([...opened, ...listPendingRemovals(commonDir).map(({ dir }) => dir)])]
  return names.length === 0
    ? 'There is no worktree here that bootstrap has opened.'
    : `Name the worktree: ${names.map((path) => `plan-gate finish ${shellWord(path)}`).join(', or ')}`
}

const isNotOurs = (checkout: string, { own }: GitDirs): UserError =>
  readInstallRecord(own).kind === 'read'
    ? new UserError(
        `The worktree ${checkout} was not opened by bootstrap, so it is not plan-gate's to remove.`,
        'plan-gate uninstall takes the gate out of it; git worktree remove then removes it.',
      )
    : new UserError(
        `There is no gate in ${checkout}, and bootstrap did not open it.`,
        'If you want it removed: git worktree remove.',
      )
