import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readPlanStateOrThrow } from '../src/gate/read-plan-state.ts'
import { readConfigIn } from '../src/install/compile-config.ts'
import type { Obstacle } from '../src/schemas/output.ts'
import { type Finished, finishedSchema } from '../src/schemas/records.ts'
import { readPlanBytes } from '../src/state/approval.ts'
import { withLock } from '../src/state/cycles.ts'
import {
  checkFolder,
  copyReviews,
  errnoOf,
  putFile,
  readJson,
  removePath,
  StoreError,
  syncFolder,
  throwIfUnreadable,
} from '../src/state/files.ts'
import { verifyLedger } from '../src/state/ledger.ts'
import { planPath, reviewDir } from '../src/state/own-paths.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { asFailure, git, gitOrNull, readBlob } from '../src/system/git.ts'
import { packageVersion } from '../src/system/package.ts'
import { listWorktrees, resolveLinks } from '../src/system/repository.ts'
import type { Finishable } from './find-worktree.ts'
import type { Merged } from './finish.ts'
import { type Ignored, keepIgnored } from './ignored-files.ts'

type Archive = {
  folder: string
  finished: Finished
  exists: boolean
  /** For what git ignores. Always below the git directory, where nobody can commit the keys that may be in it. */
  ignoredFolder: string
}

const recordName = 'finished.json'

/** Where the reviews go: below the git directory, or the folder that the user names. An equal archive of an earlier run is reused. */
export function planArchive(target: Finishable, requested: string | null, facts: FinishFacts, now: Date): Archive {
  const finished = finishedRecord(target, facts, now)
  const home = join(target.repository.commonDir, 'plan-gate-archive')
  const free = freeName(home, finished)
  // What a killed run has left is written anew, and removed by the next one.
  const earlier = unlessAbsent(() => readdirSync(home), []).filter((name) => !isPartial(name))
  const same = earlier.map((name) => join(home, name)).find((folder) => isSame(folder, finished))
  const folder = requested === null ? (same ?? free) : resolveLinks(resolve(requested))
  const exists = isSame(folder, finished)
  const ignoredFolder = join(requested === null ? folder : free, 'ignored')
  if (`${folder}/`.startsWith(`${target.root}/`))
    throw new UserError(
      `${folder} is in the worktree that is to be removed.`,
      'Name another folder: --archive <folder>.',
    )
  if (!exists && !isFree(folder))
    throw new UserError(
      `${folder} is not empty, so the reviews were not archived there.`,
      'Name a folder that does not exist yet.',
    )
  return { folder, finished, exists, ignoredFolder }
}

type FinishFacts = { mergedInto: string | null; discarded: readonly string[] }

function finishedRecord({ root, listed, opened }: Finishable, facts: FinishFacts, now: Date): Finished {
  const { plan, approval, state } = readPlanStateOrThrow(root)
  const ledger = verifyLedger(root)
  return {
    version: 1,
    finished_at: now.toISOString(),
    worktree: root,
    branch: listed.branch,
    base: opened.base,
    base_commit: opened.base_commit,
    head: listed.head,
    merged_into: facts.mergedInto,
    plan_hash: plan.kind === 'read' ? plan.hash() : null,
    approval: state.kind === 'approved' && approval.kind === 'recorded' ? approval.approval : null,
    ledger_head: ledger.kind === 'intact' ? ledger.head : null,
    discarded: facts.discarded,
    plan_gate: packageVersion(),
  }
}

function isSame(folder: string, finished: Finished): boolean {
  const read = readJson(folder, recordName, finishedSchema)
  const compared = ['worktree', 'branch', 'head', 'plan_hash', 'ledger_head'] as const
  return (
    read.kind === 'read' && finished.ledger_head !== null && compared.every((key) => read.value[key] === finished[key])
  )
}

