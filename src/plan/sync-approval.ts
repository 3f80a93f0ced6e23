import { resolve } from 'node:path'
import { approvedHash } from '../gate/plan-state.ts'
import { readPlanFile, readPlanStateOrThrow, recordSeenPlan } from '../gate/read-plan-state.ts'
import { toolCallOf } from '../gate/tools.ts'
import { readWorkingTree, rebaselineOrForget } from '../gate/working-tree.ts'
import type { AfterTool } from '../schemas/hook-events.ts'
import type { Approval } from '../schemas/records.ts'
import {
  isRecordedApproval,
  readApproval,
  readApprovalBytes,
  readPlanBytes,
  readRecordedApproval,
  recordApproval,
  revokeApproval,
  writeApproval,
} from '../state/approval.ts'
import { endCycle, isEndInterrupted, withLock } from '../state/cycles.ts'
import { readRegular, removePath, saveFile, throwIfUnreadable } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import { planPath, reviewPaths, revisionPath } from '../state/own-paths.ts'
import { readCounter } from '../state/revisions.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { sha256 } from '../system/sha256.ts'
import { printable } from '../text/clean.ts'
import { findAnswer } from './next-step.ts'
import {
  classifyPlanChange,
  isOnlyTicked,
  type PlanChange,
  readHandled,
  type Tampering,
  writeHandled,
} from './plan-change.ts'

/** The answer of a hook: the text for Claude, and the line that the user sees beside it. */
export type HookMessage = { kind: 'silence' | 'context' | 'block'; text: string; user: string | null }

/**
 * An unapproved plan is reviewed when its bytes are new, whatever wrote them. Saved again unchanged, it gets the same answer again,
 * or another try where the reviewer could not answer.
 */
export async function reviewIfChanged(
  root: string,
  event: AfterTool,
  extendDeadline: (ms: number) => void,
): Promise<HookMessage | null> {
  // Claude Code gives this event one minute, which is less than a review takes; the next call has the time.
  if (event.hook_event_name === 'PostToolUseFailure') return null
  const plan = readPlanFile(root)
  throwIfUnreadable(planPath, plan)
  if (plan.kind !== 'read') return null
  const found = findAnswer({
    planHash: plan.hash(),
    approvedHash: null,
    last: () => readHandled(root),
    counter: () => readCounter(root).value,
    wrotePlan: wrotePlan(root, event),
  })
  if (found.kind !== 'new') return found.kind === 'repeat' ? found.answer : null
  // Everything that a review needs is in a bundle of its own: most calls do not touch the plan.
  const { reviews } = await loadBundle<{ reviews: typeof import('./review-plan.ts') }>('reviews')
  return reviews.reviewPlan(root, extendDeadline)
}

/** The plan as it is now is reviewed when it is saved again, not because a tool has run. False where it was answered before. */
export function deferReview(root: string): boolean {
  const plan = readPlanFile(root)
  if (plan.kind !== 'read' || readHandled(root)?.plan_hash === plan.hash()) return false
  writeHandled(root, { plan_hash: plan.hash(), again: true, kind: 'silence', text: '', user: null })
  return true
}

function wrotePlan(root: string, { tool_name, tool_input, cwd }: AfterTool): boolean {
  const call = toolCallOf(tool_name, tool_input)
  return call.kind === 'write' && resolve(cwd ?? root, call.path) === resolve(root, planPath)
}

