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
import { shellWord } from '../src/install/hook-entries.ts'
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

type WorktreeRequest = { name: string; dir: string; branch: string; base: string; branchIsGiven: boolean }

export type WorktreePlan =
  | { kind: 'reuse'; dir: string; branch: string | null }
  /** `comesBack`: git still has an entry for the folder, which somebody deleted. */
  | ({ kind: 'create'; isRestored: boolean } & OnBranch)
  /** An earlier run was killed while the files were checked out. */
  | ({ kind: 'finish'; commit: string } & OnBranch)

/**
 * Looks at what is there and says what has to be done, or why it cannot be. Changes nothing, except that it takes away
 * what a killed git has left of an entry: git may not be able to list its worktrees with that.
 */
export async function planWorktree(repository: Repository, given: WorktreeRequest): Promise<WorktreePlan> {
  const request = { ...given, dir: resolveLinks(given.dir) }
  assertLoadable(request.dir)
  try {
    return await planOnce(repository, request)
  } catch (error) {
    if (!(error instanceof UserError && error.exitCode === 2)) throw error
    // Another run may have made the folder or the branch between two of these looks; a second time tells who that is.
    return await planOnce(repository, request)
  }
}

async function planOnce(repository: Repository, request: WorktreeRequest): Promise<WorktreePlan> {
  const opening = await readPendingOpen(repository.commonDir, request.dir)
  if (opening !== null) removeHalfAdded(repository.commonDir, request.dir)
  const listed = await listWorktrees(repository.dir)
  const here = listed.find((worktree) => resolveLinks(worktree.path) === request.dir)
  const branchOf = (goOnWith: string | null) => branchFor(repository, request, listed, here, goOnWith)
  if (here === undefined) {
    assertFree(request.dir)
    return { kind: 'create', isRestored: false, ...(await branchOf(null)) }
  }
  if (here === listed[0]) throw isMainCheckoutError(here)
  if (here.locked === 'initializing') throw isInitializingError(here)
  if (here.prunable || !existsSync(request.dir)) {
    assertFree(request.dir)
    return { kind: 'create', isRestored: true, ...(await branchOf(branchOfGone(here, opening))) }
  }
  if (opening !== null && !isCheckedOut(here))
    return { kind: 'finish', commit: opening.commit, ...(await branchOf(opening.newBranch ? null : opening.branch)) }
  return reuse(repository, here, request)
}

/** Both appear at the end of a checkout only. */
const isCheckedOut = ({ head, path }: WorktreeEntry): boolean =>
  head !== null && existsSync(join(readGitDirs(path)?.own ?? path, 'index'))

function reuse(repository: Repository, here: WorktreeEntry, request: WorktreeRequest): WorktreePlan {
  const common = readGitDirs(here.path)?.common
  if (common === undefined || realpathSync(common) !== repository.commonDir) throw isTakenError(request.dir)
  if (request.branchIsGiven && here.branch !== request.branch)
    throw new UserError(
      `The worktree ${here.path} is on ${here.branch ?? 'no branch'}, not on ${request.branch}.`,
      'Leave --branch out to go on with it, or choose another --name.',
    )
  return { kind: 'reuse', dir: request.dir, branch: here.branch }
}

/** A worktree whose folder somebody deleted comes back on the branch that it was on. */
function branchOfGone(here: WorktreeEntry, opening: PendingOpen | null): string | null {
  if (here.locked !== null)
    throw new UserError(
      `The worktree ${here.path} is locked${here.locked && ` (${here.locked})`}, and its folder is not there.`,
      `Bring it back, or give it up: git worktree unlock ${shellWord(here.path)}`,
    )
  if (opening !== null) return opening.newBranch ? null : opening.branch
  if (here.branch !== null) return here.branch
  throw new UserError(
    `The worktree ${here.path} was on no branch, but at the commit ${here.head}, when its folder went away.`,
    `Keep that commit if you need it (git branch <name> ${here.head}), then: git worktree prune`,
  )
}

const isMainCheckoutError = ({ path, bare }: WorktreeEntry): UserError =>
  bare
    ? new UserError(`${path} is the repository itself.`, 'Choose another --dir.')
    : new UserError(
        `${path} is the main checkout, and bootstrap leaves that alone.`,
        'Choose another --dir; or put the gate into the main checkout: plan-gate install.',
      )

const isInitializingError = ({ path }: WorktreeEntry): UserError =>
  new UserError(
    `git has begun to make the worktree ${path} and has not finished.`,
    `If no git is running there any more: git worktree remove --force --force ${shellWord(path)}`,
  )

const isTakenError = (dir: string): UserError =>
  new UserError(
    `${dir} exists already and is not a worktree of this repository.`,
    'Choose another --name or --dir, or move that folder away.',
  )

/** Node loads no module, and so no hook, from such a folder. */
function assertLoadable(dir: string): void {
  if (sep === '/' && /[\\\n]/.test(dir))
    throw new UserError(
      `A worktree cannot be in ${JSON.stringify(dir)}: node runs nothing in a folder with a backslash or a line end.`,
      'Choose another --name or --dir.',
    )
}

