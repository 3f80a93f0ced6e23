import { readRegular } from './read-regular.ts'
import { reviewPaths } from './review-paths.ts'
import { saveFile } from './save-file.ts'

export type ThreadRead = { kind: 'absent' } | { kind: 'known'; id: string } | { kind: 'refused'; why: string }

/** `codex exec resume` silently starts a new thread when the id is no UUID, so a bad one must not come out of here. */
export function readThread(root: string): ThreadRead {
  const read = readRegular(root, reviewPaths.thread, 256)
  if (read.kind !== 'read') return read
  const id = read.bytes.toString('latin1').trim()
  if (isUuid(id)) return { kind: 'known', id: id.toLowerCase() }
  return { kind: 'refused', why: `${reviewPaths.thread} does not hold a UUID` }
}

export function writeThread(root: string, id: string): void {
  if (!isUuid(id)) throw new TypeError(`not a UUID: ${JSON.stringify(id)}`)
  saveFile(root, reviewPaths.thread, `${id.toLowerCase()}\n`)
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
