import { lockFileSystem } from './lock-file-system.ts'
import { errnoOf, StoreError } from './store-error.ts'
import { watchHolder } from './watch-holder.ts'

export type Held<T> = { kind: 'done'; value: T } | { kind: 'busy'; waitedMs: number }

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
): Promise<Held<T>> {
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
