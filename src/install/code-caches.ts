import { join } from 'node:path'
import type { InstallRecord } from '../schemas/records.ts'
import { hooksDir } from '../state/own-paths.ts'
import { packageRoot } from '../system/package.ts'
import { sha256 } from '../system/sha256.ts'
import { makeCodeCache, readUsableCache, typicalSteps } from './code-cache.ts'
import { cachedFiles } from './hook-entries.ts'
import type { OwnFile } from './plan.ts'

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
