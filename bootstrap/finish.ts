import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { refreshExcludes } from '../src/install/apply.ts'
import { shellWord } from '../src/install/hook-entries.ts'
import { copyReviews } from '../src/install/uninstall.ts'
import validate from '../src/schemas/generated/finished.js'
import type { FinishOutput, Obstacle } from '../src/schemas/output.ts'
import type { Finished, OpenedWorktree } from '../src/schemas/records.ts'
import { readPlanStateForSure } from '../src/state/approval.ts'
import { withLock } from '../src/state/cycles.ts'
import {
  checkFolder,
  errnoOf,
  putFile,
  readJson,
  readRegular,
  StoreError,
  sha256,
  sweepTemporaries,
  syncFolder,
  throwIfUnreadable,
  writeWhole,
} from '../src/state/files.ts'
import { verifyLedger } from '../src/state/ledger.ts'
import { planPath, reviewDir, reviewPaths } from '../src/state/own-paths.ts'
import { readInstallRecord, readOpenedWorktree } from '../src/state/records.ts'
import { readProgress } from '../src/state/revisions.ts'
import { listSessions } from '../src/state/sessions.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { type GitDirs, git, gitOrNull, gitOrThrow, readGitDirs, spawnGit } from '../src/system/git.ts'
import { packageVersion } from '../src/system/package.ts'
import { findRepository, type Listed, listWorktrees, type Repository, realOrSame } from '../src/system/repository.ts'
import { processesIn } from '../src/system/running-processes.ts'
import { withTemporaryFolder } from '../src/system/temporary-folder.ts'

export const discardables = ['uncommitted', 'unmerged'] as const
export type Discardable = (typeof discardables)[number]

type FinishOptions = {
  worktree: string | null
  archive: string | null
  keepBranch: boolean
  discard: readonly Discardable[]
  dryRun: boolean
}

/**
 * The end of a worktree that bootstrap opened: its reviews are archived, then it goes, with its branch, as soon as nothing
 * can be lost by it. It may be cut short anywhere; the next run does the rest.
 */
export async function finish(cwd: string, options: FinishOptions, now: Date): Promise<FinishOutput> {
  const target = await findFinishable(cwd, options.worktree)
  if (target.kind === 'begun') return endOfBegun(target)
  const targets = await mergeTargets(target)
  const branch = await fateOfBranch(target, options.keepBranch)
  const merged = await mergedHead(target, targets)
  const obstacles = await findObstacles(target, merged, targets, branch.isKept, now)
  const mergedInto = merged.kind === 'merged' ? merged.into : null
  const archive = planArchive(target, options.archive, { mergedInto, discarded: options.discard }, now)
  const output: FinishOutput = {
    kind: options.dryRun ? 'dry-run' : 'finished',
    worktree: target.root,
    branch: target.listed.branch,
    branch_is_kept: branch.isKept,
    head: target.listed.head,
    merged_into: mergedInto,
    archive: archive.folder,
    obstacles,
    goes_with_it: options.dryRun ? await ignoredIn(target.root) : [],
    notes: branch.why === null ? [] : [branch.why],
    cd: isInside(cwd, target.root) ? target.repository.home : null,
  }
  if (options.dryRun) return output
  refuse(target.root, obstacles, options.discard)
  const notes = await carryOut(target, archive, branch, options.discard)
  return { ...output, notes: [...output.notes, ...notes] }
}

async function endOfBegun({ repository, begun }: Extract<Target, { kind: 'begun' }>): Promise<FinishOutput> {
  const notes = await endBegun(repository, begun)
  const isBack = existsSync(begun.dir)
    ? [`${begun.dir} is there again, and stays: run the command once more for that.`]
    : []
  return {
    kind: 'finished',
    worktree: begun.dir,
    branch: begun.branch?.name ?? null,
    branch_is_kept: begun.branch === null,
    head: begun.branch?.head ?? null,
    merged_into: null,
    archive: begun.archive,
    obstacles: [],
    goes_with_it: [],
    notes: ['An earlier run had been cut short; the rest is done.', ...notes, ...isBack],
    cd: null,
  }
}

type BranchFate = { isKept: boolean; why: string | null }

