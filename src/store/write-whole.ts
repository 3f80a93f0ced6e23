import { closeSync, constants, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { checkFolder, describe, lstatEntry } from './check-folder.ts'
import { noStep, type Step } from './step.ts'
import { errnoOf, StoreError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'
import { temporaryName } from './temporary-name.ts'

/** The file has the old content or the new one, never a part, whenever the process dies. Its folder must exist. */
export function writeWhole(
  root: string,
  path: string,
  content: string | Uint8Array,
  step: Step = noStep,
  mode = 0o600,
): void {
  refuseAllButRegular(root, path)
  const temporary = join(root, temporaryName(path))
  try {
    step(`create ${path}`)
    writeSynced(temporary, content, mode, () => step(`sync ${path}`))
    step(`rename ${path}`)
    renameSync(temporary, join(root, path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new StoreError(path, `cannot be written (${errnoOf(error)})`, undefined, error)
  }
  step(`sync the folder of ${path}`)
  syncFolder(join(root, posix.dirname(path)))
}

/** A rename would replace a link rather than follow it, but whoever put one there meant something by it. */
export function refuseAllButRegular(root: string, path: string): void {
  const folder = checkFolder(root, posix.dirname(path))
  if (folder.kind === 'absent') throw new StoreError(posix.dirname(path), 'does not exist')
  if (folder.kind === 'refused') throw new StoreError(path, `cannot be written: ${folder.why}`)
  const entry = lstatEntry(root, path)
  if (entry.kind === 'refused') throw new StoreError(path, `cannot be written: ${entry.why}`)
  if (entry.kind === 'entry' && !entry.stat.isFile()) {
    throw new StoreError(path, `is ${describe(entry.stat)}, not a regular file`, 'Remove it, then try again.')
  }
}

function writeSynced(path: string, content: string | Uint8Array, mode: number, beforeSync: () => void): void {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    writeFileSync(fd, content)
    // Not at the opening, where the umask would have a say.
    fchmodSync(fd, mode)
    beforeSync()
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
