import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path/posix'
import { orElse, UserError, unlessAbsent } from './errors.ts'
import { asFailure, git, gitOrNull } from './git.ts'
import { firstLine, type GitDirs, readGitDirs } from './git-dirs.ts'

/** `dir`: where git runs; `checkout`: null in a bare repository; `home`: new worktrees are created beside it. */
export type Repository = { dir: string; checkout: string | null; home: string; commonDir: string; name: string }

/** The repository of a folder: also from a subfolder, a linked worktree, a submodule or a bare repository. */
export async function findRepository(cwd: string): Promise<Repository> {
  const flags = ['--is-bare-repository', '--is-inside-git-dir', '--git-dir', '--git-common-dir']
  const facts = await git(cwd, ['rev-parse', '--path-format=absolute', ...flags]).catch(asFailure)
  if (typeof facts !== 'string') throw movedMainError(cwd) ?? notARepository(cwd, facts.stderr)
  const [bare, insideGitDir, gitDir = '', common = '', ...rest] = facts.replace(/\n$/, '').split('\n')
  if (rest.length > 0)
    throw new UserError('The path of this repository contains a newline.', 'Rename that folder, then try again.')
  const commonDir = realpathSync(common)
  const ownDir = realpathSync(gitDir)
  if (bare === 'true') {
    await refuseInsideCheckout(ownDir, ownDir)
    return { dir: commonDir, checkout: null, commonDir, ...bareHome(commonDir) }
  }
  if (insideGitDir === 'true')
    throw new UserError(
      `${cwd} is inside a git directory, not in a checkout.`,
      'Go to the folder of your files, then try again.',
    )
  const checkout = await lineFrom(cwd, ['rev-parse', '--path-format=absolute', '--show-toplevel'])
  if (basename(ownDir) !== '.git' && !leadsTo(checkout, ownDir)) throw isCommittedError(ownDir)
  const isMain = ownDir === commonDir
  if (!isMain) throwIfMoved(checkout, ownDir)
  return { dir: checkout, checkout, commonDir, ...(await homeOf(checkout, commonDir, isMain)) }
}

/**
 * Git takes any folder with a HEAD, `objects` and `refs` for a repository, also one that somebody has committed, and runs
 * the programs that its `config` names. Nobody can commit a `.git`: what one leads to is the user's.
 */
function leadsTo(checkout: string, gitDir: string): boolean {
  const dotGit = join(checkout, '.git')
  return [dotGit, readGitDirs(checkout)?.own ?? dotGit].some(
    (path) => unlessAbsent(() => realpathSync(path), null) === gitDir,
  )
}

/** Of a bare repository, which no `.git` leads to. */
async function refuseInsideCheckout(gitDir: string, below: string): Promise<void> {
  const flags = ['--path-format=absolute', '--is-inside-work-tree', '--git-dir']
  const facts = await git(dirname(below), ['rev-parse', ...flags]).catch(asFailure)
  if (typeof facts !== 'string') {
    if (isNoRepository.test(facts.stderr)) return
    throw isCommittedError(gitDir)
  }
  const [isInside, found = ''] = facts.split('\n')
  const outer = realpathSync(found)
  if (outer === gitDir) return
  if (isInside === 'true') throw isCommittedError(gitDir)
  if (below.startsWith(`${outer}/`)) await refuseInsideCheckout(gitDir, outer)
}

const isCommittedError = (gitDir: string): UserError =>
  new UserError(
    `git takes the folder ${gitDir} for a repository, but it may be committed in another one, and its config may name programs.`,
    'Go to the top of the repository that it is in, or to a worktree of this one.',
  )