/** Ours to delete is what bootstrap made. */
async function fateOfBranch(
  { repository, listed, opened, root }: Finishable,
  keepBranch: boolean,
): Promise<BranchFate> {
  const { branch } = listed
  if (branch === null || keepBranch) return { isKept: true, why: null }
  if (branch !== opened.own_branch) return { isKept: true, why: `${branch} is kept: bootstrap did not make it.` }
  const all = await listWorktrees(repository.dir)
  const holder = all.find((worktree) => worktree.branch === branch && realOrSame(worktree.path) !== realOrSame(root))
  if (holder !== undefined) return { isKept: true, why: `${branch} is kept: it is checked out in ${holder.path}.` }
  return { isKept: false, why: null }
}

const mergedHead = async (
  { repository, listed, opened }: Finishable,
  targets: Parameters<typeof findUnmerged>[3],
): Promise<Merged> =>
  listed.head === null
    ? { kind: 'merged', into: null }
    : findUnmerged(repository.commonDir, listed.head, opened.base_commit, targets)

async function carryOut(
  { repository, root, listed }: Finishable,
  archive: Archive,
  branch: BranchFate,
  discard: readonly Discardable[],
): Promise<string[]> {
  // A folder that goes can be nobody's working directory, least of all that of git.
  process.chdir(repository.commonDir)
  await writeArchive(root, archive)
  // Until now somebody may have gone on working there.
  refuse(root, await findUncommitted(root), discard)
  const finishing: Finishing = {
    dir: realOrSame(root),
    moved: join(dirname(root), `.${basename(root)}.plan-gate-${randomBytes(4).toString('hex')}`),
    branch:
      branch.isKept || listed.branch === null || listed.head === null
        ? null
        : { name: listed.branch, head: listed.head },
    archive: archive.folder,
  }
  return takeAway(repository, finishing)
}

/** `/a/b` is inside `/a`, and `/ab` is not. */
const isInside = (path: string, folder: string): boolean => `${realOrSame(path)}/`.startsWith(`${realOrSame(folder)}/`)

const discardedBy: { readonly [kind in Obstacle['kind']]?: Discardable } = {
  uncommitted: 'uncommitted',
  unmerged: 'unmerged',
  submodule: 'unmerged',
}

const passing: readonly Obstacle['kind'][] = ['review', 'session', 'process']
const mostItems = 20

export const obstaclesLeft = (obstacles: readonly Obstacle[], discard: readonly Discardable[]): Obstacle[] =>
  obstacles.filter(({ kind }) => !discard.some((what) => what === discardedBy[kind]))

function refuse(root: string, obstacles: readonly Obstacle[], discard: readonly Discardable[]): void {
  const left = obstaclesLeft(obstacles, discard)
  if (left.length === 0) return
  const lines = left.flatMap(({ what, items, next_step }) => [
    `  ${what}`,
    ...items.slice(0, mostItems).map((item) => `      ${item}`),
    ...(items.length > mostItems ? [`      … and ${items.length - mostItems} more`] : []),
    `    → ${next_step}`,
  ])
  const names = [...new Set(left.flatMap(({ kind }) => discardedBy[kind] ?? []))]
  const flags = names.map((name) => `--discard ${name}`).join(' ')
  throw new UserError(
    `${root} stays for now:\n${lines.join('\n')}`,
    names.length === 0
      ? 'Then try again.'
      : `Then try again. To lose what is listed, say so: plan-gate finish ${flags}`,
    left.every(({ kind }) => passing.includes(kind)) ? 1 : 2,
  )
}

type Archive = { folder: string; finished: Finished; isThere: boolean }

const recordName = 'finished.json'

/** Where the reviews will lie, out of every checkout unless the user names a folder. One of an earlier run that is the same will do. */
function planArchive(target: Finishable, given: string | null, told: Told, now: Date): Archive {
  const finished = finishedRecord(target, told, now)
  const home = join(target.repository.commonDir, 'plan-gate-archive')
  if (given === null) {
    const folders = unlessAbsent(() => readdirSync(home), []).map((name) => join(home, name))
    const same = folders.find((folder) => isSame(folder, finished))
    return { folder: same ?? freeName(home, finished), finished, isThere: same !== undefined }
  }
  const folder = realOrSame(resolve(given))
  if (`${folder}/`.startsWith(`${target.root}/`))
    throw new UserError(
      `${folder} is in the worktree that is to be removed.`,
      'Name a folder elsewhere: --archive <folder>.',
    )
  const isThere = isSame(folder, finished)
  if (!isThere && !isFree(folder))
    throw new UserError(
      `${folder} is not empty, so the reviews are not put there.`,
      'Name a folder that does not exist yet.',
    )
  return { folder, finished, isThere }
}

