import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readPlanStateOrThrow } from '../src/gate/read-plan-state.ts'
import { readConfigIn } from '../src/install/compile-config.ts'
import { fromBase64, ignoreMark } from '../src/install/plan.ts'
import { formatSettings, settingsOrEmpty, withoutOwnEntries } from '../src/install/settings.ts'
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
  readRegular,
  removePath,
  StoreError,
  syncFolder,
  throwIfUnreadable,
} from '../src/state/files.ts'
import { verifyLedger } from '../src/state/ledger.ts'
import {
  gitDirFolder,
  hooksDir,
  ignorePath,
  installRecordPath,
  ownSkillDirs,
  planPath,
  reviewDir,
} from '../src/state/own-paths.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { asFailure, git, gitOrNull, readBlob } from '../src/system/git.ts'
import type { GitDirs } from '../src/system/git-dirs.ts'
import { packageVersion } from '../src/system/package.ts'
import { listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { parseJson } from '../src/text/json.ts'
import type { Finishable } from './find-worktree.ts'
import type { Merged } from './finish.ts'

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
  return join(home, `${name}-${finished_at.replace(/[-:]|\.\d+/g, '')}`)
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

const write = (root: string, folder: string, finished: Finished): void =>
  putFolder('The reviews', folder, (partial) => {
    const reviews = checkFolder(root, reviewDir)
    throwIfUnreadable(reviewDir, reviews)
    if (reviews.kind === 'folder') copyReviews(root, partial)
    const plan = readPlanBytes(root)
    if (plan.kind === 'read') putFile(partial, planPath, plan.bytes, 0o600)
    putFile(partial, recordName, `${JSON.stringify(finished, null, 2)}\n`, 0o600)
  })

/** Whole or not at all, and readable by the user only. */
function putFolder(what: string, folder: string, fill: (partial: string) => void): void {
  const partial = join(dirname(folder), `.${basename(folder)}.plan-gate-partial`)
  try {
    makeFolder(dirname(folder))
    for (const name of leftoversOf(partial)) rmSync(join(dirname(folder), name), { recursive: true, force: true })
    mkdirSync(partial, { mode: 0o700 })
    fill(partial)
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(partial, folder)
    syncFolder(dirname(folder))
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw new UserError(
      `${what} cannot be archived in ${folder} (${reasonOf(error)}), so nothing was removed.`,
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
function names(template: string, { root, repository, listed }: Finishable, { approval, finished_at }: Finished) {
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
async function placeOf({ repository }: Finishable, into: string | null) {
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

/** What git ignores in a worktree, folders as a whole, and what becomes of it with the worktree. */
type Ignored = {
  /** Goes with the worktree: the main checkout has the same. */
  inMain: string[]
  /** Goes with the worktree: it can be made again, or is an empty folder. */
  goes: string[]
  /** Small, and only here: into the archive. */
  kept: { path: string; files: readonly string[] }[]
  obstacles: Obstacle[]
}

const maxEntryBytes = 1024 * 1024
const maxEntryFiles = 500
const maxKeptBytes = 16 * 1024 * 1024

export async function readIgnored(root: string, { own, mainRoot }: GitDirs): Promise<Ignored> {
  const made = readMadeBySetup(own)
  const found: Ignored = { inMain: [], goes: [], kept: [], obstacles: [] }
  const left = new Map<string, string[]>()
  let keptBytes = 0
  for (const path of await ignoredEntries(root, own)) {
    const { files, bytes, why } = measure(root, path)
    if (why === null && files.length === 0) found.goes.push(path)
    // One file is compared whatever its size.
    else if (isInMain(root, mainRoot, why === null ? files : [path])) found.inMain.push(path)
    else if (isMarkedAsMade(root, path)) found.goes.push(path)
    else if (why === null && keptBytes + bytes <= maxKeptBytes) {
      keptBytes += bytes
      found.kept.push({ path, files })
    } else if (made.includes(path)) found.goes.push(path)
    else {
      const reason = why ?? 'would make the archive larger than 16 MB'
      left.set(reason, [...(left.get(reason) ?? []), path])
    }
  }
  for (const [why, items] of left)
    found.obstacles.push({
      kind: 'ignored',
      what: `git ignores these; they are in no other place, and ${why}.`,
      items,
      next_step: 'Move what you still need.',
    })
  return found
}

/** Without plan-gate's own, and without the plan, which is archived in any case. */
async function ignoredEntries(root: string, gitDir: string): Promise<string[]> {
  const flags = ['--others', '--ignored', '--exclude-standard', '-z']
  const list = async (args: readonly string[]): Promise<string[]> =>
    (await git(root, ['ls-files', ...flags, ...args], { timeoutMs: 300_000 })).split('\0').filter((path) => path !== '')
  const entries = await list(['--directory', '--', ':/', ':(exclude,top).claude'])
  // File by file, because most of this folder is ours.
  const beside = (await list(['--', ':(top).claude'])).filter((path) => !isOwn(root, gitDir, path))
  return [...entries, ...beside].filter((path) => path !== planPath)
}

function isOwn(root: string, gitDir: string, path: string): boolean {
  if ([hooksDir, reviewDir, ...ownSkillDirs].some((folder) => path.startsWith(`${folder}/`))) return true
  if (/^\.claude\/\.[^/]*\.tmp$/.test(path)) return true
  if (path === ignorePath) return textOf(root, path).startsWith(ignoreMark)
  const record = readInstallRecord(gitDir)
  throwIfUnreadable(installRecordPath, record)
  if (record.kind !== 'read' || path !== record.value.settings.path) return false
  const { before, after, denied } = record.value.settings
  const text = textOf(root, path)
  if (text === fromBase64(after)) return true
  const original = settingsOrEmpty(before === null ? '' : fromBase64(before))
  const left = withoutOwnEntries(settingsOrEmpty(text), denied, original)
  return formatSettings(left, '') === formatSettings(original, '')
}

const textOf = (root: string, path: string): string => {
  const read = readRegular(root, path)
  throwIfUnreadable(path, read)
  return read.kind === 'read' ? read.bytes.toString('utf8') : ''
}

/** `why` it cannot be archived; null where it can. */
function measure(root: string, entry: string): { files: readonly string[]; bytes: number; why: string | null } {
  const files: string[] = []
  let bytes = 0
  const walk = (path: string): string | null => {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false })
    // Node cannot name a file whose name is not UTF-8.
    if (stat === undefined)
      return path.includes('\ufffd')
        ? 'have names that are not UTF-8, so they cannot be read'
        : 'cannot be read (ENOENT)'
    if (stat.isDirectory()) {
      for (const name of readdirSync(join(root, path))) {
        const why = walk(`${path}/${name}`)
        if (why !== null) return why
      }
      return null
    }
    files.push(path)
    bytes += stat.isFile() ? stat.size : 0
    if (bytes > maxEntryBytes) return 'are larger than the archive takes (1 MB for a file, or for a folder in all)'
    if (files.length > maxEntryFiles) return `hold more files than the archive takes (${maxEntryFiles})`
    return stat.isFile() || stat.isSymbolicLink() ? null : 'are neither files, nor folders, nor links'
  }
  try {
    const why = walk(entry.replace(/\/$/, ''))
    return { files, bytes, why }
  } catch (error) {
    return { files, bytes, why: `cannot be read (${errnoOf(error)})` }
  }
}

const isInMain = (root: string, main: string | null, files: readonly string[]): boolean =>
  main !== null && main !== root && files.every((path) => isSameFile(join(root, path), join(main, path)))

/** One that cannot be read, or is larger than memory, is not the same. */
function isSameFile(one: string, other: string): boolean {
  try {
    const [stat, otherStat] = [lstatSync(one), lstatSync(other)]
    if (stat.isSymbolicLink()) return otherStat.isSymbolicLink() && readlinkSync(one) === readlinkSync(other)
    const areFiles = stat.isFile() && otherStat.isFile() && stat.size === otherStat.size
    return areFiles && readFileSync(one).equals(readFileSync(other))
  } catch {
    return false
  }
}

/** A folder that says of itself that a program makes it again: a package manager's, or a cache (https://bford.info/cachedir). */
const isMarkedAsMade = (root: string, path: string): boolean =>
  path.endsWith('/') &&
  (installMarks.some((mark) => path.endsWith('node_modules/') && isFile(join(root, path, mark))) ||
    isFile(join(root, path, 'pyvenv.cfg')) ||
    textOf(root, `${path}CACHEDIR.TAG`).startsWith('Signature: 8a477f597d28d172789f06886806bc55'))

const installMarks = ['.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml']

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

const madePath = `${gitDirFolder}/setup-made.json`

/** Called around `worktree.setup`, also one that fails: what was not there before can be made again. */
export async function recordMadeBySetup<T>(root: string, gitDir: string, setup: () => Promise<T>): Promise<T> {
  const before = await ignoredEntries(root, gitDir)
  try {
    return await setup()
  } finally {
    const made = (await ignoredEntries(root, gitDir)).filter((path) => !before.includes(path))
    putFile(gitDir, madePath, JSON.stringify([...new Set([...readMadeBySetup(gitDir), ...made])]), 0o600)
  }
}

function readMadeBySetup(gitDir: string): readonly string[] {
  const value = parseJson(unlessAbsent(() => readFileSync(join(gitDir, madePath), 'utf8'), '[]'))
  return Array.isArray(value) ? value.filter((path) => typeof path === 'string') : []
}

/** A second run writes all of it anew. */
function keepIgnored(root: string, folder: string, kept: Ignored['kept']): void {
  rmSync(folder, { recursive: true, force: true })
  putFolder(`What git ignores in ${root}`, folder, (partial) => {
    for (const path of kept.flatMap(({ files }) => files)) {
      const [from, to] = [join(root, path), join(partial, path)]
      const stat = lstatSync(from)
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
      cpSync(from, to, { verbatimSymlinks: true })
      if (stat.isFile()) chmodSync(to, stat.mode & 0o100 ? 0o700 : 0o600)
    }
  })
}
