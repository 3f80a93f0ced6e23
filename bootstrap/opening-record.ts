import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../src/store/is-alive.ts'
import { sha256 } from '../src/store/sha256.ts'
import { errnoOf } from '../src/store/store-error.ts'
import { readGitDirs } from '../src/system/git-dirs.ts'
import { systemFailure, unlessAbsent } from '../src/system/system-failure.ts'
import { UserError } from '../src/system/user-error.ts'
import { realOrSame } from './real-or-same.ts'

export type OnBranch = { dir: string; branch: string; newBranch: boolean }

/** What is about to be opened, kept in the common git directory until it is open. */
export type Opening = OnBranch & { commit: string }

type Kept = Opening & { pid: number; since: number }

const orphanMs = 60_000
/** A process id is given out again; no opening takes this long. */
const longestMs = 60 * 60_000

/** What a killed run has left to finish. One that still runs is not disturbed. */
export async function readOpening(commonDir: string, dir: string): Promise<Opening | null> {
  const kept = readKept(commonDir, dir)
  if (kept === null) return null
  if (isRunning(kept)) throw isBeingOpened(dir, `plan-gate (process ${kept.pid})`)
  const giveUpAt = Date.now() + orphanMs
  while (isGitAtWork(dir)) {
    if (Date.now() > giveUpAt) throw isBeingOpened(dir, 'git')
    await sleep(100)
  }
  return kept
}

export function beginOpening(commonDir: string, opening: Opening): void {
  const before = readKept(commonDir, opening.dir)
  if (before === null || !isRunning(before)) endOpening(commonDir, opening.dir)
  const kept: Kept = { ...opening, pid: process.pid, since: Date.now() }
  try {
    writeFileSync(openingPath(commonDir, opening.dir), `${JSON.stringify(kept)}\n`, { flag: 'wx' })
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw isBeingOpened(opening.dir, 'another plan-gate')
    throw error
  }
}

export const endOpening = (commonDir: string, dir: string): void => rmSync(openingPath(commonDir, dir), { force: true })

const openingPath = (commonDir: string, dir: string): string =>
  join(commonDir, `plan-gate-opening-${sha256(dir).slice(0, 16)}.json`)

/** A record that is not whole was cut short before git was started: there is nothing to finish. */
export function readKept(commonDir: string, dir: string): Kept | null {
  try {
    return JSON.parse(readFileSync(openingPath(commonDir, dir), 'utf8')) as Kept
  } catch {
    return null
  }
}

export const isRunning = ({ pid, since }: Kept): boolean =>
  pid !== process.pid && isAlive(pid) && Date.now() - since < longestMs

const isBeingOpened = (dir: string, by: string): UserError =>
  new UserError(`${dir} is being opened by ${by} right now.`, 'Wait until that has ended, then try again.', 1)

/** The locks that a killed checkout held. */
export function removeLocks(commonDir: string, { dir, branch, newBranch }: Opening): void {
  const own = readGitDirs(dir)?.own
  const locks = own === undefined ? [] : [`${own}/index.lock`, `${own}/HEAD.lock`]
  if (newBranch) locks.push(`${commonDir}/refs/heads/${branch}.lock`)
  for (const lock of locks) rmSync(lock, { force: true })
}

/** An entry that `git worktree add` was killed in; nothing has been checked out by then. */
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
    // What cannot be read may be whole, and somebody else's.
    if (systemFailure(error) === null) throw error
    return false
  }
}

/** By the folder that it names or, where it was killed before it could, by its own name. */
function isEntryOf(entry: string, dir: string): boolean {
  const gitdir = textOf(join(entry, 'gitdir'))
  if (gitdir !== '') return realOrSame(dirname(resolve(entry, gitdir))) === dir
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
