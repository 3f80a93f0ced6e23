import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { refreshExcludes, removeSharedFolder } from '../src/install/excludes.ts'
import { errnoOf, readAnyJson, sweepTemporaries, writeAtomic } from '../src/state/files.ts'
import { forgetGate } from '../src/state/gates.ts'
import { holdLock } from '../src/state/lock.ts'
import { readOpenedWorktree, writeOpenedWorktree } from '../src/state/records.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { asFailure, type GitFailure, git, gitOrNull } from '../src/system/git.ts'
import { readGitDirs } from '../src/system/git-dirs.ts'
import {
  listWorktrees,
  nearestExistingFolder,
  type Repository,
  resolveLinks,
  type WorktreeEntry,
} from '../src/system/repository.ts'
import { sha256 } from '../src/system/sha256.ts'
import { shellWord } from '../src/text/own-commands.ts'

type WorktreeRequest = { dir: string; branch: string; branchIsGiven: boolean }
type OnBranch = { dir: string; branch: string; newBranch: boolean }

export type WorktreePlan =
  | { kind: 'reuse'; dir: string; branch: string | null }
  /** `isRestored`: git still has an entry for the folder, which somebody deleted, or which a killed git never filled. */
  | ({ kind: 'create'; isRestored: boolean } & OnBranch)
  /** An earlier run was killed while the files were checked out. */
  | ({ kind: 'finish' } & OnBranch)

/** Decides what has to be done, or throws why it cannot be. Changes nothing. */
export function planWorktree(repository: Repository, request: WorktreeRequest): Promise<WorktreePlan> {
  assertLoadable(request.dir)
  return alone(repository, request, (resolved) => decide(repository, resolved))
}

/** The checkout creates the branch last: killed anywhere, it leaves nothing that blocks the next run. */
export const openWorktree = (repository: Repository, request: WorktreeRequest, commit: string): Promise<WorktreePlan> =>
  alone(repository, request, async (resolved) => {
    const plan = await decide(repository, resolved)
    if (plan.kind === 'create') await addEmpty(repository, plan, commit)
    if (plan.kind !== 'reuse') await checkOut(repository, plan, commit)
    return { ...plan, dir: realpathSync(plan.dir) }
  })

async function alone<T>(
  { commonDir }: Repository,
  request: WorktreeRequest,
  work: (resolved: WorktreeRequest) => Promise<T>,
): Promise<T> {
  const dir = resolveLinks(request.dir)
  const lock = join(commonDir, `plan-gate-opening-${sha256(dir).slice(0, 16)}.lock`)
  const held = await holdLock(lock, () => work({ ...request, dir }), { waitMs: 60_000 })
  if (held.kind === 'busy') throw isBeingOpenedError(dir, 'another plan-gate')
  return held.value
}

async function decide(repository: Repository, request: WorktreeRequest): Promise<WorktreePlan> {
  const { listed, here } = await readEntries(repository, request)
  const branchOf = (previousBranch: string | null) => branchFor(repository, request, listed, here, previousBranch)
  if (here === undefined) {
    assertFree(request.dir)
    return { kind: 'create', isRestored: false, ...(await branchOf(null)) }
  }
  if (here === listed[0])
    throw here.bare
      ? new UserError(`${here.path} is the repository itself.`, 'Choose another --dir.')
      : new UserError(
          `${here.path} is the main checkout, which bootstrap does not change.`,
          'Choose another --dir; or put the gate into the main checkout: plan-gate install.',
        )
  const isHalfAdded = here.locked === initializing
  if (isHalfAdded && namesIn(request.dir).some((name) => name !== '.git'))
    throw new UserError(
      `git has not finished creating the worktree ${here.path}.`,
      `If no git is running there any more: git worktree remove --force --force ${shellWord(here.path)}`,
    )
  if (isHalfAdded || here.prunable || !existsSync(request.dir)) {
    if (!isHalfAdded) assertFree(request.dir)
    return { kind: 'create', isRestored: true, ...(await branchOf(isHalfAdded ? null : branchOfDeleted(here))) }
  }
  if (!isCutShort(here, request)) return reuse(repository, here, request)
  return { kind: 'finish', ...(await branchOf(here.branch?.endsWith(beingOpened) ? branchOfDeleted(here) : null)) }
}

