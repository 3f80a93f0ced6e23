import { join } from 'node:path'
import { claudeDir } from '../system/paths.ts'
import { asRecord, parseRecord } from '../text/json.ts'
import { readThroughLinks } from './linked-files.ts'

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