function freeName(home: string, { branch, finished_at }: Finished): string {
  const name = (branch ?? 'no branch').replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
  const stamp = finished_at.replace(/[-:]|\.\d+/g, '')
  const nameOf = (n: number): string => join(home, `${name}-${stamp}${n === 1 ? '' : `-${n}`}`)
  let n = 1
  while (existsSync(nameOf(n))) n += 1
  return nameOf(n)
}

function isFree(folder: string): boolean {
  try {
    return !existsSync(folder) || readdirSync(folder).length === 0
  } catch {
    return false
  }
}

/** Atomic: renamed when everything is in it. */
export async function writeArchive(
  root: string,
  { folder, finished, exists, ignoredFolder }: Archive,
  kept: Ignored['kept'],
): Promise<void> {
  const work = (): void => {
    if (!exists) write(root, folder, finished)
    if (kept.length > 0) keepIgnored(root, ignoredFolder, kept)
  }
  const held = await withLock(root, work, { waitMs: 6_000 })
  if (held.kind === 'busy')
    throw new UserError('A review of the plan is running.', 'Wait for it (plan-gate status), then try again.', 1)
}

function write(root: string, folder: string, finished: Finished): void {
  const partial = join(dirname(folder), `.${basename(folder)}.plan-gate-partial`)
  try {
    makeFolder(dirname(folder))
    for (const name of leftoversOf(partial)) rmSync(join(dirname(folder), name), { recursive: true, force: true })
    mkdirSync(partial, { mode: 0o700 })
    const reviews = checkFolder(root, reviewDir)
    throwIfUnreadable(reviewDir, reviews)
    if (reviews.kind === 'folder') copyReviews(root, partial)
    const plan = readPlanBytes(root)
    if (plan.kind === 'read') putFile(partial, planPath, plan.bytes, 0o600)
    putFile(partial, recordName, `${JSON.stringify(finished, null, 2)}\n`, 0o600)
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(partial, folder)
    syncFolder(dirname(folder))
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw new UserError(
      `The reviews cannot be archived in ${folder} (${reasonOf(error)}), so nothing was removed.`,
      'Name another folder: --archive <folder>.',
      1,
    )
  }
}

/** With `recursive`, node reports a read-only disk as ENOENT. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(folder)
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof StoreError ? error.message.replace(`. ${error.next}`, '') : errnoOf(error)

/** Partial archives of killed runs: the same name with another time. We hold the lock, so nobody writes to them. */
const leftoversOf = (partial: string): string[] =>
  readdirSync(dirname(partial)).filter((name) => withoutTime(name) === withoutTime(basename(partial)))

const isPartial = (name: string): boolean => /^\..*\.plan-gate-partial$/.test(name)
const withoutTime = (name: string): string => name.replace(/\d{8}T\d{6}Z(-\d+)?(?=\.plan-gate-partial$)/, '')

/** `plan.archive`: the approved plan, committed under a name of its own, so that two worktrees do not conflict. */
type PlanCopy =
  | { kind: 'none' }
  /** Into the branch if it still has to be merged, else where the branch was merged into. */
  | { kind: 'wanted'; path: string; bytes: Buffer; in: string; branch: string; isMerged: boolean }
  | { kind: 'blocked'; obstacle: Obstacle }

/** Changes nothing. */
export async function planCopy(target: Finishable, merged: Merged, finished: Finished): Promise<PlanCopy> {
  const { root, gitDirs, listed, opened, repository } = target
  const record = readInstallRecord(gitDirs.own)
  const template = readConfigIn(root, record.kind === 'read' ? (record.value.config ?? null) : null).plan.archive
  const plan = readPlanBytes(root)
  const hasWork = listed.head !== null && listed.head !== opened.base_commit
  if (template === null || finished.approval === null || plan.kind !== 'read' || listed.branch === null || !hasWork)
    return { kind: 'none' }
  const into = merged.kind === 'merged' ? merged.into : null
  const places = [listed.branch, ...(into === null ? [] : [into])]
  for (const path of names(template, target, finished)) {
    const found = await Promise.all(places.map((rev) => readBlob(repository.commonDir, `${rev}:${path}`)))
    if (found.some((bytes) => bytes?.equals(plan.bytes) === true)) return { kind: 'none' }
    if (found.some((bytes) => bytes !== null)) continue
    const place = merged.kind === 'unmerged' ? { dir: root, branch: listed.branch } : await placeOf(target, into)
    const why = typeof place === 'string' ? place : await whyNot(place.dir, path)
    if (typeof place === 'string' || why !== null) return blocked(path, why ?? '')
    return { kind: 'wanted', path, bytes: plan.bytes, in: place.dir, branch: place.branch, isMerged: into !== null }
  }
  return blocked(template, 'there are nine others of that name')
}

