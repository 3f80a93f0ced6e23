import { claudeDir } from '../system/claude.ts'
import { isPassing } from '../system/errors.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { userGitConfigs } from '../system/git-state.ts'
import { resolvePath, slashed } from '../system/paths.ts'

type Folder = { named: string; real: string }

/** Reads the paths that writes are compared with. `reviewers`: programs that decide about a plan. */
export function readProtectedPaths(root: string, planModeDirs: readonly string[], reviewers: readonly string[]) {
  const gitDirs = readGitDirs(root)
  return {
    root: folder(root),
    gitDirs: gitDirs === null ? [] : [gitDirs.own, gitDirs.common].flatMap(bothNames),
    mergedRoots: gitDirs?.mainRoot === null || gitDirs === null ? [] : bothNames(gitDirs.mainRoot),
    userDirs: bothNames(claudeDir()),
    userFiles: [...userGitConfigs(), ...reviewers].flatMap(bothNames),
    planModeDirs: planModeDirs.map(folder),
  }
}

const folder = (named: string): Folder => {
  const resolved = resolvePath(named)
  // The result is cached for many calls, so a target must not be guessed after a disk error.
  if (resolved.kind === 'unresolvable' && isPassing(resolved.errno)) throw new Error(`${named}: ${resolved.why}`)
  return { named: slashed(resolved.path), real: slashed(resolved.kind === 'resolved' ? resolved.real : resolved.path) }
}

const bothNames = (named: string): string[] => {
  const { named: asNamed, real } = folder(named)
  return asNamed === real ? [real] : [asNamed, real]
}
