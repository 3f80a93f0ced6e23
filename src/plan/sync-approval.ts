import { join, resolve } from 'node:path'
import { toolCallOf } from '../gate/tools.ts'
import { readWorkingTree, rebaselineOrForget } from '../gate/working-tree.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import type { Approval } from '../schemas/records.ts'
import { readApproval, readPlanFile } from '../state/approval.ts'
import { endCycle, isHalfEnded, withLock } from '../state/cycles.ts'
import { throwIfUnreadable } from '../state/files.ts'
import { appendEvent, eventsFromEnd } from '../state/ledger.ts'
import { planPath, reviewPaths } from '../state/own-paths.ts'
import { areAsSeen, rememberSeen, signatureOf } from '../state/records.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { judgePlanChange, type PlanChange, readHandled, readStanding } from './plan-change.ts'

/** What is said to Claude, and how; `user` is what the person sees beside it. */
export type HookMessage = { kind: 'silence' | 'context' | 'block'; text: string; user: string | null }

/**
 * The plan is reviewed when its bytes are not those that were dealt with last, whatever wrote them. Saved again
 * unchanged, it gets the same answer again, or another try where nobody could answer.
 */
export async function reviewIfChanged(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  extend: (ms: number) => void,
): Promise<HookMessage | null> {
  // Claude Code gives this event a minute; the next call brings the one that has the time.
  if (event.hook_event_name === 'PostToolUseFailure') return null
  const plan = readPlanFile(root)
  throwIfUnreadable(planPath, plan)
  if (plan.kind !== 'read') return null
  const hash = plan.hash()
  const approval = readApproval(root)
  if (approval.kind === 'recorded' && approval.approval.is_optimal && approval.approval.plan_hash === hash) return null
  if (readHandled(root)?.plan_hash === hash) {
    if (!wrotePlan(root, event)) return null
    const standing = readStanding(root, hash)
    if (standing !== null) return standing
  }
  // Everything that a review needs is in a bundle of its own: most calls do not touch the plan.
  const { reviews } = await loadBundle<{ reviews: typeof import('./review-plan.ts') }>('reviews')
  return reviews.reviewPlan(root, extend)
}

function wrotePlan(root: string, { tool_name, tool_input, cwd }: PostToolUse | PostToolUseFailure): boolean {
  const call = toolCallOf(tool_name, tool_input)
  return call.kind === 'write' && resolve(cwd ?? root, call.path) === resolve(root, planPath)
}

/** `settlePlan` where no tool has run: what was done under an approval that has just ended is no drift. */
export async function syncApprovalBetweenTurns(root: string): Promise<PlanChange> {
  const gitDirs = readGitDirs(root)
  // First, so that a crash after the end of the approval does not make drift of it.
  if (lookAtPlan(root).kind === 'approval-outdated' && gitDirs !== null)
    rebaselineOrForget(gitDirs.own, readWorkingTree(root, gitDirs))
  return syncApproval(root)
}

/**
 * Brings the record in line with the plan as it is, whatever tool or person changed it. The gate does not wait for
 * this: it compares the hash itself at each call.
 */
export async function syncApproval(root: string): Promise<PlanChange> {
  const seen = lookAtPlan(root)
  // `withLock` finishes what a crash left of the end of a cycle; nobody else might come by for long.
  if (seen.kind === 'nothing' && !isHalfEnded(root)) return seen
  const settled = await withLock(root, () => settle(root), { waitMs: 10_000 })
  return settled.kind === 'done' ? settled.value : seen
}

/** Looked at once more under the lock: another hook may have been faster. */
async function settle(root: string): Promise<PlanChange> {
  const change = lookAtPlan(root)
  switch (change.kind) {
    case 'nothing':
      return change
    case 'approval-outdated':
      await endCycle(root, change.why)
      return change
    case 'approved-by-hand':
      await appendEvent(root, { type: 'approved-manually', plan_hash: change.planHash, reason: change.reason })
      return change
  }
}

/** What `settlePlan` will come upon; changes nothing of it. */
export function lookAtPlan(root: string): PlanChange {
  // Before it is read: what replaces it meanwhile is not taken for what was found to be on record.
  const signature = signatureOf([join(root, reviewPaths.approval)])
  const read = readApproval(root)
  throwIfUnreadable(reviewPaths.approval, read)
  if (read.kind !== 'recorded') return { kind: 'nothing' }
  const plan = readPlanFile(root)
  throwIfUnreadable(planPath, plan)
  const planHash = plan.kind === 'read' ? plan.hash() : null
  return judgePlanChange({
    planHash,
    approval: read.approval,
    recordedHash: recordedHash(root, read.approval, signature),
  })
}

/**
 * The approval's plan where it is on record in this cycle, else null. An approval that no review and no command of ours
 * wrote is on record once it was found here, whatever it says of itself. While the file is untouched, the ledger is not read.
 */
function recordedHash(root: string, approval: Approval, signature: string): string | null {
  const own = readGitDirs(root)?.own
  if (own !== undefined && areAsSeen(own, 'approval', signature)) return approval.plan_hash
  for (const event of eventsFromEnd(root, ['approved', 'approved-manually', 'cycle-archived'])) {
    if (event.type === 'cycle-archived') return null
    if (event.plan_hash !== approval.plan_hash) continue
    if (own !== undefined) rememberSeen(own, 'approval', signature)
    return approval.plan_hash
  }
  return null
}
