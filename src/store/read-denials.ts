import type { Denial } from '../schemas/denial.ts'
import validate from '../schemas/generated/denial.js'
import { readRegular } from './read-regular.ts'
import { sessionFolder } from './session-folder.ts'

/** In the order they were written. A line that is none, from a crash, is left out. */
export const readDenials = (root: string, sessionId: string): readonly Denial[] =>
  readDenialsIn(root, sessionFolder(sessionId))

/** `folder` as `listSessions` gives it. */
export function readDenialsIn(root: string, folder: string): readonly Denial[] {
  const read = readRegular(root, `${folder}/denials.jsonl`)
  return read.kind === 'read' ? read.bytes.toString('utf8').split('\n').filter(mayBeDenial).flatMap(parseDenial) : []
}

/** A line that is none costs a parser its error. */
const mayBeDenial = (line: string): boolean => line.startsWith('{')

function parseDenial(line: string): Denial[] {
  try {
    const value: unknown = JSON.parse(line)
    return validate(value) ? [value] : []
  } catch {
    return []
  }
}
