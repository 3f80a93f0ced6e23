import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hookLoader } from '../../src/install/hook-loader.ts'
import { bundleFile, cachedFiles, hooksDir } from '../../src/state/own-paths.ts'
import { sha256 } from '../../src/system/sha256.ts'
import { dist } from './project.ts'

/** Hooks that share a bundle: its name, and the word that its entry passes. */
const shared: { readonly [name: string]: readonly [bundle: string, word: string] } = {
  'post-tool-use-failure': ['post-tool-use', 'failure'],
  'post-tool-use-failure reflect': ['post-tool-use', 'reflect'],
  'user-prompt': ['post-tool-use', 'prompt'],
  'session-start': ['session-events', 'SessionStart'],
  'session-end': ['session-events', 'SessionEnd'],
  'config-change': ['session-events', 'ConfigChange'],
  stop: ['session-events', 'Stop'],
  'pre-compact': ['session-events', 'PreCompact'],
}

/** The arguments of the node that an installed hook's entry starts; `folder`: where the bundles are. */
export function hookArgs(root: string, name: string, folder = join(root, hooksDir)): string[] {
  const [bundle, ...words] = shared[name] ?? [name]
  const path = join(folder, bundleFile(bundle))
  if (name === 'status-line') return [path]
  const pin = sha256(readFileSync(join(dist, 'hooks', bundleFile(bundle))))
  const caches = cachedFiles.map((name) => `${name}.mjs.cache`).filter((name) => existsSync(join(folder, name)))
  const pins = caches.map((name) => [name, sha256(readFileSync(join(folder, name)))])
  return ['-e', hookLoader(2), path, pin, JSON.stringify(Object.fromEntries(pins)), ...words]
}
