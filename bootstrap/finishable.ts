import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
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
import { printable } from '../src/text/clean.ts'
import { shellWord } from '../src/text/shell-word.ts'
import { throwIfAnyMoved, worktreesCalled } from './find-worktree.ts'
import { listPendingRemovals, type PendingRemoval, readPendingRemoval } from './remove-worktree.ts'

/** The files that would be lost, as `git status` marks them. Without the plan, which goes into the archive. */
export async function uncommittedFiles(root: string): Promise<string[]> {
  const flags = ['--porcelain', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=none']
  const entry = await git(root, ['status', ...flags], { timeoutMs: 300_000 })
  const isArchived = readRegular(root, planPath, maxPlanBytes).kind === 'read'
  const records = entry.split('\0').filter((record) => record !== '')
  return isArchived ? records.filter((record) => record.slice(3) !== planPath) : records
}

/** A worktree that bootstrap opened. */
export type Finishable = {
  repository: Repository
  gitDirs: GitDirs
  listed: WorktreeEntry
  root: string
  opened: OpenedWorktree
}

export type Target =
  | ({ kind: 'worktree' } & Finishable)
  /** An earlier run was interrupted while it removed the worktree. */
  | { kind: 'interrupted'; repository: Repository; pending: PendingRemoval }

/** The worktree that is named, or the one of the working directory. */
export async function findFinishable(cwd: string, named: string | null): Promise<Target> {
  const dir = named === null ? resolveLinks(cwd) : await findNamed(cwd, named)
  const exists = unlessAbsent(() => statSync(dir), null) !== null
  const repository = await findRepository(exists ? dir : cwd)
  const pending = readPendingRemoval(repository.commonDir, dir)
  if (pending !== null && (existsSync(pending.moved) || !exists)) return { kind: 'interrupted', repository, pending }
  const listed = await listWorktrees(repository.dir)
  const { checkout } = repository
  const gitDirs = checkout === null ? null : readGitDirs(checkout)
  const here = listed.find(({ path }) => checkout !== null && resolveLinks(path) === resolveLinks(checkout))
  if (named !== null && !exists) {
    throwIfAnyMoved(repository, listed)
    throw isGoneError(dir, listed, repository)
  }
  if (checkout === null || gitDirs === null || here === undefined || here === listed[0])
    throw isNoWorktreeError(checkout, listed, repository)
  if (named !== null && dir !== resolveLinks(checkout))
    throw new UserError(
      `${dir} is a folder in the worktree ${checkout}.`,
      `Name the worktree: plan-gate finish ${shellWord(checkout)}`,
    )
  const opened = readOpenedWorktree(gitDirs.own)
  throwIfUnreadable('plan-gate/opened.json', opened)
  if (opened.kind !== 'read') throw notOpenedByUsError(checkout, gitDirs)
  return { kind: 'worktree', repository, gitDirs, listed: here, root: checkout, opened: opened.value }
}

/** The folder of what is named: one that an interrupted run has left is known by its record alone. */
async function findNamed(cwd: string, name: string): Promise<string> {
  const dir = resolveLinks(resolve(cwd, name))
  const repository = await findRepository(cwd).catch(() => null)
  // From elsewhere, a worktree is only known by its folder.
  if (repository === null) return dir
  const listed = (await listWorktrees(repository.dir)).slice(1)
  const left = listPendingRemovals(repository.commonDir).map((pending) => ({
    path: pending.dir,
    branch: pending.branch?.name ?? null,
  }))
  const paths = worktreesCalled(name, cwd, [...listed, ...left], repository).map(({ path }) => resolveLinks(path))
  const [only = dir, ...others] = new Set(paths)
  if (others.length === 0) return only
  throw new UserError(
    `Several worktrees are called ${JSON.stringify(name)}:\n${[only, ...others].map((path) => `  ${printable(path, 4_096)}`).join('\n')}`,
    `Name the folder of one: plan-gate finish ${shellWord(only)}`,
  )
}

function isGoneError(dir: string, listed: readonly WorktreeEntry[], repository: Repository): UserError {
  const isKnown = listed.some(({ path }) => resolveLinks(path) === dir)
  return isKnown
    ? new UserError(
        `The folder of the worktree ${dir} is gone.`,
        `Create it again (plan-gate bootstrap --dir ${shellWord(dir)}), or remove git's entry: git worktree prune`,
      )
    : new UserError(`There is no ${dir}.`, listFinishable(listed, repository))
}

const isNoWorktreeError = (
  checkout: string | null,
  listed: readonly WorktreeEntry[],
  repository: Repository,
): UserError =>
  checkout === null
    ? new UserError('This is a bare repository, not a worktree.', listFinishable(listed, repository))
    : new UserError(
        `${checkout} is the main checkout, which finish does not remove.`,
        `${listFinishable(listed, repository)} (plan-gate uninstall takes the gate out of the main checkout.)`,
      )

/** The next step: the worktrees that can be finished. */
function listFinishable(listed: readonly WorktreeEntry[], { commonDir }: Repository): string {
  const opened = listed.flatMap(({ path }) => {
    const gitDirs = readGitDirs(path)
    return gitDirs !== null && readOpenedWorktree(gitDirs.own).kind === 'read' ? [path] : []
  })
  const names = [...new Set([...opened, ...listPendingRemovals(commonDir).map(({ dir }) => dir)])]
  return names.length === 0
    ? 'Bootstrap has opened no worktree here.'
    : `Name the worktree: ${names.map((path) => `plan-gate finish ${shellWord(path)}`).join(', or ')}`
}

const notOpenedByUsError = (checkout: string, { own }: GitDirs): UserError =>
  readInstallRecord(own).kind === 'read'
    ? new UserError(
        `The worktree ${checkout} was not opened by bootstrap, so finish does not remove it.`,
        'plan-gate uninstall takes the gate out of it; git worktree remove then removes it.',
      )
    : new UserError(
        `There is no gate in ${checkout}, and bootstrap did not open it.`,
        'If you want it removed: git worktree remove.',
      )
