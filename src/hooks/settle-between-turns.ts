import type { PlanChange } from '../plan/judge-plan-change.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { acceptWork, lookAtTree } from './check-drift.ts'
import { lookAtPlan, settlePlan } from './settle-plan.ts'

/** `settlePlan` where no tool has run: what was done under an approval that has just ended is no drift. */
export async function settleBetweenTurns(root: string): Promise<PlanChange> {
  const gitDirs = readGitDirs(root)
  // First, so that a crash after the end of the approval does not make drift of it.
  if (lookAtPlan(root).kind === 'approval-outdated' && gitDirs !== null)
    acceptWork(gitDirs.own, lookAtTree(root, gitDirs))
  return settlePlan(root)
}
