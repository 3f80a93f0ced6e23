import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path/posix'

/** Readable by this user only, and removed after `act`, also if a signal ends the process. */
export async function withTemporaryFolder<T>(
  purpose: string,
  act: (folder: string) => Promise<T>,
  parent: string | null = null,
): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(parent ?? tmpdir(), `plan-gate-${purpose}-`)))
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