/** The reason that git gives for the lock of a worktree that it has not finished adding. */
const initializing = 'initializing'

/** Where a killed run has left something, a git of its may still be at work. */
async function readEntries(
  { dir }: Repository,
  request: WorktreeRequest,
): Promise<{ listed: WorktreeEntry[]; here: WorktreeEntry | undefined }> {
  for (const giveUpAt = Date.now() + 60_000; ; await sleep(100)) {
    const listed = await listWorktrees(dir)
    const here = listed.find((worktree) => resolveLinks(worktree.path) === request.dir)
    const isLeft = here !== undefined && (here.locked === initializing || isCutShort(here, request))
    if (!isLeft || !isGitRunning(request.dir)) return { listed, here }
    if (Date.now() > giveUpAt) throw isBeingOpenedError(request.dir, 'git')
  }
}

/** A checkout ends with HEAD on its branch; one that has not begun leaves nothing but the link to the repository. */
const isCutShort = ({ head, branch, path }: WorktreeEntry, request: WorktreeRequest): boolean =>
  head === null
    ? branch === request.branch || branch?.endsWith(beingOpened) === true
    : !existsSync(join(readGitDirs(path)?.own ?? path, 'index')) && namesIn(path).join() === '.git'

const beingOpened = '-is-being-opened'

const isBeingOpenedError = (dir: string, by: string): UserError =>
  new UserError(`${dir} is being opened by ${by} right now.`, 'Wait until it has finished, then try again.', 1)

function reuse(repository: Repository, here: WorktreeEntry, request: WorktreeRequest): WorktreePlan {
  const common = readGitDirs(here.path)?.common
  if (common === undefined || realpathSync(common) !== repository.commonDir) throw isTakenError(request.dir)
  if (request.branchIsGiven && here.branch !== request.branch)
    throw new UserError(
      `The worktree ${here.path} is on ${here.branch ?? 'no branch'}, not on ${request.branch}.`,
      'Leave --branch out to reuse it, or choose another --name.',
    )
  return { kind: 'reuse', dir: request.dir, branch: here.branch }
}

/** A worktree whose folder was deleted is created again on its branch. */
function branchOfDeleted(here: WorktreeEntry): string {
  if (here.locked !== null)
    throw new UserError(
      `The worktree ${here.path} is locked${here.locked && ` (${here.locked})`}, and its folder is not there.`,
      `Restore the folder, or unlock it: git worktree unlock ${shellWord(here.path)}`,
    )
  if (here.branch !== null) return here.branch.replace(new RegExp(`${beingOpened}$`), '')
  throw new UserError(
    `The worktree ${here.path} was on no branch, but at the commit ${here.head}, when its folder was deleted.`,
    `Keep that commit if you need it (git branch <name> ${here.head}), then: git worktree prune`,
  )
}

const isTakenError = (dir: string): UserError =>
  new UserError(
    `${dir} exists already and is not a worktree of this repository.`,
    'Choose another --name or --dir, or move that folder away.',
  )

/** Node cannot load modules, and so hooks, from such a folder. */
function assertLoadable(dir: string): void {
  if (sep === '/' && /[\\\n]/.test(dir))
    throw new UserError(
      `A worktree cannot be in ${JSON.stringify(dir)}: node cannot run programs in a folder with a backslash or a newline in its path.`,
      'Choose another --name or --dir.',
    )
}

