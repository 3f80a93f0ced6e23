import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { InstalledSettings } from '../src/install/settings.ts'
import type { OpenedWorktree } from '../src/schemas/records.ts'
import { throwIfUnreadable } from '../src/state/files.ts'
import { readInstallRecord, readOpenedWorktree } from '../src/state/records.ts'
import { UserError } from '../src/system/errors.ts'
import { type GitDirs, readGitDirs } from '../src/system/git-dirs.ts'
import {
  findCheckout,
  findRepository,
  listWorktrees,
  movedWorktrees,
  type Repository,
  resolveLinks,
  type WorktreeEntry,
} from '../src/system/repository.ts'
import { printable } from '../src/text/clean.ts'
import { shellWord } from '../src/text/own-commands.ts'
import { listPendingRemovals, type PendingRemoval } from './worktree.ts'

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

export async function findFinishable(cwd: string, named: string | null): Promise<Target> {
  const dir = named === null ? resolveLinks(cwd) : await findNamed(cwd, named)
  const exists = existsSync(dir)
  const repository = await findRepository(exists ? dir : cwd)
  const { checkout, commonDir } = repository
  const pending = listPendingRemovals(commonDir).find((removal) => removal.dir === dir)
  if (pending !== undefined && (existsSync(pending.moved) || !exists))
    return { kind: 'interrupted', repository, pending }
  const all = await listWorktrees(repository.dir)
  const atFolder = (path: string) => all.find((worktree) => resolveLinks(worktree.path) === resolveLinks(path))
  if (!exists) {
    throwIfAnyMoved(repository, all)
    throw atFolder(dir) === undefined
      ? new UserError(`There is no ${dir}.`, listFinishable(all, repository))
      : new UserError(
          `The folder of the worktree ${dir} is gone.`,
          `Create it again (plan-gate bootstrap --dir ${shellWord(dir)}), or remove git's entry: git worktree prune`,
        )
  }
  if (checkout === null)
    throw new UserError('This is a bare repository, not a worktree.', listFinishable(all, repository))
  const gitDirs = readGitDirs(checkout)
  const listed = atFolder(checkout)
  if (gitDirs === null || listed === undefined || listed === all[0])
    throw new UserError(
      `${checkout} is the main checkout, which finish does not remove.`,
      `${listFinishable(all, repository)} (plan-gate uninstall takes the gate out of the main checkout.)`,
    )
  if (named !== null && dir !== resolveLinks(checkout))
    throw new UserError(
      `${dir} is a folder in the worktree ${checkout}.`,
      `Name the worktree: plan-gate finish ${shellWord(checkout)}`,
    )
  const opened = readOpenedWorktree(gitDirs.own)
  throwIfUnreadable('plan-gate/opened.json', opened)
  if (opened.kind === 'read')
    return { kind: 'worktree', repository, gitDirs, listed, root: resolveLinks(checkout), opened: opened.value }
  throw readInstallRecord(gitDirs.own).kind === 'read'
    ? new UserError(
        `The worktree ${checkout} was not opened by bootstrap, so finish does not remove it.`,
        'plan-gate uninstall takes the gate out of it; git worktree remove then removes it.',
      )
    : new UserError(
        `There is no gate in ${checkout}, and bootstrap did not open it.`,
        'If you want it removed: git worktree remove.',
      )
}

/** The folder of what is named: one that an interrupted run has left is known by its record alone. */
async function findNamed(cwd: string, name: string): Promise<string> {
  const dir = resolveLinks(resolve(cwd, name))
  const repository = await findRepository(cwd).catch(() => null)
  // From elsewhere, a worktree is only known by its folder.
  if (repository === null) return dir
  const listed = (await listWorktrees(repository.dir)).slice(1)
  const pending = listPendingRemovals(repository.commonDir)
  const left = pending.map(({ dir, branch }) => ({ path: dir, branch: branch?.name ?? null }))
  const called = worktreesCalled(name, cwd, [...listed, ...left], repository)
  const [only = dir, ...others] = new Set(called.map(({ path }) => resolveLinks(path)))
  if (others.length === 0) return only
  const list = [only, ...others].map((path) => `  ${printable(path, 4_096)}`).join('\n')
  throw new UserError(
    `Several worktrees are called ${JSON.stringify(name)}:\n${list}`,
    `Name the folder of one: plan-gate finish ${shellWord(only)}`,
  )
}