const isNoRepository = /^fatal: not a git repository \(or any/

type Home = Pick<Repository, 'home' | 'name'>

/** The main checkout's also from a linked worktree, so that worktrees are not nested. */
async function homeOf(checkout: string, commonDir: string, isMain: boolean): Promise<Home> {
  if ((await lineFrom(checkout, ['--git-dir', commonDir, 'rev-parse', '--is-bare-repository'])) === 'true')
    return bareHome(commonDir)
  const home = isMain ? checkout : await mainCheckout(checkout, commonDir)
  const outer = await lineFrom(home, ['rev-parse', '--show-superproject-working-tree'])
  if (outer === '') return { home, name: basename(home) }
  // Beside a submodule, it would be an untracked folder of the superproject.
  const above = await findRepository(outer)
  return { home: above.home, name: `${above.name}-${basename(home)}` }
}

/** `repo.git` is called `repo`; a `project/.bare` with the worktrees around it is called `project`. */
function bareHome(commonDir: string): Home {
  const name = basename(commonDir)
  return { home: commonDir, name: name.startsWith('.') ? basename(dirname(commonDir)) : name.replace(/\.git$/, '') }
}

/** A submodule's git directory names its checkout; one made with --separate-git-dir does not. */
async function mainCheckout(linked: string, commonDir: string): Promise<string> {
  if (basename(commonDir) === '.git') return dirname(commonDir)
  const worktree = await gitOrNull(linked, ['config', '--file', `${commonDir}/config`, 'core.worktree'])
  const main = worktree === null ? linked : resolve(commonDir, worktree.replace(/\n$/, ''))
  return existsSync(main) ? main : linked
}

const lineFrom = async (cwd: string, args: readonly string[]): Promise<string> =>
  (await git(cwd, args)).replace(/\n$/, '')

function notARepository(cwd: string, message: string): UserError {
  if (/dubious ownership|unsafe repository/.test(message))
    return new UserError(
      `git does not trust the repository at ${cwd}: it belongs to another user.`,
      `If you trust it: ${/git config --global --add safe\.directory .+/.exec(message)?.[0] ?? 'see safe.directory in `git help config`.'}`,
    )
  if (isNoRepository.test(message))
    return new UserError(
      `${cwd} is not in a git repository.`,
      'Go to a repository, or make one: git init && git commit --allow-empty -m "first commit".',
    )
  return new UserError(`git cannot use the repository at ${cwd}: ${message}`, 'Fix what git reports, then try again.')
}

export async function resolveBase(repository: Repository, base: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`]
  const found = (await gitOrNull(repository.dir, args))?.trim() ?? ''
  // git accepts `^main`, too, and prints it with its `^`.
  if (/^[0-9a-f]+$/.test(found)) return found
  const hint = 'Name a branch, a tag or a commit (`git branch -a` lists branches; `git fetch` gets new ones).'
  if (base !== 'HEAD') throw new UserError(`The base ${base} is not a commit that this repository knows.`, hint)
  if ((await git(repository.dir, ['rev-list', '--all', '--max-count=1'])) !== '')
    throw new UserError('HEAD is on a branch that has no commit yet, so nothing can start from it.', `--base: ${hint}`)
  throw new UserError(
    'This repository has no commit yet, and a worktree needs one to start from.',
    'Commit something first: git commit --allow-empty -m "first commit".',
  )
}

export type WorktreeEntry = {
  path: string
  /** The commit it is at; null on a branch that has none yet. */
  head: string | null
  branch: string | null
  bare: boolean
  locked: string | null
  prunable: boolean
}

export async function listWorktrees(dir: string): Promise<WorktreeEntry[]> {
  const args = ['worktree', 'list', '--porcelain']
  const listed = await git(dir, [...args, '-z'], { retryLocked: true }).catch(asFailure)
  // git before 2.36 lacks -z, which only matters for a path with a newline.
  const text = typeof listed === 'string' ? listed : (await git(dir, args)).replaceAll('\n', '\0')
  return text
    .split('\0\0')
    .map((record) => record.split('\0').filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .map(parseWorktree)
}

function parseWorktree(lines: readonly string[]): WorktreeEntry {
  const fieldOf = (key: string): string | null =>
    lines.find((line) => line === key || line.startsWith(`${key} `))?.slice(key.length + 1) ?? null
  const head = fieldOf('HEAD')
  return {
    path: fieldOf('worktree') ?? '',
    head: head === null || /^0+$/.test(head) ? null : head,
    branch: fieldOf('branch')?.replace(/^refs\/heads\//, '') ?? null,
    bare: fieldOf('bare') !== null,
    locked: fieldOf('locked'),
    prunable: fieldOf('prunable') !== null,
  }
}

export function resolveLinks(path: string): string {
  const head = nearestExistingFolder(resolve(path))
  return join(realpathSync(head), relative(head, resolve(path)))
}

export function nearestExistingFolder(path: string): string {
  let head = path
  while (!existsSync(head) && dirname(head) !== head) head = dirname(head)
  return head
}

export async function findCheckout(cwd: string): Promise<{ root: string; gitDirs: GitDirs }> {
  const { checkout } = await findRepository(cwd)
  const gitDirs = checkout === null ? null : readGitDirs(checkout)
  if (checkout !== null && gitDirs !== null) return { root: checkout, gitDirs }
  throw new UserError(
    'This is a bare repository: it has no checkout to work in.',
    'Open a worktree of it: plan-gate bootstrap --name <name>.',
  )
}

/** A worktree and its repository name each other by their paths; after a plain `mv` one of the two is wrong. */
export class MovedError extends UserError {}

/** Thrown for a worktree that was moved by itself: the repository still has its old folder. */
function throwIfMoved(checkout: string, gitDir: string): void {
  const before = firstLine(join(gitDir, 'gitdir'))
  if (before === null || existsSync(resolveFrom(gitDir, before))) return
  throw new MovedError(
    `This worktree was moved: git knows it as ${dirname(resolveFrom(gitDir, before))}.`,
    `Tell git where it is: git -C ${shellWord(checkout)} worktree repair`,
  )
}

/** The main checkout was moved, so git finds no repository from a worktree of it. Null: that is not the reason. */
function movedMainError(cwd: string): MovedError | null {
  const root = nearestWithGit(cwd)
  const gitDir = root === null ? null : (readGitDirs(root)?.own ?? null)
  if (root === null || gitDir === null || existsSync(gitDir)) return null
  const [, oldCommon = ''] = /^(.*)\/worktrees\/[^/]+$/.exec(gitDir) ?? []
  if (oldCommon === '') return null
  const old = basename(oldCommon) === '.git' ? dirname(oldCommon) : oldCommon
  const [main, ...others] = mainCheckoutsNear([dirname(old), dirname(root)], basename(gitDir), root)
  const where = main === undefined || others.length > 0 ? '<its folder>' : shellWord(main)
  return new MovedError(
    `The main checkout of this worktree was moved: ${old} is gone.`,
    `Tell git where the worktree is: ${repairCommand(where, [root])}`,
  )
}

/** The hooks name paths in the git directory, so the gate is put right, too. */
const repairCommand = (main: string, worktrees: readonly string[]): string =>
  [
    `git -C ${main} worktree repair ${worktrees.map((path) => shellWord(path)).join(' ')}`,
    ...worktrees.map((path) => `cd ${shellWord(path)} && plan-gate install`),
  ].join(' && ')

/** Seen from the main checkout: what is wrong with the worktrees that git lists. */
export function movedWorktrees(main: string, commonDir: string, paths: readonly string[]): MovedError | null {
  const stale = paths.filter((path) => {
    const own = readGitDirs(path)?.own
    return own !== undefined && !existsSync(own)
  })
  if (stale.length > 0)
    return new MovedError(
      `The main checkout was moved, and ${stale.join(', ')} still ${stale.length === 1 ? 'looks' : 'look'} for it elsewhere.`,
      `Tell git: ${repairCommand(shellWord(main), stale)}`,
    )
  const gone = paths.filter((path) => !existsSync(path))
  const near = [...new Set([...gone.map((path) => dirname(path)), dirname(main)])]
  const found = near.flatMap(foldersIn).filter((path) => !paths.includes(path) && isWorktreeOf(path, commonDir))
  if (gone.length === 0 || found.length === 0) return null
  return new MovedError(
    `${gone.join(', ')} ${gone.length === 1 ? 'was' : 'were'} moved to ${found.join(', ')}.`,
    `Tell git: git -C ${shellWord(main)} worktree repair ${found.map((path) => shellWord(path)).join(' ')}`,
  )
}

/** Of this repository, by a folder that git does not have. */
function isWorktreeOf(path: string, commonDir: string): boolean {
  const own = readGitDirs(path)?.own
  if (own === undefined || !existsSync(own) || dirname(dirname(realpathSync(own))) !== commonDir) return false
  const known = firstLine(join(own, 'gitdir'))
  return known !== null && !existsSync(resolveFrom(own, known))
}

/** Checkouts whose git directory has an entry for this worktree. */
const mainCheckoutsNear = (folders: readonly string[], id: string, root: string): string[] =>
  [...new Set(folders)].flatMap(foldersIn).filter((folder) => {
    const entry = join(folder, '.git/worktrees', id)
    const known = unlessAbsent(() => firstLine(join(entry, 'gitdir')), null)
    return known !== null && resolveFrom(entry, known) === join(root, '.git')
  })

const foldersIn = (folder: string): string[] =>
  orElse(
    () =>
      readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? [join(folder, entry.name)] : [],
      ),
    [],
  )

function nearestWithGit(cwd: string): string | null {
  for (let at = cwd; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

const resolveFrom = (folder: string, path: string): string => (path.startsWith('/') ? path : join(folder, path))

/** As `shellWord`, which this layer cannot load. */
const shellWord = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
