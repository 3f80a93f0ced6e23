import { basename, dirname } from 'node:path'
import { resolvePath } from '../system/paths.ts'
import { type RegularRead, readRegular } from './files.ts'

/** For the user's own files, which may be links. */
export function readThroughLinks(file: string, maxBytes?: number): RegularRead {
  const target = resolvePath(file)
  return target.kind === 'resolved'
    ? readRegular(dirname(target.real), basename(target.real), maxBytes)
    : { kind: 'refused', why: target.why, ...(target.errno === undefined ? {} : { errno: target.errno }) }
}
