import type { PlanChange } from '../plan/judge-plan-change.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { readWorkingTree, rebaselineOrForget } from './check-drift.ts'
import { lookAtPlan, syncApproval } from './settle-plan.ts'

/** `settlePlan` where no tool has run: what was done under an approval that has just ended is no drift. */
export async function syncApprovalBetweenTurns(root: string): Promise<PlanChange> {
  const gitDirs = readGitDirs(root)
  // First, so that a crash after the end of the approval does not make drift of it.
  if (lookAtPlan(root).kind === 'approval-outdated' && gitDirs !== null)
    rebaselineOrForget(gitDirs.own, readWorkingTree(root, gitDirs))
  return syncApproval(root)
}
