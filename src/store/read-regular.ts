import { closeSync, constants, readFileSync } from 'node:fs'
import type { Refused } from './check-folder.ts'
import { openRegular } from './open-regular.ts'
import { errnoOf } from './store-error.ts'

export type RegularRead = { kind: 'absent' } | { kind: 'read'; bytes: Buffer } | Refused

const defaultMaxBytes = 8 * 1024 * 1024

/** The bytes of a regular file inside the worktree, no link on the way. On the gate's hot path: one open, one read. */
export function readRegular(root: string, path: string, maxBytes = defaultMaxBytes): RegularRead {
  const opened = openRegular(root, path, constants.O_RDONLY)
  if (opened.kind !== 'opened') return opened
  try {
    if (opened.size > maxBytes) return { kind: 'refused', why: `${path} is larger than ${maxBytes} bytes` }
    return { kind: 'read', bytes: readFileSync(opened.fd) }
  } catch (error) {
    const errno = errnoOf(error)
    return { kind: 'refused', why: `${path} cannot be read (${errno})`, errno }
  } finally {
    closeSync(opened.fd)
  }
}