/** The name, and with -2 … -9 where another plan has it. */
function names(
  template: string,
  { root, repository, listed }: Finishable,
  { approval, finished_at }: Finished,
): string[] {
  const folder = basename(root)
  const values: { readonly [name: string]: string } = {
    // Of the approval, so that a second run finds the first one's copy.
    date: (approval?.approved_at ?? finished_at).slice(0, 10),
    name: folder.startsWith(`${repository.name}-`) ? folder.slice(repository.name.length + 1) : folder,
    branch: listed.branch ?? '',
  }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    (values[name] ?? '').replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-').replace(/^\.+/, ''),
  )
  return ['', '-2', '-3', '-4', '-5', '-6', '-7', '-8', '-9'].map((tail) => path.replace(/(?=\.md$)/, tail))
}

/** The checkout of the branch that the work was merged into, or why there is none to commit in. */
async function placeOf(
  { repository }: Finishable,
  into: string | null,
): Promise<{ dir: string; branch: string } | string> {
  const holder = (await listWorktrees(repository.dir)).find(
    ({ branch, bare }) => branch === into && into !== null && !bare,
  )
  if (holder === undefined) return `no checkout here is on ${into ?? 'the branch that it was merged into'}`
  const status = await git(holder.path, ['status', '--porcelain', '--untracked-files=no'])
  const isMerging = (await gitOrNull(holder.path, ['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'])) !== null
  if (status !== '' || isMerging) return `${holder.path} has changes that are not committed`
  return { dir: holder.path, branch: into ?? '' }
}

async function whyNot(dir: string, path: string): Promise<string | null> {
  if (lstatSync(join(dir, path), { throwIfNoEntry: false }) !== undefined)
    return `${join(dir, path)} is there already, and not committed`
  const ignored = await gitOrNull(dir, ['check-ignore', '--quiet', '--', `./${path}`])
  return ignored === null ? null : 'git ignores that path'
}

const blocked = (path: string, why: string): PlanCopy => ({
  kind: 'blocked',
  obstacle: {
    kind: 'plan-copy',
    what: `The plan cannot be committed as ${path} (plan.archive): ${why}.`,
    items: [],
    next_step: 'Change that. The plan is in the archive in any case.',
  },
})

const commitTimeoutMs = 10 * 60_000

/** With the user's own hooks and signature. A commit that fails leaves nothing. */
export async function commitCopy({
  in: dir,
  path,
  bytes,
  branch,
}: Extract<PlanCopy, { kind: 'wanted' }>): Promise<void> {
  putFile(dir, path, bytes, 0o644)
  const pathspec = `:(top,literal)${path}`
  const commit = async (): Promise<string> => {
    await git(dir, ['add', '--', pathspec])
    const message = `docs: the plan of ${basename(path, '.md')}`
    return git(dir, ['commit', '--quiet', '--only', '--message', message, '--', pathspec], {
      timeoutMs: commitTimeoutMs,
    })
  }
  const failure = await commit().then(() => null, asFailure)
  if (failure === null) return
  await git(dir, ['reset', '--quiet', '--', pathspec]).catch(asFailure)
  removePath(dir, path)
  throw new UserError(
    `git did not commit the plan as ${path} on ${branch}, so nothing was removed: ${failure.stderr}`,
    'Fix that, then try again; or go without the copy: plan-gate finish --discard plan-copy',
    1,
  )
}
