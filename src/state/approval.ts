import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import validate from '../schemas/generated/approval.js'
import type { Approval } from '../schemas/records.ts'
import { sha256 } from '../system/sha256.ts'
import {
  errnoOf,
  type Refused,
  type RegularRead,
  readJson,
  readRegular,
  StoreError,
  saveJson,
  throwIfUnreadable,
} from './files.ts'
import { appendEvent } from './ledger.ts'
import { maxPlanBytes, planPath, reviewPaths } from './own-paths.ts'

export const readPlanState = (root: string): PlanState => planState(readPlanFile(root), readApproval(root))

/** For whoever would say too much with "not approved" of what only cannot be read now: that throws. */
export function readPlanStateForSure(root: string) {
  const [plan, approval] = [readPlanFile(root), readApproval(root)]
  throwIfUnreadable(planPath, plan)
  throwIfUnreadable(reviewPaths.approval, approval)
  return { plan, approval, state: planState(plan, approval) }
}

/** The plan's bytes; throws if the file exists and cannot be read. */
export function readPlanBytes(root: string): RegularRead {
  const read = readRegular(root, planPath, maxPlanBytes)
  throwIfUnreadable(planPath, read)
  return read
}

/** A plan has no limit here: whether it is too long is the review's business, and the gate must be able to close. */
export function readPlanFile(root: string): Exclude<PlanFile, { kind: 'refused' }> | Refused {
  const read = readRegular(root, planPath, maxPlanBytes)
  if (read.kind === 'absent') return { kind: 'absent' }
  if (read.kind === 'refused') return { ...read, why: `cannot be used: ${read.why}` }
  return { kind: 'read', hash: () => sha256(read.bytes) }
}

/** Where the plan stands; derived anew at each call from two files and nothing else. */
export type PlanState = { kind: 'missing' } | { kind: 'open'; because: string } | { kind: 'approved'; hash: string }

/** What was found at docs/plan.md. The hash is a function: without an approval nobody needs it. */
export type PlanFile = { kind: 'absent' } | { kind: 'refused'; why: string } | { kind: 'read'; hash: () => string }

/** What was found at .claude/review/approval.json. */
export type ApprovalFile =
  | { kind: 'absent' }
  | { kind: 'refused'; why: string }
  | { kind: 'recorded'; approval: { readonly is_optimal: boolean; readonly plan_hash: string } }

export function planState(plan: PlanFile, approval: ApprovalFile): PlanState {
  if (plan.kind === 'absent') return { kind: 'missing' }
  if (plan.kind === 'refused') return { kind: 'open', because: `docs/plan.md ${plan.why}` }
  switch (approval.kind) {
    case 'absent':
      return { kind: 'open', because: 'docs/plan.md is not approved yet' }
    case 'refused':
      return { kind: 'open', because: `approval.json is not a valid approval: ${approval.why}` }
    case 'recorded':
      return recordedState(plan.hash, approval.approval)
  }
}

function recordedState(
  hashOf: () => string,
  approval: { readonly is_optimal: boolean; readonly plan_hash: string },
): PlanState {
  if (approval.is_optimal !== true) return { kind: 'open', because: 'approval.json says is_optimal: false' }
  const hash = hashOf()
  if (approval.plan_hash !== hash)
    return { kind: 'open', because: 'docs/plan.md has changed since it was approved, so the approval no longer holds' }
  return { kind: 'approved', hash }
}

type ApprovalRead = { kind: 'absent' } | Refused | { kind: 'recorded'; approval: Approval }

const maxBytes = 64 * 1024

/** What is recorded; whether it holds for the plan as it is now is decided in `gate/`. */
export function readApproval(root: string, path: string = reviewPaths.approval): ApprovalRead {
  const read = readJson(root, path, validate, maxBytes)
  return read.kind === 'read' ? { kind: 'recorded', approval: read.value } : read
}

/**
 * Takes the approval away and nothing else, without the lock: for what cannot wait for a cycle to be archived. Under
 * its other name it tells the next holder of the lock that there is one to end. That it is gone counts for more than
 * that it is on record.
 */
export async function revokeApproval(root: string, why: string): Promise<void> {
  if (!setAside(root)) remove(join(root, reviewPaths.approval))
  await appendEvent(root, { type: 'approval-revoked', why }).catch(() => {})
}

/** The same as far as the next holder of the lock hears of it; else nothing is done. */
export async function revokeIfKept(root: string, why: string, now?: () => Date): Promise<void> {
  if (setAside(root)) await appendEvent(root, { type: 'approval-revoked', why }, now).catch(() => {})
}

function setAside(root: string): boolean {
  try {
    renameSync(join(root, reviewPaths.approval), join(root, reviewPaths.revoked))
    return true
  } catch {
    return false
  }
}

function remove(approval: string): void {
  try {
    rmSync(approval, { recursive: true, force: true })
  } catch (error) {
    throw new StoreError(reviewPaths.approval, `cannot be removed (${errnoOf(error)})`, undefined, error)
  }
}

export const writeApproval = (root: string, approval: Approval): void => saveJson(root, reviewPaths.approval, approval)
