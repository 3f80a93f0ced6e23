import { basename, dirname, join } from 'node:path'
import { claudeDir, resolvePath } from '../system/paths.ts'
import { asRecord, parseRecord } from '../text/json.ts'
import { type RegularRead, readRegular } from './files.ts'

/** By name, the user's marketplaces that are folders: Claude Code reads their plugins where they stand. */
export function marketplaceFolders(): ReadonlyMap<string, string> {
  const read = readThroughLinks(join(claudeDir(), 'plugins/known_marketplaces.json'))
  const markets = read.kind === 'read' ? parseRecord(read.bytes.toString('utf8')) : null
  return new Map(
    Object.entries(markets ?? {}).flatMap(([name, market]): [string, string][] => {
      const { source, path } = asRecord(asRecord(market).source)
      return source === 'directory' && typeof path === 'string' && path.startsWith('/') ? [[name, path]] : []
    }),
  )
}

/** For the user's own files, which may be links. */
export function readThroughLinks(file: string, maxBytes?: number): RegularRead {
  const target = resolvePath(file)
  return target.kind === 'resolved'
    ? readRegular(dirname(target.real), basename(target.real), maxBytes)
    : { kind: 'refused', why: target.why, ...(target.errno === undefined ? {} : { errno: target.errno }) }
}
