import validate from '../schemas/generated/handled-plan.js'
import type { HandledPlan } from '../schemas/records.ts'
import { readJson, saveJson, throwIfUnreadable } from '../state/files.ts'
import { reviewPaths } from '../state/own-paths.ts'
import { readCounter } from '../state/revisions.ts'

/** What a look at the plan and its approval calls for, after some tool has run. */
export type PlanChange =
  | { kind: 'nothing' }
  /** The approved bytes are gone: the cycle is over, and the gate has been closed since the moment they changed. */
  | { kind: 'approval-outdated'; why: string }
  /** Somebody wrote an approval that no review gave, and it holds. It counts, and is put on record. */
  | { kind: 'approved-by-hand'; planHash: string; reason: string | null }

type Approval = {
  readonly is_optimal: boolean
  readonly plan_hash: string
  readonly route?: string | null
  readonly reason?: string | null
}

type PlanSituation = {
  /** Null where there is no plan (any more). */
  planHash: string | null
  approval: Approval | null
  /** The hash of the approval that the ledger knows of. */
  recordedHash: string | null
}

export function judgePlanChange({ planHash, approval, recordedHash }: PlanSituation): PlanChange {
  if (approval === null || approval.is_optimal !== true) return { kind: 'nothing' }
  if (planHash === null) return { kind: 'approval-outdated', why: 'docs/plan.md is gone' }
  if (approval.plan_hash !== planHash)
    return { kind: 'approval-outdated', why: 'docs/plan.md was changed after its approval' }
  if (recordedHash === planHash) return { kind: 'nothing' }
  return { kind: 'approved-by-hand', planHash, reason: approval.reason ?? null }
}

/** One that makes no sense counts as none: then the plan is looked at once more. */
export function readHandled(root: string): HandledPlan | null {
  const read = readJson(root, reviewPaths.handled, validate, 256 * 1024)
  // A review is not paid for twice because a disk did not answer.
  throwIfUnreadable(reviewPaths.handled, read)
  return read.kind === 'read' ? read.value : null
}

/** What was said about these bytes and still stands. After the end of its cycle, when the counter is at 0 again, nothing does. */
export function readStanding(root: string, hash: string): HandledPlan | null {
  const handled = readHandled(root)
  return handled?.plan_hash === hash && !handled.again && readCounter(root).value > 0 ? handled : null
}

export const writeHandled = (root: string, handled: HandledPlan): void => saveJson(root, reviewPaths.handled, handled)

/** What Claude is told, beside the result of its tool, about a change of the plan. */
export function describePlanChange(change: PlanChange): string | null {
  switch (change.kind) {
    case 'nothing':
      return null
    case 'approval-outdated':
      return `plan-gate: ${change.why}, so the approval is revoked and a new planning cycle begins. Until the plan is approved again, only docs/plan.md can be written.`
    case 'approved-by-hand':
      return 'plan-gate: the user approved docs/plan.md by hand. The gate is open for it; ask them "Ready to execute?" before you start.'
  }
}
