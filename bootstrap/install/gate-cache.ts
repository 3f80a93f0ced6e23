import { join } from 'node:path'
import { hooksDir } from '../../src/protocol/hook-entries.ts'
import type { InstallRecord } from '../../src/schemas/install-record.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { makeCodeCache, readUsableCache } from '../../src/system/code-cache.ts'
import { packageRoot } from '../../src/system/package-files.ts'
import { typicalCalls } from '../../src/system/typical-calls.ts'
import type { OwnFile } from './own-files.ts'

const bundle = `${hooksDir}/pre-tool-use.mjs`
const path = `${bundle}.cache`

/**
 * V8's code cache of the gate for the node that will run it. No two are the same byte for byte, so one that belongs to
 * the same bundle is kept. For a team it is left out: each has another node.
 */
export async function gateCache(
  node: string,
  files: readonly OwnFile[],
  record: InstallRecord | null,
  read: (path: string) => Buffer | null,
): Promise<OwnFile[]> {
  const digestOf = (name: string): string | undefined => record?.files.find((file) => file.path === name)?.sha256
  const gate = files.find((file) => file.path === bundle)
  const known = read(path)
  if (
    known !== null &&
    gate !== undefined &&
    digestOf(bundle) === sha256(gate.bytes) &&
    digestOf(path) === sha256(known)
  )
    return [{ path, bytes: known, mode: 0o644 }]
  const built = join(packageRoot(), 'dist/hooks/pre-tool-use.mjs')
  const cache = readUsableCache(built, node) ?? (await makeCodeCache(built, node, typicalCalls))
  return cache === null ? [] : [{ path, bytes: cache, mode: 0o644 }]
}
