import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { shellWord } from '../../src/protocol/shell-word.ts'
import type { OpenedWorktree } from '../../src/schemas/opened-worktree.ts'
import { readInstallRecord } from '../../src/store/install-record.ts'
import { readOpenedWorktree } from '../../src/store/opened-worktree.ts'
import { throwIfUnreadable } from '../../src/store/refuse-unread.ts'
import { type GitDirs, readGitDirs } from '../../src/system/git-dirs.ts'
import { unlessAbsent } from '../../src/system/system-failure.ts'
import { UserError } from '../../src/system/user-error.ts'
import { findRepository, type Listed, listWorktrees, type Repository } from '../find-repository.ts'
import { realOrSame } from '../real-or-same.ts'
import { type Finishing, listFinishing, readFinishing } from './finishing-record.ts'

/** A worktree that bootstrap opened, and what is known of it. */
export type Finishable = {
  repository: Repository
  gitDirs: GitDirs
  listed: Listed
  root: string
  opened: OpenedWorktree
}

export type Target =
  | ({ kind: 'worktree' } & Finishable)
  /** An earlier run was cut short while it took the worktree away. */
  | { kind: 'begun'; repository: Repository; begun: Finishing }

/** The worktree that is meant: the one that is named, or the one that the user stands in. */
export async function findFinishable(cwd: string, named: string | null): Promise<Target> {
  const dir = realOrSame(resolve(cwd, named ?? '.'))
  const isThere = unlessAbsent(() => statSync(dir), null) !== null
  const repository = await findRepository(isThere ? dir : cwd)
  const begun = readFinishing(repository.commonDir, dir)
  if (begun !== null && (existsSync(begun.moved) || !isThere)) return { kind: 'begun', repository, begun }
  const listed = await listWorktrees(repository.dir)
  const { checkout } = repository
  const gitDirs = checkout === null ? null : readGitDirs(checkout)
  const here = listed.find(({ path }) => checkout !== null && realOrSame(path) === realOrSame(checkout))
  if (named !== null && !isThere) throw isGone(dir, listed, repository)
  if (checkout === null || gitDirs === null || here === undefined || here === listed[0])
    throw isNoWorktree(checkout, listed, repository)
  if (named !== null && dir !== realOrSame(checkout))
    throw new UserError(
      `${dir} is a folder in the worktree ${checkout}.`,
      `Name that: plan-gate finish ${shellWord(checkout)}`,
    )
  const opened = readOpenedWorktree(gitDirs.own)
  throwIfUnreadable('plan-gate/opened.json', opened)
  if (opened.kind !== 'read') throw isNotOurs(checkout, gitDirs)
  return { kind: 'worktree', repository, gitDirs, listed: here, root: checkout, opened: opened.value }
}

function isGone(dir: string, listed: readonly Listed[], repository: Repository): UserError {
  const isKnown = listed.some(({ path }) => realOrSame(path) === dir)
  return isKnown
    ? new UserError(
        `The folder of the worktree ${dir} is gone, and what was in it.`,
        `Bring it back (plan-gate bootstrap --dir ${shellWord(dir)}), or forget it: git worktree prune`,
      )
    : new UserError(`There is no ${dir}.`, nameOne(listed, repository))
}

const isNoWorktree = (checkout: string | null, listed: readonly Listed[], repository: Repository): UserError =>
  checkout === null
    ? new UserError('This is a bare repository, and no worktree of it.', nameOne(listed, repository))
    : new UserError(
        `${checkout} is the main checkout, which stays.`,
        `${nameOne(listed, repository)} (The gate goes out of the main checkout with plan-gate uninstall.)`,
      )

/** Which there are to name. */
function nameOne(listed: readonly Listed[], { commonDir }: Repository): string {
  const opened = listed.flatMap(({ path }) => {
    const gitDirs = readGitDirs(path)
    return gitDirs !== null && readOpenedWorktree(gitDirs.own).kind === 'read' ? [path] : []
  })
  const names = [...new Set([...opened, ...listFinishing(commonDir).map(({ dir }) => dir)])]
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
