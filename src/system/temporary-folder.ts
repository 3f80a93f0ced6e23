import { lstatSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path/posix'
import { systemErrorCode } from './errors.ts'

/** Readable by this user only, and removed after `act`, also if a signal ends the process; after a kill, by a later run. */
export async function withTemporaryFolder<T>(
  purpose: string,
  act: (folder: string) => Promise<T>,
  parent: string | null = null,
): Promise<T> {
  const above = parent ?? tmpdir()
  removeAbandoned(above)
  const folder = realpathSync(mkdtempSync(join(above, `plan-gate-${purpose}-${process.pid}-${processSpace()}-`)))
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

/** Elsewhere, such as in a container with the same /tmp, the number of a process says nothing of whether it lives. */
function processSpace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

const ownName = /^plan-gate-[a-z]+-(\d{1,10})-(\d{1,20})-\w{6}$/
const abandonedAfterMs = 3_600_000

/** Only this user's, of a process that is gone from the same space of processes. Nothing depends on it, so nothing fails. */
function removeAbandoned(parent: string): void {
  try {
    const space = processSpace()
    for (const name of readdirSync(parent)) {
      const [, pid, madeIn] = ownName.exec(name) ?? []
      if (pid === undefined || madeIn !== space) continue
      const stat = lstatSync(join(parent, name), { throwIfNoEntry: false })
      const isOurs = stat?.isDirectory() === true && stat.uid === process.getuid?.()
      if (isOurs && Date.now() - stat.mtimeMs > abandonedAfterMs && hasEnded(Number(pid)))
        rmSync(join(parent, name), { recursive: true, force: true })
    }
  } catch {}
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return systemErrorCode(error) === 'ESRCH'
  }
}
