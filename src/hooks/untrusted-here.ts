import { findUntrusted } from '../gate/repository/find-untrusted.ts'
import { readRepositoryBaseline } from '../store/worktree-baseline.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { readRepositorySetup } from '../system/read-repository-setup.ts'

/** What changed in git's configuration and hooks since the worktree was opened; nothing where nobody kept watch. */
export function untrustedHere(root: string, gitDirs: GitDirs): string[] {
  const baseline = readRepositoryBaseline(gitDirs.own)
  return baseline.kind === 'read' ? findUntrusted(baseline.value, readRepositorySetup(root, gitDirs)) : []
}
