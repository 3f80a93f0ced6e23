import { basename, dirname } from 'node:path'
import { type RegularRead, readRegular } from '../store/read-regular.ts'
import { resolvePath } from '../system/resolve-path.ts'

/** For files of the user's own, which may well lie behind links. */
export function readThroughLinks(file: string): RegularRead {
  const target = resolvePath(file)
  return target.kind === 'resolved'
    ? readRegular(dirname(target.real), basename(target.real))
    : { kind: 'refused', why: target.why, ...(target.errno === undefined ? {} : { errno: target.errno }) }
}
