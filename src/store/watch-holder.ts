import { lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { errnoOf, StoreError } from './store-error.ts'

/**
 * Tells a dead holder from a slow one: a live one sets the lock's time every second. Dead is a time long past, or one
 * that did not change while we watched (the clock may have been put back).
 */
export function watchHolder(path: string, deadAfterMs: number): { removeIfDead: () => boolean } {
  let seen = { mtimeMs: Number.NaN, since: 0 }

  const isDead = (): boolean => {
    const mtimeMs = lockTime(path)
    if (mtimeMs === undefined) return false
    if (mtimeMs !== seen.mtimeMs) seen = { mtimeMs, since: performance.now() }
    return Date.now() - mtimeMs > deadAfterMs || performance.now() - seen.since > deadAfterMs
  }
  return { removeIfDead: () => isDead() && alone(`${path}.remove`, deadAfterMs, () => isDead() && remove(path)) }
}

/** Of all who find it dead, one removes it, and looks once more before: it may be a new holder's by then. */
function alone(guard: string, deadAfterMs: number, work: () => boolean): boolean {
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