type Told = { mergedInto: string | null; discarded: readonly string[] }

function finishedRecord({ root, listed, opened }: Finishable, { mergedInto, discarded }: Told, now: Date): Finished {
  const { plan, approval, state } = readPlanStateForSure(root)
  const ledger = verifyLedger(root)
  return {
    version: 1,
    finished_at: now.toISOString(),
    worktree: root,
    branch: listed.branch,
    base: opened.base,
    base_commit: opened.base_commit,
    head: listed.head,
    merged_into: mergedInto,
    plan_hash: plan.kind === 'read' ? plan.hash() : null,
    approval: state.kind === 'approved' && approval.kind === 'recorded' ? approval.approval : null,
    ledger_head: ledger.kind === 'intact' ? ledger.head : null,
    discarded,
    plan_gate: packageVersion(),
  }
}

function isSame(folder: string, finished: Finished): boolean {
  const read = readJson(folder, recordName, validate)
  const told = ['worktree', 'branch', 'head', 'plan_hash', 'ledger_head'] as const
  return read.kind === 'read' && finished.ledger_head !== null && told.every((key) => read.value[key] === finished[key])
}

function freeName(home: string, { branch, finished_at }: Finished): string {
  const name = (branch ?? 'no branch').replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
  const stamp = finished_at.replace(/[-:]|\.\d+/g, '')
  const names = ['', ...Array.from({ length: 99 }, (_, n) => `-${n + 2}`)].map((tail) =>
    join(home, `${name}-${stamp}${tail}`),
  )
  return names.find((folder) => !existsSync(folder)) ?? join(home, `${name}-${stamp}-more`)
}

function isFree(folder: string): boolean {
  try {
    return !existsSync(folder) || readdirSync(folder).length === 0
  } catch {
    return false
  }
}

/** Whole or not at all: it gets its name when everything is in it. */
async function writeArchive(root: string, { folder, finished, isThere }: Archive): Promise<void> {
  if (isThere) return
  const held = await withLock(root, () => write(root, folder, finished), { waitMs: 6_000 })
  if (held.kind === 'busy')
    throw new UserError('A review of the plan is running.', 'Wait for it (plan-gate status), then try again.', 1)
}

function write(root: string, folder: string, finished: Finished): void {
  const partial = join(dirname(folder), `.${basename(folder)}.plan-gate-partial`)
  try {
    makeFolder(dirname(folder))
    for (const name of leftBy(partial)) rmSync(join(dirname(folder), name), { recursive: true, force: true })
    mkdirSync(partial, { mode: 0o700 })
    const reviews = checkFolder(root, reviewDir)
    throwIfUnreadable(reviewDir, reviews)
    if (reviews.kind === 'folder') copyReviews(root, partial)
    const plan = readRegular(root, planPath, maxPlanBytes)
    throwIfUnreadable(planPath, plan)
    if (plan.kind === 'read') putFile(partial, planPath, plan.bytes, 0o600)
    putFile(partial, recordName, `${JSON.stringify(finished, null, 2)}\n`, 0o600)
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(partial, folder)
    syncFolder(dirname(folder))
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw new UserError(
      `The reviews cannot be archived in ${folder} (${whyOf(error)}), so nothing was removed.`,
      'Name another folder: --archive <folder>.',
      1,
    )
  }
}

/** Of folders that it would make together, node calls a disk that is read-only one where something is missing. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(folder)
  }
}

const whyOf = (error: unknown): string =>
  error instanceof StoreError ? error.message.replace(`. ${error.next}`, '') : errnoOf(error)

/** What killed runs have left: the same name at another time. We hold the lock, so nobody is at it. */
const leftBy = (partial: string): string[] =>
  readdirSync(dirname(partial)).filter((name) => withoutTime(name) === withoutTime(basename(partial)))

const withoutTime = (name: string): string => name.replace(/\d{8}T\d{6}Z(-\d+)?(?=\.plan-gate-partial$)/, '')

