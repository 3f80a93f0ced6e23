import { posix } from 'node:path'
import { ownSkills, planPath } from '../gate/place-of.ts'
import { hooksDir } from '../protocol/hook-entries.ts'
import { gitDirFolder } from '../store/install-record.ts'
import { reviewDir } from '../store/review-paths.ts'
import { sweepTemporaries } from '../store/sweep-temporaries.ts'
import type { GitDirs } from '../system/git-dirs.ts'

/** What hooks that were killed left half written. Where the user's files stand, only what bears the name of one of ours. */
export function sweepLeftovers(root: string, { own }: GitDirs): void {
  for (const folder of [gitDirFolder, `${gitDirFolder}/files`]) sweepTemporaries(own, folder)
  for (const folder of [
    reviewDir,
    `${reviewDir}/replaced`,
    hooksDir,
    ...ownSkills.map((name) => `.claude/skills/${name}`),
  ])
    sweepTemporaries(root, folder)
  for (const path of [planPath, '.claude/settings.json', '.claude/settings.local.json', '.claude/.gitignore'])
    sweepTemporaries(root, posix.dirname(path), posix.basename(path))
}