/** An empty folder, or none where one can be made. */
function assertFree(dir: string): void {
  try {
    const found = lstatSync(dir, { throwIfNoEntry: false })
    if (found === undefined) return accessSync(nearestExistingFolder(dir), constants.W_OK | constants.X_OK)
    if (found.isDirectory() && readdirSync(dir).length === 0) return
  } catch (error) {
    throw new UserError(`${dir} cannot be made (${errnoOf(error)}).`, 'Choose another --name or --dir.')
  }
  throw isTakenError(dir)
}

/** `goOnWith`: a branch that this worktree had before; any other that exists is only taken when it is asked for. */
async function branchFor(
  repository: Repository,
  request: WorktreeRequest,
  listed: readonly WorktreeEntry[],
  here: WorktreeEntry | undefined,
  goOnWith: string | null,
): Promise<OnBranch> {
  const branch = request.branchIsGiven ? request.branch : (goOnWith ?? request.branch)
  // `@{-1}` comes back as the branch that it stands for.
  if ((await gitOrNull(repository.dir, ['check-ref-format', '--branch', branch]))?.trim() !== branch)
    throw new UserError(`${branch} is not a name that git allows for a branch.`, 'Choose another --name or --branch.')
  const holder = listed.find((worktree) => worktree.branch === branch && worktree !== here)
  if (holder !== undefined) throw isCheckedOutError(branch, holder, holder === listed[0])
  const exists = (await gitOrNull(repository.dir, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])) !== null
  if (exists && !request.branchIsGiven && branch !== goOnWith)
    throw new UserError(
      `There is a branch ${branch} already, and no worktree of it.`,
      `Choose another --name, or go on with it: --branch ${branch}.`,
    )
  if (!exists) await assertNotShadowed(repository, branch)
  return { dir: request.dir, branch, newBranch: !exists }
}

function isCheckedOutError(branch: string, { path, prunable }: WorktreeEntry, isMain: boolean): UserError {
  if (prunable)
    return new UserError(
      `The branch ${branch} belongs to the worktree ${path}, whose folder is gone.`,
      `Bring it back (plan-gate bootstrap --dir ${shellWord(path)}), or forget it: git worktree prune`,
    )
  return new UserError(
    `The branch ${branch} is checked out in ${path}.`,
    `Choose another --name, or work there: plan-gate ${isMain ? 'install' : `bootstrap --dir ${shellWord(path)}`}.`,
  )
}

/** git keeps branches in folders, so `plan` and `plan/x` cannot both be. */
async function assertNotShadowed(repository: Repository, branch: string): Promise<void> {
  const parts = branch.split('/')
  const above = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'))
  const taken = await git(repository.dir, [
    'for-each-ref',
    // Not `:short`, which is `heads/plan` where there is a tag `plan`, too.
    '--format=%(refname:lstrip=2)',
    ...above.map((name) => `refs/heads/${name}`),
    `refs/heads/${branch}/`,
  ])
  const clash = taken.split('\n').find((name) => name !== '' && (above.includes(name) || name.startsWith(`${branch}/`)))
  if (clash === undefined) return
  throw new UserError(
    `The branch ${branch} cannot be made: its name is taken by the branch ${clash}.`,
    `Choose another name: --branch ${branch.replaceAll('/', '-')}.`,
  )
}

/**
 * Carries the plan out and returns the worktree's folder. First an empty worktree, then the checkout, which makes the
 * branch as its last act: killed anywhere, it leaves no branch without a worktree and no file that is in the way.
 */
