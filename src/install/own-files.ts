import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InstallRecord } from '../schemas/records.ts'
import { hooksDir, ownSkillFiles } from '../state/own-paths.ts'
import { packageRoot } from '../system/package.ts'
import { sha256 } from '../system/sha256.ts'
import { makeCodeCache, readUsableCache, typicalSteps } from './code-cache.ts'
import { bundleNames, cachedFiles } from './hook-entries.ts'
import type { InstallOptions } from './plan.ts'
import type { Survey } from './survey.ts'

export type OwnFile = { path: string; bytes: Buffer; mode: number }

/** Everything that an install writes except the settings. */
export async function ownFiles(
  options: Pick<InstallOptions, 'node' | 'track'>,
  { record, read, isTracked }: Survey,
): Promise<OwnFile[]> {
  const files = packageFiles()
  const isCommitted = options.track || isTracked(`${hooksDir}/`)
  return [...files, ...(isCommitted ? [ignoreGenerated] : []), ...(await codeCaches(options.node, files, record, read))]
}

/** In a repository that has the gate committed, generated files stay out of git. */
const ignoreGenerated: OwnFile = {
  path: `${hooksDir}/.gitignore`,
  bytes: Buffer.from('/config.json\n/*.cache\n/.*.tmp\n'),
  mode: 0o644,
}

/** The hook bundles (a worktree has no node_modules), and the skills. */
function packageFiles(): OwnFile[] {
  const root = packageRoot()
  const hooks = bundleNames.map((name) => ({
    path: `${hooksDir}/${name}.mjs`,
    bytes: readFileSync(join(root, 'dist', 'hooks', `${name}.mjs`)),
    mode: 0o644,
  }))
  const skills = ownSkillFiles.map((path) => ({
    path,
    bytes: readFileSync(join(root, path.replace('.claude/', ''))),
    mode: 0o644,
  }))
  return [...hooks, ...skills]
}

/** V8's code caches for the node that runs the hooks. Their bytes differ each time, so one for the same bundle is kept. */
async function codeCaches(
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
