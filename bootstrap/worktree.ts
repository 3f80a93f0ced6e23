import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errnoOf, isAlive } from '../src/state/files.ts'
import { readOpenedWorktree, writeOpenedWorktree } from '../src/state/records.ts'
import { systemErrorCode, UserError, unlessAbsent } from '../src/system/errors.ts'
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

export type WorktreePlan =
  | { kind: 'reuse'; dir: string; branch: string | null }
  /** `isRestored`: git still has an entry for the folder, which somebody deleted. */
  | ({ kind: 'create'; isRestored: boolean } & OnBranch)
  /** An earlier run was killed while the files were checked out. */
  | ({ kind: 'finish'; commit: string } & OnBranch)

/**
 * Decides what has to be done, or throws why it cannot be. Changes nothing, except that it removes an entry that a killed
 * git left half written, which can keep git from listing its worktrees.
 */
export async function planWorktree(repository: Repository, requested: WorktreeRequest): Promise<WorktreePlan> {
  const request = { ...requested, dir: resolveLinks(requested.dir) }
  assertLoadable(request.dir)
  try {
    return await planOnce(repository, request)
  } catch (error) {
    if (!(error instanceof UserError && error.exitCode === 2)) throw error
    // Another run may have created the folder or the branch between two checks; the second attempt reports it.
    return await planOnce(repository, request)
  }
}

async function planOnce(repository: Repository, request: WorktreeRequest): Promise<WorktreePlan> {
  const pending = await readPendingOpen(repository.commonDir, request.dir)
  if (pending !== null) removeHalfAdded(repository.commonDir, request.dir)
  const listed = await listWorktrees(repository.dir)
  const here = listed.find((worktree) => resolveLinks(worktree.path) === request.dir)
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
  if (here.locked === 'initializing')
    throw new UserError(
      `git has not finished creating the worktree ${here.path}.`,
      `If no git is running there any more: git worktree remove --force --force ${shellWord(here.path)}`,
    )
  if (here.prunable || !existsSync(request.dir)) {
    assertFree(request.dir)
    return { kind: 'create', isRestored: true, ...(await branchOf(branchOfDeleted(here, pending))) }
  }
  if (pending !== null && !isCheckedOut(here))
    return { kind: 'finish', commit: pending.commit, ...(await branchOf(pending.newBranch ? null : pending.branch)) }
  return reuse(repository, here, request)
}