/** `syncApproval` where no tool has run: what was done under an approval that has just ended is no drift. */
export async function syncApprovalBetweenTurns(root: string): Promise<PlanChange> {
  const gitDirs = readGitDirs(root)
  // First, so that a crash after the end of the approval does not turn the work into drift.
  if (detectPlanChange(root).kind === 'approval-outdated' && gitDirs !== null)
    rebaselineOrForget(gitDirs.own, readWorkingTree(root, gitDirs))
  const change = await syncApproval(root)
  if (gitDirs !== null) recordSeenPlan(root, gitDirs.own)
  return change
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
    case 'carried-over': {
      const { approval, planHash } = change
      await appendEvent(root, { type: 'approval-carried', from: approval.plan_hash, plan_hash: planHash })
      writeApproval(root, {
        ...approval,
        plan_hash: planHash,
        carried_from: approval.carried_from ?? approval.plan_hash,
      })
      return change
    }
    case 'approved-by-hand': {
      const written = readApprovalBytes(root)
      await appendEvent(root, { type: 'approved-manually', plan_hash: change.planHash, reason: change.reason })
      if (written.kind === 'read') recordApproval(root, written.bytes)
      return change
    }
  }
}

/** What `syncApproval` would record; changes nothing. */
export function detectPlanChange(root: string): PlanChange {
  const { plan, approval, state } = readPlanStateOrThrow(root)
  if (approval.kind !== 'recorded') return { kind: 'nothing' }
  const gitDir = readGitDirs(root)?.own
  const isRecorded = gitDir !== undefined && isRecordedApproval(root, gitDir)
  const change = classifyPlanChange(plan.kind === 'read' ? plan.hash() : null, approval.approval, state, isRecorded)
  return change.kind === 'approval-outdated' && isRecorded ? (carryOver(root, approval.approval) ?? change) : change
}

/** Where the approved text is known, and the plan differs from it in nothing that counts. */
function carryOver(root: string, approval: Approval): PlanChange | null {
  const [plan, revision] = [readPlanBytes(root), approval.review_version ?? null]
  if (plan.kind !== 'read' || revision === null) return null
  const path = revisionPath(revision, 'snapshot.md')
  const snapshot = readRegular(root, path)
  throwIfUnreadable(path, snapshot)
  if (snapshot.kind !== 'read' || sha256(snapshot.bytes) !== (approval.carried_from ?? approval.plan_hash)) return null
  return isOnlyTicked(snapshot.bytes, plan.bytes)
    ? { kind: 'carried-over', approval, planHash: sha256(plan.bytes) }
    : null
}

/**
 * Takes back what a tool call did to approval.json, unless a review or `plan-gate approve` wrote it meanwhile, and ends
 * the approval that was there before. Null where nothing is to be taken back.
 */
export async function undoTampering(root: string, gitDir: string, tool: string): Promise<Tampering | null> {
  if (isRecordedApproval(root, gitDir)) return null
  // Asked again under the lock: a review may have been about to write it.
  const undo = async (end: EndApproval): Promise<Tampering | null> =>
    isRecordedApproval(root, gitDir) ? null : takeBack(root, gitDir, tool, end)
  const held = await withLock(root, () => undo(endCycle), { waitMs: 10_000 })
  // A review holds the lock, and ends the cycle.
  return held.kind === 'done' ? held.value : undo(revokeApproval)
}

/** What the gate was open for did not stay under its control. */
export async function endApproval(root: string, why: string): Promise<void> {
  const held = await withLock(root, () => endCycle(root, why), { waitMs: 10_000 })
  if (held.kind !== 'done') await revokeApproval(root, why)
}

type EndApproval = (root: string, why: string) => Promise<unknown>

async function takeBack(root: string, gitDir: string, tool: string, end: EndApproval): Promise<Tampering> {
  const [forged, before] = [readApproval(root), readRecordedApproval(gitDir)]
  const tampering = { tool, planHash: approvedHash(forged), ended: before.kind === 'read' }
  const why = `approval.json changed while ${printable(tool)} ran`
  try {
    // Recorded first: after a crash, restored files would show no trace of it.
    await appendEvent(root, { type: 'approval-tampered', tool: printable(tool), plan_hash: tampering.planHash })
    removePath(root, reviewPaths.approval)
    if (before.kind !== 'read') return tampering
    saveFile(root, reviewPaths.approval, before.bytes)
    await end(root, why)
  } catch (error) {
    // It must not open the gate because the disk is full.
    await revokeApproval(root, why)
    throw error
  }
  return tampering
}
