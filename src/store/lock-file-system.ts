import { lstat, lstatSync, mkdir, type NoParamCallback, rmdir, rmdirSync, utimes } from 'node:fs'

/**
 * proper-lockfile's doors to the disk, for one holder. It would follow a link at the lock's name, and would remove the
 * lock of whoever took it over while it slept; here a lock is removed only while it bears the time that was last set.
 */
export const lockFileSystem = (path: string) => {
  let setTo = Number.NaN
  const isOurs = () => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    // Some file systems keep whole seconds. Another holder's time is at least the patience of a waiter away.
    return stat?.isDirectory() === true && Math.abs(stat.mtimeMs - setTo) < 1_000
  }
  return {
    mkdir,
    stat: lstat,
    utimes: (target: string, atime: Date, mtime: Date, done: NoParamCallback) =>
      utimes(target, atime, mtime, (error) => {
        if (!error) setTo = mtime.getTime()
        done(error)
      }),
    rmdir: (target: string, done: NoParamCallback) => (isOurs() ? rmdir(target, done) : done(null)),
    rmdirSync: (target: string) => {
      if (isOurs()) rmdirSync(target)
    },
  }
}
