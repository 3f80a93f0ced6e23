import type { PlanChange } from '../plan/judge-plan-change.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { acceptTree, lookAtTree } from './check-drift.ts'
import { settlePlan } from './settle-plan.ts'

/** `settlePlan` where no tool has run: what was done under an approval that has just ended is no drift. */
export async function settleBetweenTurns(root: string): Promise<PlanChange> {
  const change = await settlePlan(root)
  const gitDirs = readGitDirs(root)
  if (change.kind === 'approval-outdated' && gitDirs !== null) acceptTree(gitDirs.own, lookAtTree(root, gitDirs))
  return change
}
