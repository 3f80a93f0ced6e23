import { lstat, lstatSync, mkdir, mkdirSync, type NoParamCallback, rmdir, rmdirSync, utimes } from 'node:fs'
import { errnoOf, StoreError } from './files.ts'

export type LockResult<T> = { kind: 'done'; value: T } | { kind: 'busy'; waitedMs: number }

/** A holder is taken for dead after this; the lock's time may be up to a second ahead, so the wait is at most 5 s. */
const deadAfterMs = 4_000
const refreshMs = 1_000

/**
 * Runs `work` while no other process holds the lock (a folder of that name). A holder that could not refresh it, because
 * its event loop or the machine slept, may have lost it to another: then the signal is aborted, and `work` must not
 * write any more. The lock is given back when `work` ends or throws, and when the process exits.
 */
export async function holdLock<T>(
  path: string,
  work: (signal: AbortSignal) => T | Promise<T>,
  { waitMs }: { waitMs: number },
): Promise<LockResult<T>> {
  const start = performance.now()
  const holder = watchHolder(path, deadAfterMs)
  for (;;) {
    const taken = await takeLock(path)
    if (taken) {
      try {
        return { kind: 'done', value: await work(taken.signal) }
      } finally {
        await taken.release()
      }
    }
    if (holder.removeIfDead()) continue
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
      // Two waiters that find a lock stale can both remove it, the second one the first one's: `watchHolder` does it.
      stale: Number.POSITIVE_INFINITY,
      update: refreshMs,
      fs: lockFileSystem(path),
      onCompromised: (error) => lost.abort(error),
    })
    // It fails when the lock was lost, of which the signal has told, and there is nothing left to give back.
    return { signal: lost.signal, release: () => release().catch(() => {}) }
  } catch (error) {
    const code = errnoOf(error)
    // ENOENT: the holder gave it back between two looks.
    if (code === 'ELOCKED' || code === 'ENOENT') return undefined
    throw new StoreError(path, `cannot be locked (${code})`, undefined, error)
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * proper-lockfile's doors to the disk, for one holder. It would follow a link at the lock's name, and would remove the
 * lock of whoever took it over while it slept; here a lock is removed only while it bears the time that was last set.
 */
const lockFileSystem = (path: string) => {
  let setTo = Number.NaN
  const isOurs = () => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    // Some file systems keep whole seconds. Another holder's time is at least the patience of a waiter away.
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
 * Tells a dead holder from a slow one: a live one sets the lock's time every second. Dead is a time long past, or one
 * that did not change while we watched (the clock may have been put back).
 */
function watchHolder(path: string, deadAfterMs: number): { removeIfDead: () => boolean } {
  let seen = { mtimeMs: Number.NaN, since: 0 }

  const isDead = (): boolean => {
    const mtimeMs = lockTime(path)
    if (mtimeMs === undefined) return false
    if (mtimeMs !== seen.mtimeMs) seen = { mtimeMs, since: performance.now() }
    return Date.now() - mtimeMs > deadAfterMs || performance.now() - seen.since > deadAfterMs
  }
  return {
    removeIfDead: () => isDead() && withRemoveGuard(`${path}.remove`, deadAfterMs, () => isDead() && remove(path)),
  }
}

/** Of all who find it dead, one removes it, and looks once more before: it may be a new holder's by then. */
function withRemoveGuard(guard: string, deadAfterMs: number, work: () => boolean): boolean {
  try {
    mkdirSync(guard)
  } catch {
    const since = lockTime(guard)
    if (since !== undefined && Date.now() - since > deadAfterMs) remove(guard)
    return false
  }
  try {
    return work()
  } finally {
    remove(guard)
  }
}

function lockTime(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat && !stat.isDirectory()) throw new StoreError(path, 'is not a lock', 'Remove it, then try again.')
  return stat?.mtimeMs
}

function remove(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return true
    throw new StoreError(path, `cannot be removed (${errnoOf(error)})`, 'Remove it, then try again.', error)
  }
}
