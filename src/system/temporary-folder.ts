import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path/posix'

/** Readable by this user only, and removed after the act, also where a signal ends it. */
export async function withTemporaryFolder<T>(
  purpose: string,
  act: (folder: string) => Promise<T>,
  parent: string | null = null,
): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(parent ?? tmpdir(), `plan-gate-${purpose}-`)))
  const remove = (): void => removeSoon(folder)
  process.once('exit', remove)
  try {
    return await act(folder)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

/** A git that got the same signal may write a last file there while it ends. */
function removeSoon(folder: string, triesLeft = 50): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    if (triesLeft === 0) return
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    removeSoon(folder, triesLeft - 1)
  }
}
