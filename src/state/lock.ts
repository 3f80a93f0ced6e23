import { lstatSync, mkdirSync, rmdirSync, type Stats, utimesSync } from 'node:fs'
import { errnoOf, StoreError } from './files.ts'

export type LockResult<T> = { kind: 'done'; value: T } | { kind: 'busy'; waitedMs: number }

/** A lock that was not refreshed for this long is stale. */
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
  const isStale = watchStaleness(path)
  for (;;) {
    const taken = takeLock(path)
    if (taken !== null) {
      try {
        return { kind: 'done', value: await work(taken.signal) }
      } finally {
        taken.release()
      }
    }
    if (isStale() && withRemoveGuard(`${path}.remove`, () => isStale() && removeLock(path))) continue
    const waitedMs = Math.round(performance.now() - start)
    if (waitedMs >= waitMs) return { kind: 'busy', waitedMs }
    await new Promise((resolve) => setTimeout(resolve, Math.min(5 + Math.random() * 45, waitMs - waitedMs)))
  }
}

/** null: another process has it. It is refreshed and removed only while it has the time that this holder set last. */
function takeLock(path: string): { readonly signal: AbortSignal; readonly release: () => void } | null {
  let setTo = 0
  const refresh = (): void => {
    const now = Date.now()
    utimesSync(path, now / 1_000, now / 1_000)
    setTo = now
  }
  let isMade = false
  try {
    mkdirSync(path)
    isMade = true
    refresh()
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'EEXIST' || (code === 'ENOENT' && isMade)) return null
    throw new StoreError(path, `cannot be locked (${code})`, undefined, error)
  }
  const lost = new AbortController()
  const isOurs = (): boolean => {
    const stat = statOrNull(path)
    // Some file systems keep whole seconds. Another holder's time differs by at least `staleMs`.
    return stat?.isDirectory() === true && Math.abs(stat.mtimeMs - setTo) < refreshMs
  }
  const timer = setInterval(() => {
    try {
      if (isOurs()) return refresh()
    } catch {
      // A disk that fails for a moment does not end it.
      if (Date.now() - setTo < staleMs) return
    }
    clearInterval(timer)
    lost.abort()
  }, refreshMs)
  timer.unref()
  const release = (): void => {
    clearInterval(timer)
    process.off('exit', release)
    try {
      if (isOurs()) rmdirSync(path)
    } catch {}
  }
  process.on('exit', release)
  return { signal: lost.signal, release }
}

/**
 * A live holder refreshes the lock's time every second. The lock is stale if its time is long past, or did not change
 * while this process watched it (the clock may have been set back).
 */
function watchStaleness(path: string): () => boolean {
  let seen = { mtimeMs: Number.NaN, since: 0 }
  return () => {
    const mtimeMs = lockTime(path)
    if (mtimeMs === undefined) return false
    if (mtimeMs !== seen.mtimeMs) seen = { mtimeMs, since: performance.now() }
    return Date.now() - mtimeMs > staleMs || performance.now() - seen.since > staleMs
  }
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

const statOrNull = (path: string): Stats | null => lstatSync(path, { throwIfNoEntry: false }) ?? null

function lockTime(path: string): number | undefined {
  const stat = statOrNull(path)
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
