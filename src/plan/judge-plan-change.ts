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

export type PlanSituation = {
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