/** As much as the archive takes. */
const maxPlanBytes = 64 * 1024 * 1024

/**
 * The files that would be lost, as `git status` marks them. The plan is not among them: it goes into the archive byte
 * for byte.
 */
async function uncommitted(root: string): Promise<string[]> {
  const flags = ['--porcelain', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=none']
  const listed = await gitOrThrow(root, ['status', ...flags], 300_000)
  const isArchived = readRegular(root, planPath, maxPlanBytes).kind === 'read'
  const records = listed.split('\0').filter((record) => record !== '')
  return isArchived ? records.filter((record) => record.slice(3) !== planPath) : records
}

/** What git ignores and nobody would miss, or nobody would notice: folders as a whole, our own left out. */
async function ignoredIn(root: string): Promise<string[]> {
  const flags = ['--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const listed = await gitOrThrow(root, ['ls-files', ...flags])
  return listed.split('\0').filter((path) => path !== '' && !path.startsWith('.claude/'))
}

/** A worktree that bootstrap opened, and what is known of it. */
type Finishable = {
  repository: Repository
  gitDirs: GitDirs
  listed: Listed
  root: string
  opened: OpenedWorktree
}

type Target =
  | ({ kind: 'worktree' } & Finishable)
  /** An earlier run was cut short while it took the worktree away. */
  | { kind: 'begun'; repository: Repository; begun: Finishing }

/** The worktree that is meant: the one that is named, or the one that the user stands in. */
async function findFinishable(cwd: string, named: string | null): Promise<Target> {
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

/** What is being taken away, kept in the common git directory until it is gone. Written when nothing can be lost any more. */
export type Finishing = {
  dir: string
  /** Where the folder is moved first: in one step, and to a name that nobody else uses. */
  moved: string
  /** The branch that goes, and where it was. */
  branch: { name: string; head: string } | null
  archive: string
}

const prefix = 'plan-gate-finishing-'
const nameOf = (dir: string): string => `${prefix}${sha256(dir).slice(0, 16)}.json`

export function beginFinishing(commonDir: string, finishing: Finishing): void {
  const name = nameOf(finishing.dir)
  sweepTemporaries(commonDir, '.', name)
  writeWhole(commonDir, name, `${JSON.stringify(finishing)}\n`)
}

const endFinishing = (commonDir: string, dir: string): void => rmSync(join(commonDir, nameOf(dir)), { force: true })

const listFinishing = (commonDir: string): Finishing[] =>
  readdirSync(commonDir)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
    .flatMap((name) => readRecord(join(commonDir, name)) ?? [])

const readFinishing = (commonDir: string, dir: string): Finishing | null => readRecord(join(commonDir, nameOf(dir)))

function readRecord(path: string): Finishing | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Finishing
  } catch {
    return null
  }
}

const quietMinutes = 3

/** Everything that stands in the way, so that it is told at once. */
async function findObstacles(
  target: Finishable,
  merged: Merged,
  targets: readonly MergeTarget[],
  branchIsKept: boolean,
  now: Date,
): Promise<Obstacle[]> {
  const { root } = target
  return [
    ...findLock(target),
    ...findNoBranch(target),
    ...(await findUncommitted(root)),
    ...(branchIsKept || merged.kind === 'merged' ? [] : [unmerged(target, merged.commits, targets)]),
    ...findSubmoduleCommits(await unpushedInSubmodules(root)),
    ...findReview(root, now),
    ...findSessions(root, now),
    ...findProcesses(root),
  ]
}

function findLock({ listed, root }: Finishable): Obstacle[] {
  if (listed.locked === null) return []
  const why = listed.locked === '' ? '' : ` (${listed.locked})`
  const what = `The worktree is locked${why}.`
  return [{ kind: 'locked', what, items: [], next_step: `git worktree unlock ${shellWord(root)}` }]
}

/** A rebase or a bisect that is under way is also on no branch. */
function findNoBranch({ listed, opened }: Finishable): Obstacle[] {
  if (listed.branch !== null) return []
  return [
    {
      kind: 'no-branch',
      what: `The worktree is on no branch, but at the commit ${listed.head?.slice(0, 12)}: a rebase may be under way.`,
      items: [],
      next_step: `End what is under way, or go back: git switch ${opened.own_branch ?? '<branch>'} (git branch <name> keeps the commit).`,
    },
  ]
}

async function findUncommitted(root: string): Promise<Obstacle[]> {
  const items = await uncommitted(root)
  if (items.length === 0) return []
  const what = items.length === 1 ? 'A file is not committed.' : `${items.length} files are not committed.`
  return [{ kind: 'uncommitted', what, items, next_step: 'Commit them, or take them elsewhere.' }]
}

function unmerged({ listed }: Finishable, items: readonly string[], targets: readonly MergeTarget[]): Obstacle {
  const places = targets.map(({ name }) => name).join(', ')
  const looked = targets.length === 0 ? 'there is no other branch to look into' : `looked into ${places}`
  const many = items.length === 1 ? 'A commit' : `${items.length} commits`
  return {
    kind: 'unmerged',
    what: `${many} of ${listed.branch} ${items.length === 1 ? 'is' : 'are'} not merged (${looked}).`,
    items,
    next_step: 'Merge the branch (and fetch, where it was merged elsewhere), or keep it: --keep-branch.',
  }
}

function findSubmoduleCommits(items: readonly string[]): Obstacle[] {
  if (items.length === 0) return []
  const what = 'Submodules have commits that are in no other repository.'
  return [{ kind: 'submodule', what, items, next_step: 'Push them from there.' }]
}

/** A number is given out again; a review that should have ended long ago has. */
function findReview(root: string, now: Date): Obstacle[] {
  const read = readProgress(root)
  throwIfUnreadable(reviewPaths.progress, read)
  if (read.kind !== 'running' || Date.parse(read.progress.deadline_at) + 60_000 < now.getTime()) return []
  const { revision, backend, pid, deadline_at } = read.progress
  return [
    {
      kind: 'review',
      what: `Revision ${revision} of the plan is being reviewed by ${backend} (process ${pid}), until ${deadline_at} at most.`,
      items: [],
      next_step: 'Wait for it, or end it with Esc in Claude Code.',
    },
  ]
}

function findSessions(root: string, now: Date): Obstacle[] {
  const live = listSessions(root).flatMap(({ folder, session, lastSeenMs, why }) => {
    const age = now.getTime() - lastSeenMs
    if (why !== null && age <= quietMinutes * 60_000) throw new StoreError(folder, `cannot be looked into: ${why}`)
    return session === null || session.ended_at !== undefined || age > quietMinutes * 60_000 ? [] : [{ session, age }]
  })
  return live.map(({ session, age }) => ({
    kind: 'session',
    what: `The Claude Code session ${session.session_id} was heard of ${Math.max(0, Math.round(age / 1000))} s ago.`,
    items: [],
    next_step: `End it (/exit). A session that has ended counts until it was silent for ${quietMinutes} minutes.`,
  }))
}

function findProcesses(root: string): Obstacle[] {
  const items = processesIn(root).map(({ pid, name }) => `${pid} ${name}`)
  if (items.length === 0) return []
  return [{ kind: 'process', what: 'Programs are running in the worktree.', items, next_step: 'End them.' }]
}

/** Commits in submodules that are in no other repository: those of a worktree have a git directory of their own. */
async function unpushedInSubmodules(root: string, above = ''): Promise<string[]> {
  const listed = await gitOrThrow(root, ['ls-files', '--stage', '-z'])
  const paths = listed
    .split('\0')
    .flatMap((entry) => (entry.startsWith('160000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : []))
  const found: string[] = []
  for (const path of paths) {
    const dir = join(root, path)
    if (!existsSync(join(dir, '.git'))) continue
    const commits = await git(dir, [
      'log',
      '--format=%h %s',
      '--max-count=20',
      ...everything,
      '--not',
      '--remotes',
      '--',
    ])
    const lines =
      commits.kind === 'ok' ? commits.stdout.split('\n').filter((line) => line !== '') : ['(it cannot be read)']
    found.push(
      ...lines.map((line) => `${above}${path}: ${line}`),
      ...(await unpushedInSubmodules(dir, `${above}${path}/`)),
    )
  }
  return found
}

const everything = ['HEAD', '--branches', '--glob=refs/stash'] as const

type Merged = { kind: 'merged'; into: string | null } | { kind: 'unmerged'; commits: readonly string[] }

/**
 * Whether everything up to this commit is in one of the targets: as it is, or as other commits (rebased, cherry-picked,
 * squashed). `into: null` means that there is nothing beyond where the work started.
 */
async function findUnmerged(
  repository: string,
  head: string,
  start: string,
  targets: readonly MergeTarget[],
): Promise<Merged> {
  for (const { name, rev } of targets)
    if ((await gitOrNull(repository, ['merge-base', '--is-ancestor', head, rev])) !== null)
      return { kind: 'merged', into: name }
  if (head === start) return { kind: 'merged', into: null }
  for (const { name, rev } of targets)
    if (await isContained(repository, head, start, rev)) return { kind: 'merged', into: name }
  const lists = await Promise.all(targets.map(({ rev }) => missingIn(repository, head, start, rev)))
  const [fewest] = lists.sort((one, other) => one.length - other.length)
  return { kind: 'unmerged', commits: fewest ?? (await missingIn(repository, head, start, start)) }
}

/** Those that are there as other commits left out. */
async function missingIn(repository: string, head: string, start: string, target: string): Promise<string[]> {
  const flags = ['--format=%h %s', '--max-count=1000', '--right-only', '--cherry-pick']
  const listed = await ask(repository, ['log', ...flags, `${target}...${head}`, `^${start}`, '--'])
  return (listed ?? '(git cannot list them)').split('\n').filter((line) => line !== '')
}

/** By its changes: each commit for itself, all of them as one, or because a merge would change nothing. */
const isContained = async (repository: string, head: string, start: string, target: string): Promise<boolean> =>
  (await hasEachCommit(repository, head, start, target)) || (await hasSquashed(repository, head, target))

/** A merge commit is not among what `git cherry` tells, so with one in it this proves nothing. */
async function hasEachCommit(repository: string, head: string, start: string, target: string): Promise<boolean> {
  const range = [head, `^${target}`, `^${start}`]
  const merges = await ask(repository, ['rev-list', '--merges', '--max-count=1', ...range, '--'])
  return merges === '' && isNothingNew(await ask(repository, ['cherry', target, head, start]))
}

const isNothingNew = (cherry: string | null): boolean =>
  cherry?.split('\n').every((line) => line === '' || line.startsWith('- ')) === true

/** What has to be made for the comparison is written beside the repository, and not into it. */
const hasSquashed = (repository: string, head: string, target: string): Promise<boolean> =>
  withTemporaryFolder('finish', async (folder) => {
    const env = {
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository, 'objects'),
      ...nobody,
    }
    const base = await ask(repository, ['merge-base', target, head])
    const one =
      base === null
        ? null
        : await ask(repository, ['commit-tree', `${head}^{tree}`, '-p', base.trim(), '-m', 'as one'], env)
    if (one !== null && isNothingNew(await ask(repository, ['cherry', target, one.trim()], env))) return true
    // git before 2.38 does not know --write-tree.
    const merged = await ask(repository, ['merge-tree', '--write-tree', target, head], env)
    const tree = await ask(repository, ['rev-parse', `${target}^{tree}`])
    return merged !== null && tree !== null && merged.trim() === tree.trim()
  })

const nobody = {
  GIT_AUTHOR_NAME: 'plan-gate',
  GIT_AUTHOR_EMAIL: 'plan-gate@localhost',
  GIT_COMMITTER_NAME: 'plan-gate',
  GIT_COMMITTER_EMAIL: 'plan-gate@localhost',
} as const

/** Null where git says no, or cannot say. */
async function ask(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string | null> {
  const run = await spawnGit(cwd, args, 120_000, env)
  return run.kind === 'ended' && run.exitCode === 0 ? run.stdout.toString('utf8') : null
}

/** Where commits count as merged. `name` is for people. */
type MergeTarget = { name: string; rev: string }

/** The branch that the work started from, the one of the main checkout, and what both follow elsewhere. */
async function mergeTargets({ repository, listed, opened }: Finishable): Promise<MergeTarget[]> {
  const cwd = repository.commonDir
  const main = (await gitOrNull(cwd, ['symbolic-ref', '--quiet', 'HEAD']))?.trim() ?? null
  const branches = [opened.base, main].filter((ref) => ref !== null)
  const followed = await Promise.all(branches.map((ref) => upstreamOf(cwd, ref)))
  const own = `refs/heads/${listed.branch}`
  const refs = [...new Set([...branches, ...followed.flat()])].filter((ref) => ref !== own)
  const known = await Promise.all(refs.map(async (ref) => ((await exists(cwd, ref)) ? [ref] : [])))
  const targets = known.flat().map((ref) => ({ name: ref.replace(/^refs\/(heads|remotes)\//, ''), rev: ref }))
  // On no branch: the commit that the main checkout is at.
  const isDetached = main === null && (await exists(cwd, 'HEAD'))
  return isDetached ? [...targets, { name: 'HEAD of the main checkout', rev: 'HEAD' }] : targets
}

async function upstreamOf(cwd: string, ref: string): Promise<string[]> {
  const found = await gitOrNull(cwd, ['for-each-ref', '--format=%(upstream)', ref])
  return (found ?? '').split('\n').filter((line) => line !== '')
}

const exists = async (cwd: string, rev: string): Promise<boolean> =>
  (await gitOrNull(cwd, ['rev-parse', '--verify', '--quiet', `${rev}^{commit}`])) !== null

/**
 * Takes the worktree away. The folder is moved in one step, so that it is there as a whole or not at all; whatever is cut
 * short after that is finished by the next run, which goes by the record. Answers what a person should know.
 */
async function takeAway(repository: Repository, finishing: Finishing): Promise<string[]> {
  const { commonDir } = repository
  const gitDirs = { own: commonDir, common: commonDir, mainRoot: null }
  // Once before: what it needs is then loaded, should this very program lie in the folder that goes.
  await refreshExcludes(gitDirs)
  beginFinishing(commonDir, finishing)
  moveAside(commonDir, finishing)
  return endBegun(repository, finishing)
}

/** Each step can be done again. */
async function endBegun(repository: Repository, finishing: Finishing): Promise<string[]> {
  const { commonDir } = repository
  const notes = await forgetEntry(commonDir, finishing.dir)
  await refreshExcludes({ own: commonDir, common: commonDir, mainRoot: null })
  notes.push(...(await deleteBranch(commonDir, finishing)))
  removeMoved(finishing)
  endFinishing(commonDir, finishing.dir)
  return notes
}

function moveAside(commonDir: string, { dir, moved }: Finishing): void {
  try {
    renameSync(dir, moved)
  } catch (error) {
    endFinishing(commonDir, dir)
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
  const entry = listed.find(({ path }) => realOrSame(path) === dir)
  if (entry === undefined) return []
  const removed = await git(commonDir, ['worktree', 'remove', '--force', entry.path])
  // The record of what is left to do stays, and the next run does it.
  if (removed.kind === 'failed' && removed.exitCode < 0)
    throw new UserError(`The worktree is gone, but git's entry of it is not: ${removed.message}.`, again, 1)
  return removed.kind === 'ok' ? [] : [`git keeps its entry of the worktree (${removed.message}): git worktree prune`]
}

const again = 'Put that right, then run the same command again.'

/** Only where it still is what was looked at. With `update-ref`, because that is decided and done in one step. */
async function deleteBranch(commonDir: string, { branch, dir }: Finishing): Promise<string[]> {
  if (branch === null) return []
  const ref = `refs/heads/${branch.name}`
  const now = await git(commonDir, ['rev-parse', '--verify', '--quiet', ref])
  if (now.kind === 'failed') return now.exitCode < 0 ? [`${branch.name} is kept: ${now.message}.`] : []
  const holder = (await listWorktrees(commonDir)).find((worktree) => worktree.branch === branch.name)
  if (holder !== undefined && realOrSame(holder.path) !== dir)
    return [`${branch.name} is kept: it is checked out in ${holder.path}.`]
  if (holder !== undefined) return [`${branch.name} is kept: ${dir} is on it again.`]
  const deleted = await git(commonDir, ['update-ref', '-d', ref, branch.head])
  if (deleted.kind === 'failed') return [`${branch.name} is kept: it has changed meanwhile (${deleted.message}).`]
  await git(commonDir, ['config', '--remove-section', `branch.${branch.name}`])
  return []
}

function removeMoved({ moved }: Finishing): void {
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
