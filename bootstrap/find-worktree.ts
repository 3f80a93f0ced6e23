import { basename, resolve } from 'node:path'
import type { InstalledSettings } from '../src/install/settings-audit.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { UserError } from '../src/system/errors.ts'
import { type GitDirs, readGitDirs } from '../src/system/git-dirs.ts'
import { movedWorktrees } from '../src/system/moved.ts'
import {
  findCheckout,
  findRepository,
  listWorktrees,
  type Repository,
  resolveLinks,
  type WorktreeEntry,
} from '../src/system/repository.ts'
import { printable } from '../src/text/clean.ts'

/** A worktree that has a gate. */
export type Gated = { root: string; gitDirs: GitDirs; settings: InstalledSettings }

/** The worktree with a gate that is named, or the one of the working directory, or the only one. */
export async function findGated(cwd: string, name: string | null): Promise<Gated> {
  const repository = await findRepository(cwd)
  const here = repository.checkout === null ? null : gatedAt(repository.checkout)
  if (name === null && here !== null) return here
  const all = await listWorktrees(repository.dir)
  const gated = all.flatMap(({ path }) => gatedAt(resolveLinks(path)) ?? [])
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

/** Whether somebody has to say which one is meant. */
export async function isAmbiguous(cwd: string): Promise<boolean> {
  const { checkout, dir } = await findRepository(cwd)
  if (checkout !== null && gatedAt(checkout) !== null) return false
  return (await listWorktrees(dir)).filter(({ path }) => gatedAt(resolveLinks(path)) !== null).length > 1
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
export function worktreesCalled<Named extends Pick<WorktreeEntry, 'path' | 'branch'>>(
  name: string,
  cwd: string,
  all: readonly Named[],
  repository: Pick<Repository, 'name'>,
): Named[] {
  const dir = resolveLinks(resolve(cwd, name))
  const there = all.filter(({ path }) => resolveLinks(path) === dir)
  return there.length > 0 ? there : all.filter((each) => namesOf(each, repository).includes(name))
}

function namesOf(
  { path, branch }: Pick<WorktreeEntry, 'path' | 'branch'>,
  repository: Pick<Repository, 'name'>,
): string[] {
  const folder = basename(path)
  const prefix = `${repository.name}-`
  return [
    folder,
    ...(folder.startsWith(prefix) ? [folder.slice(prefix.length)] : []),
    ...(branch === null ? [] : [branch, basename(branch)]),
  ]
}

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
  const gated = all.flatMap(({ path }) => gatedAt(resolveLinks(path)) ?? [])
  throw new UserError(
    gated.length === 0
      ? `There is no gate in ${here.root}.`
      : `There is no gate in ${here.root}. There is one in:\n${gated.map(({ root }) => `  ${printable(root, 4_096)}`).join('\n')}`,
    gated.length === 0
      ? 'Open a worktree that has one: plan-gate bootstrap --name <name>.'
      : 'Go to one of them (cd), and run the same command there.',
  )
}
