import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownSkills } from '../../src/gate/place-of.ts'
import { bundleNames, hooksDir } from '../../src/protocol/hook-entries.ts'
import { packageRoot } from '../../src/system/package-files.ts'

import { codeCaches } from './code-caches.ts'
import type { InstallOptions, Survey } from './plan-install.ts'

export type OwnFile = { path: string; bytes: Buffer; mode: number }

/** Everything that an install writes but the settings; `read` and `record` tell what is there already. */
export async function ownFiles(
  options: Pick<InstallOptions, 'node' | 'track'>,
  { record, read, isTracked }: Survey,
): Promise<OwnFile[]> {
  const files = packageFiles()
  const isCommitted = options.track || isTracked(`${hooksDir}/`)
  return [...files, ...(isCommitted ? [madeByEach] : []), ...(await codeCaches(options.node, files, record, read))]
}

/** In a repository that carries the gate, what each machine makes for itself stays out of git. */
const madeByEach: OwnFile = {
  path: `${hooksDir}/.gitignore`,
  bytes: Buffer.from('/config.json\n/*.cache\n/.*.tmp\n'),
  mode: 0o644,
}

/** What is copied into a worktree: the hook bundles, because a worktree has no node_modules, and the skills. */
function packageFiles(): OwnFile[] {
  const root = packageRoot()
  const hooks = bundleNames.map((name) => ({
    path: `${hooksDir}/${name}.mjs`,
    bytes: readFileSync(join(root, 'dist', 'hooks', `${name}.mjs`)),
    mode: 0o644,
  }))
  const skills = ownSkills.map((name) => ({
    path: `.claude/skills/${name}/SKILL.md`,
    bytes: readFileSync(join(root, 'skills', name, 'SKILL.md')),
    mode: 0o644,
  }))
  return [...hooks, ...skills]
}

/** Everything of ours in a worktree but the settings file, as lines for `info/exclude`. */
export const ownExcludes: readonly string[] = [
  `/${hooksDir}/`,
  '/.claude/review/',
  // What a killed write leaves of the settings file or of the .gitignore beside it.
  '/.claude/.*.tmp',
  ...ownSkills.map((name) => `/.claude/skills/${name}/`),
]
