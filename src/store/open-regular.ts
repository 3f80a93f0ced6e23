import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { join, posix } from 'node:path'
import { checkFolder, describe, lstatEntry, type Refused } from './check-folder.ts'
import { errnoOf } from './store-error.ts'

export type OpenedRegular = { kind: 'absent' } | { kind: 'opened'; fd: number; size: number } | Refused

/** Opens a regular file that no link leads to. Looks before it opens, and at what it opened; never blocks on a pipe. */
export function openRegular(root: string, path: string, flags: number): OpenedRegular {
  const folder = checkFolder(root, posix.dirname(path))
  if (folder.kind !== 'folder') return folder
  const entry = lstatEntry(root, path)
  if (entry.kind === 'refused') return entry
  if (entry.kind === 'absent' && (flags & constants.O_CREAT) === 0) return entry
  if (entry.kind === 'entry' && !entry.stat.isFile()) return notAFile(path, describe(entry.stat))

  let fd: number
  try {
    fd = openSync(join(root, path), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT') return { kind: 'absent' }
    if (code === 'ELOOP') return notAFile(path, 'a symbolic link')
    return { kind: 'refused', why: `${path} cannot be opened (${code})`, errno: code }
  }
  const stat = fstatSync(fd)
  const isWritten = (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0
  if (stat.isFile() && !(isWritten && stat.nlink > 1)) return { kind: 'opened', fd, size: stat.size }
  closeSync(fd)
  // What is written into it would appear under its other name as well, wherever that is.
  return stat.isFile()
    ? { kind: 'refused', why: `${path} has a second name (a hard link)` }
    : notAFile(path, describe(stat))
}

const notAFile = (path: string, kind: string): OpenedRegular => ({
  kind: 'refused',
  why: `${path} is ${kind}, not a regular file`,
})
