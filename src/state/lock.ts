import { lstat, lstatSync, mkdir, mkdirSync, type NoParamCallback, rmdir, rmdirSync, utimes } from 'node:fs'
import { errnoOf, StoreError } from './files.ts'

export type LockResult<T> = { kind: 'done'; value: T } | { kind: 'busy'; waitedMs: number }

/** A lock that was not refreshed for this long is stale; its time may be up to a second ahead, so the wait is at most 5 s. */
const staleMs = 4_000
const refreshMs = 1_000

/**
 * Runs `work` while no other process holds the lock (a folder of that name). A holder that could not refresh it, because
 * its event loop or the machine slept, may have lost it to another: then the signal is aborted, and `work` must not
 * write any more. The lock is released when `work` ends or throws, and when the process exits.
 */
export async function holdLock<T>(
  path: string,
  work: (signal: AbortSignal) => T | Promise<T>,
  { waitMs }: { waitMs: number },
): Promise<LockResult<T>> {
  const start = performance.now()
  const holder = watchStaleness(path)
  for (;;) {
    const taken = await takeLock(path)
    if (taken) {
      try {
        return { kind: 'done', value: await work(taken.signal) }
      } finally {
        await taken.release()
      }
    }
    if (holder.removeIfStale()) continue
    const waitedMs = Math.round(performance.now() - start)
    if (waitedMs >= waitMs) return { kind: 'busy', waitedMs }
    await sleep(Math.min(5 + Math.random() * 45, waitMs - waitedMs))
  }
}

async function takeLock(path: string): Promise<{ signal: AbortSignal; release: () => Promise<void> } | undefined> {
  const lost = new AbortController()
  try {
    // Loaded here, because most hooks never take a lock.
    const { lock } = await import('proper-lockfile')
    const release = await lock(path, {
      lockfilePath: path,
      realpath: false,
      // Two waiters that find a lock stale can both remove it, the second one the first one's: `watchStaleness` does it.
      stale: Number.POSITIVE_INFINITY,
      update: refreshMs,
      fs: lockFileSystem(path),
      onCompromised: (error) => lost.abort(error),
    })
    // It fails when the lock was lost: the signal is aborted, and nothing is left to release.
    return { signal: lost.signal, release: () => release().catch(() => {}) }
  } catch (error) {
    const code = errnoOf(error)
    // ENOENT: the holder released it between two checks.
    if (code === 'ELOCKED' || code === 'ENOENT') return undefined
    throw new StoreError(path, `cannot be locked (${code})`, undefined, error)
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * The file system for proper-lockfile, for one holder. It would follow a link at the lock's path, and would remove the
 * lock of a process that took it over; here a lock is removed only while it has the time that this holder set last.
 */
const lockFileSystem = (path: string) => {
  let setTo = Number.NaN
  const isOurs = () => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    // Some file systems keep whole seconds. Another holder's time differs by at least `staleMs`.
    return stat?.isDirectory() === true && Math.abs(stat.mtimeMs - setTo) < 1_000
  }
  return {
    mkdir,
    stat: lstat,
    utimes: (target: string, atime: Date, mtime: Date, done: NoParamCallback) =>
      utimes(target, atime, mtime, (error) => {
        if (!error) setTo = mtime.getTime()
        done(error)
      }),
    rmdir: (target: string, done: NoParamCallback) => (isOurs() ? rmdir(target, done) : done(null)),
    rmdirSync: (target: string) => {
      if (isOurs()) rmdirSync(target)
    },
  }
}

/**
 * A live holder refreshes the lock's time every second. The lock is stale if its time is long past, or did not change
 * while this process watched it (the clock may have been set back).
 */
function watchStaleness(path: string): { removeIfStale: () => boolean } {
  let seen = { mtimeMs: Number.NaN, since: 0 }

  const isStale = (): boolean => {
    const mtimeMs = lockTime(path)
    if (mtimeMs === undefined) return false
    if (mtimeMs !== seen.mtimeMs) seen = { mtimeMs, since: performance.now() }
    return Date.now() - mtimeMs > staleMs || performance.now() - seen.since > staleMs
  }
  return { removeIfStale: () => isStale() && withRemoveGuard(`${path}.remove`, () => isStale() && removeLock(path)) }
}

/** Of all processes that find the lock stale, one removes it, after checking again: it may be a new holder's by then. */
function withRemoveGuard(guard: string, work: () => boolean): boolean {
  try {
    mkdirSync(guard)
  } catch {
    const since = lockTime(guard)
    if (since !== undefined && Date.now() - since > staleMs) removeLock(guard)
    return false
  }
  try {
    return work()
  } finally {
    removeLock(guard)
  }
}

function lockTime(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat && !stat.isDirectory()) throw new StoreError(path, 'is not a lock', 'Remove it, then try again.')
  return stat?.mtimeMs
}

function removeLock(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return true
    throw new StoreError(path, `cannot be removed (${errnoOf(error)})`, 'Remove it, then try again.', error)
  }
}