/** The next step: the worktrees that can be finished. */
function listFinishable(all: readonly WorktreeEntry[], { commonDir }: Repository): string {
  const opened = all.flatMap(({ path }) => {
    const gitDirs = readGitDirs(path)
    return gitDirs !== null && readOpenedWorktree(gitDirs.own).kind === 'read' ? [path] : []
  })
  const names = new Set([...opened, ...listPendingRemovals(commonDir).map(({ dir }) => dir)])
  const commands = [...names].map((path) => `plan-gate finish ${shellWord(path)}`)
  return names.size === 0 ? 'Bootstrap has opened no worktree here.' : `Name the worktree: ${commands.join(', or ')}`
}

type Gated = { root: string; gitDirs: GitDirs; settings: InstalledSettings }

/** The worktree with a gate that is named, or the one of the working directory, or the only one. */
export async function findGated(cwd: string, name: string | null): Promise<Gated> {
  const repository = await findRepository(cwd)
  const here = repository.checkout === null ? null : gatedAt(repository.checkout)
  if (name === null && here !== null) return here
  const all = await listWorktrees(repository.dir)
  const gated = gatedAmong(all)
  const called =
    name === null ? null : worktreesCalled(name, cwd, all, repository).map(({ path }) => resolveLinks(path))
  const chosen = called === null ? gated : gated.filter(({ root }) => called.includes(root))
  const [only] = chosen
  if (only !== undefined && chosen.length === 1) return only
  throwIfAnyMoved(repository, all)
  const list = gated.map(({ root }) => `  ${printable(root, 4_096)}`).join('\n')
  if (gated.length === 0)
    throw new UserError('There is no worktree with a gate here.', 'Open one: plan-gate bootstrap --name <name>.')
  throw new UserError(
    `${name === null ? 'There are several worktrees with a gate' : chosen.length === 0 ? `No worktree with a gate is called ${JSON.stringify(name)}` : `Several worktrees are called ${JSON.stringify(name)}`}:\n${list}`,
    'Name the folder of one: plan-gate open <folder>.',
  )
}

export async function isAmbiguous(cwd: string): Promise<boolean> {
  const { checkout, dir } = await findRepository(cwd)
  if (checkout !== null && gatedAt(checkout) !== null) return false
  return gatedAmong(await listWorktrees(dir)).length > 1
}

/** Where a worktree is not found: because it, or the main checkout, was moved? */
export function throwIfAnyMoved({ home, commonDir }: Repository, all: readonly WorktreeEntry[]): void {
  const moved = movedWorktrees(
    home,
    commonDir,
    all.slice(1).map(({ path }) => path),
  )
  if (moved !== null) throw moved
}

/** By its folder, which is unambiguous; else by the name that bootstrap was given, the folder's name or the branch. */
function worktreesCalled<Named extends Pick<WorktreeEntry, 'path' | 'branch'>>(
  name: string,
  cwd: string,
  all: readonly Named[],
  repository: Pick<Repository, 'name'>,
): Named[] {
  const dir = resolveLinks(resolve(cwd, name))
  const there = all.filter(({ path }) => resolveLinks(path) === dir)
  return there.length > 0 ? there : all.filter((each) => namesOf(each, repository).includes(name))
}

function namesOf({ path, branch }: Pick<WorktreeEntry, 'path' | 'branch'>, repository: Pick<Repository, 'name'>) {
  const folder = basename(path)
  const prefix = `${repository.name}-`
  return [
    folder,
    ...(folder.startsWith(prefix) ? [folder.slice(prefix.length)] : []),
    ...(branch === null ? [] : [branch, basename(branch)]),
  ]
}

const gatedAmong = (all: readonly WorktreeEntry[]): Gated[] =>
  all.flatMap(({ path }) => gatedAt(resolveLinks(path)) ?? [])

function gatedAt(root: string): Gated | null {
  const gitDirs = readGitDirs(root)
  const record = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  return gitDirs === null || record?.kind !== 'read' ? null : { root, gitDirs, settings: record.value.settings }
}

/** The gated checkout of a folder. Commands about a plan refuse where there is no gate, and name where there is one. */
export async function findGatedCheckout(cwd: string): Promise<{ root: string; gitDirs: GitDirs }> {
  const here = await findCheckout(cwd)
  if (readInstallRecord(here.gitDirs.own).kind !== 'absent') return here
  const all = await listWorktrees(here.root)
  throwIfAnyMoved(await findRepository(cwd), all)
  const gated = gatedAmong(all)
  throw new UserError(
    gated.length === 0
      ? `There is no gate in ${here.root}.`
      : `There is no gate in ${here.root}. There is one in:\n${gated.map(({ root }) => `  ${printable(root, 4_096)}`).join('\n')}`,
    gated.length === 0
      ? 'Open a worktree that has one: plan-gate bootstrap --name <name>.'
      : 'Go to one of them (cd), and run the same command there.',
  )
}
