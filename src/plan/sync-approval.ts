import { join, resolve } from 'node:path'
import { approvedHash } from '../gate/plan-state.ts'
import { readPlanFile } from '../gate/read-plan-state.ts'
import { toolCallOf } from '../gate/tools.ts'
import { readWorkingTree, rebaselineOrForget } from '../gate/working-tree.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import type { Approval } from '../schemas/records.ts'
import { readApproval } from '../state/approval.ts'
import { endCycle, isEndInterrupted, withLock } from '../state/cycles.ts'
import { throwIfUnreadable } from '../state/files.ts'
import { appendEvent, eventsFromEnd } from '../state/ledger.ts'
import { planPath, reviewPaths } from '../state/own-paths.ts'
import { fileSignature, isUnchangedSinceCheck, recordCheck } from '../state/records.ts'
import { readCounter } from '../state/revisions.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { findAnswer } from './next-step.ts'
import { classifyPlanChange, type PlanChange, readHandled } from './plan-change.ts'

/** The answer of a hook: the text for Claude, and the line that the user sees beside it. */
export type HookMessage = { kind: 'silence' | 'context' | 'block'; text: string; user: string | null }

/**
 * The plan is reviewed when its bytes are new, whatever wrote them. Saved again unchanged, it gets the same answer again,
 * or another try where the reviewer could not answer.
 */
export async function reviewIfChanged(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  extendDeadline: (ms: number) => void,
): Promise<HookMessage | null> {
  // Claude Code gives this event one minute, which is less than a review takes; the next call has the time.
  if (event.hook_event_name === 'PostToolUseFailure') return null
  const plan = readPlanFile(root)
  throwIfUnreadable(planPath, plan)
  if (plan.kind !== 'read') return null
  const found = findAnswer({
    planHash: plan.hash(),
    approvedHash: approvedHash(readApproval(root)),
    last: () => readHandled(root),
    counter: () => readCounter(root).value,
    wrotePlan: wrotePlan(root, event),
  })
  if (found.kind !== 'new') return found.kind === 'repeat' ? found.answer : null
  // Everything that a review needs is in a bundle of its own: most calls do not touch the plan.
  const { reviews } = await loadBundle<{ reviews: typeof import('./review-plan.ts') }>('./reviews.mjs')
  return reviews.reviewPlan(root, extendDeadline)
}

function wrotePlan(root: string, { tool_name, tool_input, cwd }: PostToolUse | PostToolUseFailure): boolean {
  const call = toolCallOf(tool_name, tool_input)
  return call.kind === 'write' && resolve(cwd ?? root, call.path) === resolve(root, planPath)
}

/** `syncApproval` where no tool has run: what was done under an approval that has just ended is no drift. */
export async function syncApprovalBetweenTurns(root: string): Promise<PlanChange> {
  const gitDirs = readGitDirs(root)
  // First, so that a crash after the end of the approval does not turn the work into drift.
  if (detectPlanChange(root).kind === 'approval-outdated' && gitDirs !== null)
    rebaselineOrForget(gitDirs.own, readWorkingTree(root, gitDirs))
  return syncApproval(root)
}

/**
 * Records what happened to the plan, whatever tool or person changed it. The gate does not depend on it: it compares
 * the hash at each call.
 */
export async function syncApproval(root: string): Promise<PlanChange> {
  const detected = detectPlanChange(root)
  // `withLock` also finishes the end of a cycle that a crash interrupted.
  if (detected.kind === 'nothing' && !isEndInterrupted(root)) return detected
  const recorded = await withLock(root, () => recordPlanChange(root), { waitMs: 10_000 })
  return recorded.kind === 'done' ? recorded.value : detected
}

/** Detected again under the lock: another hook may have been faster. */
async function recordPlanChange(root: string): Promise<PlanChange> {
  const change = detectPlanChange(root)
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

/** What `syncApproval` would record; changes nothing. */
export function detectPlanChange(root: string): PlanChange {
  // Before it is read, so that a file that replaces it meanwhile is not taken for the recorded one.
  const signature = fileSignature([join(root, reviewPaths.approval)])
  const read = readApproval(root)
  throwIfUnreadable(reviewPaths.approval, read)
  if (read.kind !== 'recorded') return { kind: 'nothing' }
  const plan = readPlanFile(root)
  throwIfUnreadable(planPath, plan)
  const planHash = plan.kind === 'read' ? plan.hash() : null
  return classifyPlanChange(planHash, read.approval, recordedHash(root, read.approval, signature))
}

/**
 * The hash of the approval if the ledger of this cycle knows it, else null. Whatever the file says of itself, an approval
 * that no review and no command of ours wrote is unknown until it is recorded here. While the file is unchanged, the
 * ledger is not read.
 */
function recordedHash(root: string, approval: Approval, signature: string): string | null {
  const own = readGitDirs(root)?.own
  if (own !== undefined && isUnchangedSinceCheck(own, 'approval', signature)) return approval.plan_hash
  for (const event of eventsFromEnd(root, ['approved', 'approved-manually', 'cycle-archived'])) {
    if (event.type === 'cycle-archived') return null
    if (event.plan_hash !== approval.plan_hash) continue
    if (own !== undefined) recordCheck(own, 'approval', signature)
    return approval.plan_hash
  }
  return null
}
