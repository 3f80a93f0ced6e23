import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownSkills } from '../../src/gate/place-of.ts'
import { hookFiles, hooksDir } from '../../src/protocol/hook-entries.ts'
import { packageRoot } from '../../src/system/package-files.ts'

export type OwnFile = { path: string; bytes: Buffer; mode: number }

/** What is copied into a worktree: the hook bundles, because a worktree has no node_modules, and the skills. */
export function ownFiles(): OwnFile[] {
  const root = packageRoot()
  const hooks = [...hookFiles, 'compile-config'].map((name) => ({
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
  ...ownSkills.map((name) => `/.claude/skills/${name}/`),
]
