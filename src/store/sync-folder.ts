import { closeSync, constants, fsyncSync, openSync } from 'node:fs'

/** Makes a rename in it survive a power cut. Windows and some network disks cannot; there the rename has to do. */
export function syncFolder(path: string): void {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch {
    return
  }
  try {
    fsyncSync(fd)
  } catch {
    // See above.
  } finally {
    closeSync(fd)
  }
}