/** Either an empty folder, or none and the parent is writable. */
function assertFree(dir: string): void {
  try {
    const found = lstatSync(dir, { throwIfNoEntry: false })
    if (found === undefined) return accessSync(nearestExistingFolder(dir), constants.W_OK | constants.X_OK)
    if (found.isDirectory() && readdirSync(dir).length === 0) return
  } catch (error) {
    throw new UserError(`${dir} cannot be created (${errnoOf(error)}).`, 'Choose another --name or --dir.')
  }
  throw isTakenError(dir)
}

/** `previousBranch`: the branch that this worktree had before. Any other existing branch is only used with --branch. */
async function branchFor(
  repository: Repository,
  request: WorktreeRequest,
  listed: readonly WorktreeEntry[],
  here: WorktreeEntry | undefined,
  previousBranch: string | null,
): Promise<OnBranch> {
  const branch = request.branchIsGiven ? request.branch : (previousBranch ?? request.branch)
  // git expands `@{-1}` to a branch.
  if ((await gitOrNull(repository.dir, ['check-ref-format', '--branch', branch]))?.trim() !== branch)
    throw new UserError(`${branch} is not a valid name of a branch.`, 'Choose another --name or --branch.')
  const holder = listed.find((worktree) => worktree.branch === branch && worktree !== here)
  if (holder !== undefined) throw isCheckedOutError(branch, holder, holder === listed[0])
  const exists = (await gitOrNull(repository.dir, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])) !== null
  if (exists && !request.branchIsGiven && branch !== previousBranch)
    throw new UserError(
      `The branch ${branch} exists already, and has no worktree.`,
      `Choose another --name, or use the branch: --branch ${branch}.`,
    )
  if (!exists) await assertNotShadowed(repository, branch)
  return { dir: request.dir, branch, newBranch: !exists }
}

function isCheckedOutError(branch: string, { path, prunable }: WorktreeEntry, isMain: boolean): UserError {
  if (prunable)
    return new UserError(
      `The branch ${branch} belongs to the worktree ${path}, whose folder is gone.`,
      `Create it again (plan-gate bootstrap --dir ${shellWord(path)}), or remove git's entry: git worktree prune`,
    )
  return new UserError(
    `The branch ${branch} is checked out in ${path}.`,
    `Choose another --name, or work there: plan-gate ${isMain ? 'install' : `bootstrap --dir ${shellWord(path)}`}.`,
  )
}

/** git stores branches as files in folders, so `plan` and `plan/x` exclude each other. */
async function assertNotShadowed(repository: Repository, branch: string): Promise<void> {
  const parts = branch.split('/')
  const above = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'))
  const taken = await git(repository.dir, [
    'for-each-ref',
    // Not `:short`, which is `heads/plan` if there is a tag `plan`.
    '--format=%(refname:lstrip=2)',
    ...above.map((name) => `refs/heads/${name}`),
    `refs/heads/${branch}/`,
  ])
  const clash = taken.split('\n').find((name) => name !== '' && (above.includes(name) || name.startsWith(`${branch}/`)))
  if (clash === undefined) return
  throw new UserError(
    `The branch ${branch} cannot be created: it conflicts with the branch ${clash}.`,
    `Choose another name: --branch ${branch.replaceAll('/', '-')}.`,
  )
}

async function addEmpty(
  { dir: cwd }: Repository,
  { dir, isRestored }: WorktreePlan & { kind: 'create' },
  commit: string,
): Promise<void> {
  mkdirSync(dirname(dir), { recursive: true })
  if (isRestored) rmSync(join(dir, '.git'), { force: true })
  const flags = [...(isRestored ? ['-f', '-f'] : []), '--no-checkout', '--detach']
  const failure = await tryGit(cwd, ['worktree', 'add', ...flags, dir, commit])
  if (failure === null) return
  throw new UserError(
    `git worktree add failed: ${failure.stderr}`,
    'Fix what git reports, then run the same command again.',
    1,
  )
}

const checkoutTimeoutMs = 30 * 60_000

