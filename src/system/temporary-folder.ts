import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path/posix'

/** Readable by this user only, and removed after `act`, also if a signal ends the process; after a kill, by a later run. */
export async function withTemporaryFolder<T>(
  purpose: string,
  act: (folder: string) => Promise<T>,
  parent: string | null = null,
): Promise<T> {
  const above = parent ?? tmpdir()
  removeAbandoned(above)
  const folder = realpathSync(mkdtempSync(join(above, `plan-gate-${purpose}-`)))
  const remove = (): void => removeWithRetry(folder)
  process.once('exit', remove)
  try {
    return await act(folder)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

/** A git that got the same signal may still write a file there while it ends. */
function removeWithRetry(folder: string, retries = 50): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    if (retries === 0) return
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    removeWithRetry(folder, retries - 1)
  }
}

const ownName = /^plan-gate-(?:ask|claude|codex|demo|diff|finish|review)-\w{6}$/
const abandonedAfterMs = 7 * 24 * 3_600_000

/** What a killed process left, by its age: nothing of ours runs for a week. Nothing depends on it, so nothing fails. */
function removeAbandoned(parent: string): void {
  try {
    for (const name of readdirSync(parent).filter((one) => ownName.test(one))) {
      const stat = lstatSync(join(parent, name), { throwIfNoEntry: false })
      const isOurs = stat?.isDirectory() === true && stat.uid === process.getuid?.()
      if (isOurs && Date.now() - stat.mtimeMs > abandonedAfterMs)
        rmSync(join(parent, name), { recursive: true, force: true })
    }
  } catch {}
}
