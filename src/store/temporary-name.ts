import { posix } from 'node:path'

/**
 * Beside the file, so that the rename stays on one file system; with the writer's pid, so that what a dead writer left
 * can be told from what is in use. O_EXCL makes it safe, not the randomness, hence no node:crypto.
 */
export const temporaryName = (path: string): string =>
  `${posix.dirname(path)}/.${posix.basename(path)}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`

/** The pid in such a name, or undefined for any other name. */
export const writerOf = (name: string): number | undefined => {
  const pid = /^\..+\.(\d+)\.[0-9a-z]+\.tmp$/.exec(name)?.[1]
  return pid === undefined ? undefined : Number(pid)
}