async function checkOut(
  { dir: cwd, commonDir }: Repository,
  { kind, dir, branch, newBranch }: WorktreePlan & { kind: 'create' | 'finish' },
  commit: string,
): Promise<void> {
  if (kind === 'finish') removeLocks(commonDir, dir, branch)
  // From a branch without a commit, post-checkout hooks get no previous commit, as with `worktree add`.
  await git(dir, ['symbolic-ref', 'HEAD', `refs/heads/${newBranch ? branch : branch + beingOpened}`])
  const to = newBranch ? ['-b', branch, commit] : [branch]
  // -C instead of the working directory, so that the next run finds this git by its arguments.
  const flags = ['--quiet', '--force', '--no-recurse-submodules']
  const failure = await tryGit(cwd, ['-C', dir, 'checkout', ...flags, ...to, '--'], checkoutTimeoutMs)
  if (failure === null) return
  const here = (await listWorktrees(cwd)).find((worktree) => resolveLinks(worktree.path) === dir)
  if (here?.branch === branch && here.head !== null)
    throw new UserError(
      `The worktree ${dir} was created, but this repository's post-checkout hook failed: ${failure.stderr}`,
      'Fix the hook if you need it, then run the same command again: it reuses the worktree.',
      1,
    )
  if (kind === 'create') await tryGit(cwd, ['worktree', 'remove', '--force', '--force', dir])
  throw new UserError(
    `git could not check out ${branch} in ${dir}: ${failure.stderr}`,
    'Fix what git reports, then run the same command again.',
    1,
  )
}

/** Of a git that was killed. */
function removeLocks(commonDir: string, dir: string, branch: string): void {
  const own = readGitDirs(dir)?.own
  const locks = own === undefined ? [] : [`${own}/index.lock`, `${own}/HEAD.lock`]
  for (const lock of [...locks, `${commonDir}/refs/heads/${branch}.lock`]) rmSync(lock, { force: true })
}

const tryGit = (cwd: string, args: readonly string[], timeoutMs = 60_000): Promise<GitFailure | null> =>
  git(cwd, args, { timeoutMs, retryLocked: true }).then(() => null, asFailure)

/** The default folder: `worktree.dir` of the configuration, with `{repo}` and `{name}` filled in. */
export const worktreeDir = (repository: Repository, template: string, name: string): string =>
  resolve(
    repository.home,
    template.replace(/\{(repo|name)\}/g, (_, key) => (key === 'repo' ? repository.name : name)),
  )

/** What the branch of a worktree begins with, unless --branch names it. */
export const branchPrefix = 'plan/'

/** Recorded by the first run for `finish`: where the work started, and whether the branch is ours. */
export async function recordOpened(
  repository: Repository,
  gitDir: string,
  plan: WorktreePlan,
  { base, commit }: { base: string; commit: string },
): Promise<void> {
  if (readOpenedWorktree(gitDir).kind === 'read') return
  const named = await gitOrNull(repository.dir, ['rev-parse', '--symbolic-full-name', '--verify', '--quiet', base])
  const ref = (named ?? '').trim()
  const isNew = plan.kind !== 'reuse' && plan.newBranch
  const { branch } = plan
  writeOpenedWorktree(gitDir, {
    version: 1,
    opened_at: new Date().toISOString(),
    base: /^refs\/(heads|remotes)\//.test(ref) ? ref : null,
    base_commit: commit,
    own_branch: branch !== null && (isNew || branch.startsWith(branchPrefix)) ? branch : null,
  })
}

const namesIn = (dir: string): string[] => unlessAbsent(() => readdirSync(dir), [])

/** A git that outlived the plan-gate that started it and will still finish. Only Linux (/proc) can tell. */
function isGitRunning(dir: string): boolean {
  const processes = namesIn('/proc').filter((name) => /^\d+$/.test(name))
  return processes.some((pid) => {
    const [program = '', ...args] = argumentsOf(pid)
    return basename(program) === 'git' && args.includes(dir)
  })
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    // It has ended.
    return []
  }
}

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