export async function openWorktree(repository: Repository, plan: WorktreePlan, commit: string): Promise<string> {
  const { commonDir } = repository
  const cutShort = readPendingRecord(commonDir, plan.dir)
  if (plan.kind === 'reuse') {
    if (cutShort === null || isRunning(cutShort)) return realpathSync(plan.dir)
    removeLocks(commonDir, cutShort)
  } else {
    const { dir, branch, newBranch } = plan
    const opening = { dir, branch, newBranch, commit: plan.kind === 'finish' ? plan.commit : commit }
    writePendingOpen(commonDir, opening)
    if (cutShort !== null) removeLocks(commonDir, cutShort)
    if (plan.kind === 'create') await addEmpty(repository, plan, opening)
    await checkOut(repository, plan, opening)
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
  // On a branch that has no commit, post-checkout hooks are told of no earlier commit, as they are by `worktree add`.
  const unborn = newBranch ? branch : `${branch}-is-being-opened`
  await git(dir, ['symbolic-ref', 'HEAD', `refs/heads/${unborn}`])
  const to = newBranch ? ['-b', branch, commit] : [branch]
  // -C and not the working directory, so that the next run can tell this git by its arguments.
  const flags = ['--quiet', '--force', '--no-recurse-submodules']
  const failure = await tryGit(cwd, ['-C', dir, 'checkout', ...flags, ...to, '--'], checkoutTimeoutMs)
  if (failure === null) return
  const here = (await listWorktrees(cwd)).find((worktree) => resolveLinks(worktree.path) === dir)
  if (here !== undefined && isCheckedOut(here)) {
    removePendingOpen(commonDir, dir)
    throw new UserError(
      `The worktree ${dir} is there, but this repository's post-checkout hook failed: ${failure.stderr}`,
      'Fix it if you need what it does, then run the same command again: it goes on with the worktree as it is.',
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

/** Null when git did it. */
const tryGit = (cwd: string, args: readonly string[], timeoutMs = 60_000): Promise<GitFailure | null> =>
  git(cwd, args, { timeoutMs, retryLocked: true }).then(() => null, asFailure)

/** The folder that a request leads to: `worktree.dir` of the configuration, with `{repo}` and `{name}` filled in. */
export const worktreeDir = (repository: Repository, template: string, name: string): string =>
  resolve(
    repository.home,
    template.replace(/\{(repo|name)\}/g, (_, key) => (key === 'repo' ? repository.name : name)),
  )

type OnBranch = { dir: string; branch: string; newBranch: boolean }

/** What is about to be opened, kept in the common git directory until it is open. */
type PendingOpen = OnBranch & { commit: string }

type PendingOpenRecord = PendingOpen & { pid: number; since: number }

const orphanWaitMs = 60_000

/** A process id is given out again; no opening takes this long. */
const maxOpenMs = 60 * 60_000

/** What a killed run has left to finish. One that still runs is not disturbed. */
async function readPendingOpen(commonDir: string, dir: string): Promise<PendingOpen | null> {
  const kept = readPendingRecord(commonDir, dir)
  if (kept === null) return null
  if (isRunning(kept)) throw isBeingOpenedError(dir, `plan-gate (process ${kept.pid})`)
  const giveUpAt = Date.now() + orphanWaitMs
  while (isGitAtWork(dir)) {
    if (Date.now() > giveUpAt) throw isBeingOpenedError(dir, 'git')
    await sleep(100)
  }
  return kept
}

function writePendingOpen(commonDir: string, opening: PendingOpen): void {
  const before = readPendingRecord(commonDir, opening.dir)
  if (before === null || !isRunning(before)) removePendingOpen(commonDir, opening.dir)
  const kept: PendingOpenRecord = { ...opening, pid: process.pid, since: Date.now() }
  try {
    writeFileSync(pendingOpenPath(commonDir, opening.dir), `${JSON.stringify(kept)}\n`, { flag: 'wx' })
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw isBeingOpenedError(opening.dir, 'another plan-gate')
    throw error
  }
}

const removePendingOpen = (commonDir: string, dir: string): void =>
  rmSync(pendingOpenPath(commonDir, dir), { force: true })

const pendingOpenPath = (commonDir: string, dir: string): string =>
  join(commonDir, `plan-gate-opening-${sha256(dir).slice(0, 16)}.json`)

/** A record that is not whole was cut short before git was started: there is nothing to finish. */
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
  new UserError(`${dir} is being opened by ${by} right now.`, 'Wait until that has ended, then try again.', 1)

/** The locks that a killed checkout held. */
function removeLocks(commonDir: string, { dir, branch, newBranch }: PendingOpen): void {
  const own = readGitDirs(dir)?.own
  const locks = own === undefined ? [] : [`${own}/index.lock`, `${own}/HEAD.lock`]
  if (newBranch) locks.push(`${commonDir}/refs/heads/${branch}.lock`)
  for (const lock of locks) rmSync(lock, { force: true })
}

/** An entry that `git worktree add` was killed in; nothing has been checked out by then. */
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
    // What cannot be read may be whole, and somebody else's.
    if (systemErrorCode(error) === null) throw error
    return false
  }
}

/** By the folder that it names or, where it was killed before it could, by its own name. */
function isEntryOf(entry: string, dir: string): boolean {
  const gitdir = textOf(join(entry, 'gitdir'))
  if (gitdir !== '') return resolveLinks(dirname(resolve(entry, gitdir))) === dir
  const [id, name] = [entry, dir].map((path) => basename(path).replace(/[^a-zA-Z0-9]/g, '-'))
  return id?.startsWith(name ?? '') === true && /^\d*$/.test(id.slice(name?.length))
}

const namesIn = (dir: string): string[] => unlessAbsent(() => readdirSync(dir), [])

const textOf = (path: string): string => unlessAbsent(() => readFileSync(path, 'utf8').trim(), '')

/** A git that outlived the plan-gate that started it: it goes on to its end by itself. Only Linux tells. */
function isGitAtWork(dir: string): boolean {
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

type Start = { base: string; commit: string }

/** What the branch of a worktree begins with, unless --branch names it. */
export const branchPrefix = 'plan/'

/** What `finish` has to know later: where the work came from, and whose the branch is. The first run tells. */
export async function recordOpened(
  repository: Repository,
  gitDir: string,
  plan: WorktreePlan,
  { base, commit }: Start,
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
