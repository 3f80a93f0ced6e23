import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { debug } from './debug.ts'

/** Far more than is shown of it; a transcript of days is not read from its beginning. */
const mostBytes = 8 * 1024 * 1024

/** The end of Claude Code's own record of the session; empty where it cannot be read. */
export function readTranscript(path: string | null | undefined): string {
  if (path === undefined || path === null || path === '') return ''
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) return ''
      const bytes = Buffer.alloc(Math.min(stat.size, mostBytes))
      const count = readSync(fd, bytes, 0, bytes.length, stat.size - bytes.length)
      return bytes.toString('utf8', 0, count)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    debug(`the transcript cannot be read: ${String(error)}`)
    return ''
  }
}
