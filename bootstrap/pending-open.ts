import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errnoOf, isAlive } from '../src/state/files.ts'
import { systemErrorCode, UserError, unlessAbsent } from '../src/system/errors.ts'
import { readGitDirs } from '../src/system/git-dirs.ts'
import { resolveLinks } from '../src/system/repository.ts'
import { sha256 } from '../src/system/sha256.ts'

export type OnBranch = { dir: string; branch: string; newBranch: boolean }

/** A worktree that is being opened, recorded in the common git directory until it is open. */
export type PendingOpen = OnBranch & { commit: string }
type PendingOpenRecord = PendingOpen & { pid: number; since: number }

const orphanWaitMs = 60_000

/** Process ids are reused; no run takes this long. */
const maxOpenMs = 60 * 60_000

/** What a killed run has left to finish. Throws while that run, or its git, still runs. */
export async function readPendingOpen(commonDir: string, dir: string): Promise<PendingOpen | null> {
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

export function writePendingOpen(commonDir: string, pending: PendingOpen): void {
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

export const removePendingOpen = (commonDir: string, dir: string): void =>
  rmSync(pendingOpenPath(commonDir, dir), { force: true })

const pendingOpenPath = (commonDir: string, dir: string): string =>
  join(commonDir, `plan-gate-opening-${sha256(dir).slice(0, 16)}.json`)

/** A truncated record was written by a run that was killed before it started git: there is nothing to finish. */
export function readPendingRecord(commonDir: string, dir: string): PendingOpenRecord | null {
  try {
    return JSON.parse(readFileSync(pendingOpenPath(commonDir, dir), 'utf8')) as PendingOpenRecord
  } catch {
    return null
  }
}

export const isRunning = ({ pid, since }: PendingOpenRecord): boolean =>
  pid !== process.pid && isAlive(pid) && Date.now() - since < maxOpenMs

const isBeingOpenedError = (dir: string, by: string): UserError =>
  new UserError(`${dir} is being opened by ${by} right now.`, 'Wait until it has finished, then try again.', 1)

/** The locks that a killed checkout held. */
export function removeLocks(commonDir: string, { dir, branch, newBranch }: PendingOpen): void {
  const own = readGitDirs(dir)?.own
  const locks = own === undefined ? [] : [`${own}/index.lock`, `${own}/HEAD.lock`]
  if (newBranch) locks.push(`${commonDir}/refs/heads/${branch}.lock`)
  for (const lock of locks) rmSync(lock, { force: true })
}

/** Entries of a killed `git worktree add`, which had checked out nothing yet. */
export function removeHalfAdded(commonDir: string, dir: string): void {
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
