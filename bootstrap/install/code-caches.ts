import { join } from 'node:path'
import { typicalSteps } from '../../src/hooks/typical-events.ts'
import { cachedFiles, hooksDir } from '../../src/protocol/hook-entries.ts'
import type { InstallRecord } from '../../src/schemas/install-record.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { makeCodeCache, readUsableCache } from '../../src/system/code-cache.ts'
import { packageRoot } from '../../src/system/package-files.ts'
import type { OwnFile } from './own-files.ts'

/**
 * V8's code caches for the node that will run the hooks. No two are the same byte for byte, so one that belongs to the
 * same bundle is kept. For a team they are left out: each has another node.
 */
export async function codeCaches(
  node: string,
  files: readonly OwnFile[],
  record: InstallRecord | null,
  read: (path: string) => Buffer | null,
): Promise<OwnFile[]> {
  const digestOf = (name: string): string | undefined => record?.files.find((file) => file.path === name)?.sha256
  const caches = await Promise.all(
    cachedFiles.map(async (name) => {
      const bundle = `${hooksDir}/${name}.mjs`
      const path = `${bundle}.cache`
      const known = read(path)
      const current = files.find((file) => file.path === bundle)
      const isKept = current !== undefined && digestOf(bundle) === sha256(current.bytes)
      if (known !== null && isKept && digestOf(path) === sha256(known)) return { path, bytes: known, mode: 0o644 }
      const built = join(packageRoot(), 'dist/hooks', `${name}.mjs`)
      const bytes = readUsableCache(built, node) ?? (await makeCodeCache(built, node, typicalSteps(name)))
      return bytes === null ? null : { path, bytes, mode: 0o644 }
    }),
  )
  return caches.filter((cache) => cache !== null)
}