/** Both are written at the end of a checkout. */
const isCheckedOut = ({ head, path }: WorktreeEntry): boolean =>
  head !== null && existsSync(join(readGitDirs(path)?.own ?? path, 'index'))

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
function branchOfDeleted(here: WorktreeEntry, pending: PendingOpen | null): string | null {
  if (here.locked !== null)
    throw new UserError(
      `The worktree ${here.path} is locked${here.locked && ` (${here.locked})`}, and its folder is not there.`,
      `Restore the folder, or unlock it: git worktree unlock ${shellWord(here.path)}`,
    )
  if (pending !== null) return pending.newBranch ? null : pending.branch
  if (here.branch !== null) return here.branch
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

/**
 * Carries the plan out and returns the worktree's folder. First an empty worktree, then the checkout, which creates the
 * branch last: killed anywhere, it leaves no branch without a worktree and no file that blocks the next run.
 */
export async function openWorktree(repository: Repository, plan: WorktreePlan, commit: string): Promise<string> {
  const { commonDir } = repository
  const killed = readPendingRecord(commonDir, plan.dir)
  if (plan.kind === 'reuse') {
    if (killed === null || isRunning(killed)) return realpathSync(plan.dir)
    removeLocks(commonDir, killed)
  } else {
    const { dir, branch, newBranch } = plan
    const pending = { dir, branch, newBranch, commit: plan.kind === 'finish' ? plan.commit : commit }
    writePendingOpen(commonDir, pending)
    if (killed !== null) removeLocks(commonDir, killed)
    if (plan.kind === 'create') await addEmpty(repository, plan, pending)
    await checkOut(repository, plan, pending)
  }
  removePendingOpen(commonDir, plan.dir)
  return realpathSync(plan.dir)
}

async function addEmpty(
  { dir: cwd, commonDir }: Repository,
  { dir, isRestored }: WorktreePlan & { kind: 'create' },
  { commit }: PendingOpen,
): Promise<void> {
  mkdirSync(dirname(dir), { recursive: true })
  const flags = [...(isRestored ? ['-f'] : []), '--no-checkout', '--detach']
  const failure = await tryGit(cwd, ['worktree', 'add', ...flags, dir, commit])
  if (failure === null) return
  removePendingOpen(commonDir, dir)
  throw new UserError(
    `git worktree add failed: ${failure.stderr}`,
    'Fix what git reports, then run the same command again.',
    1,
  )
}

const checkoutTimeoutMs = 30 * 60_000

async function checkOut(
  { dir: cwd, commonDir }: Repository,
  plan: WorktreePlan & { kind: 'create' | 'finish' },
  { dir, branch, newBranch, commit }: PendingOpen,
): Promise<void> {
  // From a branch without a commit, post-checkout hooks get no previous commit, as with `worktree add`.
  const unborn = newBranch ? branch : `${branch}-is-being-opened`
  await git(dir, ['symbolic-ref', 'HEAD', `refs/heads/${unborn}`])
  const to = newBranch ? ['-b', branch, commit] : [branch]
  // -C instead of the working directory, so that the next run finds this git by its arguments.
  const flags = ['--quiet', '--force', '--no-recurse-submodules']
  const failure = await tryGit(cwd, ['-C', dir, 'checkout', ...flags, ...to, '--'], checkoutTimeoutMs)
  if (failure === null) return
  const here = (await listWorktrees(cwd)).find((worktree) => resolveLinks(worktree.path) === dir)
  if (here !== undefined && isCheckedOut(here)) {
    removePendingOpen(commonDir, dir)
    throw new UserError(
      `The worktree ${dir} was created, but this repository's post-checkout hook failed: ${failure.stderr}`,
      'Fix the hook if you need it, then run the same command again: it reuses the worktree.',
      1,
    )
  }
  if (plan.kind === 'create') {
    const kept = await tryGit(cwd, ['worktree', 'remove', '--force', '--force', dir])
    if (kept === null) removePendingOpen(commonDir, dir)
  }
  throw new UserError(
    `git could not check out ${branch} in ${dir}: ${failure.stderr}`,
    'Fix what git reports, then run the same command again.',
    1,
  )
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

type OnBranch = { dir: string; branch: string; newBranch: boolean }

/** A worktree that is being opened, recorded in the common git directory until it is open. */
type PendingOpen = OnBranch & { commit: string }
type PendingOpenRecord = PendingOpen & { pid: number; since: number }

const orphanWaitMs = 60_000

/** Process ids are reused; no run takes this long. */
const maxOpenMs = 60 * 60_000

/** What a killed run has left to finish. Throws while that run, or its git, still runs. */
async function readPendingOpen(commonDir: string, dir: string): Promise<PendingOpen | null> {
  const record = readPendingRecord(commonDir, dir)
  if (record === null) return null
  if (isRunning(record)) throw isBeingOpenedError(dir, `plan-gate (process ${record.pid})`)
  const giveUpAt = Date.now() + orphanWaitMs
  while (isGitRunning(dir)) {
    if (Date.now() > giveUpAt) throw isBeingOpenedError(dir, 'git')
    await sleep(100)
  }
  return record
}

function writePendingOpen(commonDir: string, pending: PendingOpen): void {
  const before = readPendingRecord(commonDir, pending.dir)
  if (before === null || !isRunning(before)) removePendingOpen(commonDir, pending.dir)
  const record: PendingOpenRecord = { ...pending, pid: process.pid, since: Date.now() }
  try {
    writeFileSync(pendingOpenPath(commonDir, pending.dir), `${JSON.stringify(record)}\n`, { flag: 'wx' })
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw isBeingOpenedError(pending.dir, 'another plan-gate')
    throw error
  }
}

const removePendingOpen = (commonDir: string, dir: string): void =>
  rmSync(pendingOpenPath(commonDir, dir), { force: true })

const pendingOpenPath = (commonDir: string, dir: string): string =>
  join(commonDir, `plan-gate-opening-${sha256(dir).slice(0, 16)}.json`)

/** A truncated record was written by a run that was killed before it started git: there is nothing to finish. */
function readPendingRecord(commonDir: string, dir: string): PendingOpenRecord | null {
  try {
    return JSON.parse(readFileSync(pendingOpenPath(commonDir, dir), 'utf8')) as PendingOpenRecord
  } catch {
    return null
  }
}

const isRunning = ({ pid, since }: PendingOpenRecord): boolean =>
  pid !== process.pid && isAlive(pid) && Date.now() - since < maxOpenMs

const isBeingOpenedError = (dir: string, by: string): UserError =>
  new UserError(`${dir} is being opened by ${by} right now.`, 'Wait until it has finished, then try again.', 1)

function removeLocks(commonDir: string, { dir, branch, newBranch }: PendingOpen): void {
  const own = readGitDirs(dir)?.own
  const locks = own === undefined ? [] : [`${own}/index.lock`, `${own}/HEAD.lock`]
  if (newBranch) locks.push(`${commonDir}/refs/heads/${branch}.lock`)
  for (const lock of locks) rmSync(lock, { force: true })
}

/** Entries of a killed `git worktree add`, which had checked out nothing yet. */
function removeHalfAdded(commonDir: string, dir: string): void {
  const entries = join(commonDir, 'worktrees')
  const halfAdded = namesIn(entries)
    .map((id) => join(entries, id))
    .filter((entry) => isHalfAdded(entry) && isEntryOf(entry, dir))
  for (const entry of halfAdded) {
    const link = join(dir, '.git')
    const isOurs = (readGitDirs(dir)?.own ?? entry) === entry
    if (isOurs && lstatSync(link, { throwIfNoEntry: false })?.isFile()) rmSync(link)
    rmSync(entry, { recursive: true })
  }
}

function isHalfAdded(entry: string): boolean {
  try {
    if (textOf(join(entry, 'locked')) === 'initializing') return true
    return ['gitdir', 'HEAD', 'commondir'].some((name) => textOf(join(entry, name)) === '')
  } catch (error) {
    // An unreadable entry may be complete.
    if (systemErrorCode(error) === null) throw error
    return false
  }
}

/** By the folder that it names or, if it was killed before it named one, by its id. */
function isEntryOf(entry: string, dir: string): boolean {
  const gitdir = textOf(join(entry, 'gitdir'))
  if (gitdir !== '') return resolveLinks(dirname(resolve(entry, gitdir))) === dir
  const [id, name] = [entry, dir].map((path) => basename(path).replace(/[^a-zA-Z0-9]/g, '-'))
  return id?.startsWith(name ?? '') === true && /^\d*$/.test(id.slice(name?.length))
}

const namesIn = (dir: string): string[] => unlessAbsent(() => readdirSync(dir), [])
const textOf = (path: string): string => unlessAbsent(() => readFileSync(path, 'utf8').trim(), '')

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
