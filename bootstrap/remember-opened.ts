import { readOpenedWorktree, writeOpenedWorktree } from '../src/store/opened-worktree.ts'
import { gitOrNull } from '../src/system/git.ts'
import type { Repository } from './find-repository.ts'
import type { WorktreePlan } from './open-worktree.ts'

type Start = { base: string; commit: string; branchPrefix: string }

/** What `finish` has to know later: where the work came from, and whose the branch is. The first run tells. */
export async function rememberOpened(
  repository: Repository,
  gitDir: string,
  plan: WorktreePlan,
  { base, commit, branchPrefix }: Start,
): Promise<void> {
  if (readOpenedWorktree(gitDir).kind === 'read') return
  const named = await gitOrNull(repository.dir, ['rev-parse', '--symbolic-full-name', '--verify', '--quiet', base])
  const ref = (named ?? '').trim()
  const isNew = plan.kind !== 'reuse' && plan.newBranch
  const { branch } = plan
  writeOpenedWorktree(gitDir, {
    version: 1,
    opened_at: new Date().toISOString(),
    base: /^refs\/(heads|remotes)\//.test(ref) ? ref : null,
    base_commit: commit,
    own_branch: branch !== null && (isNew || branch.startsWith(branchPrefix)) ? branch : null,
  })
}
