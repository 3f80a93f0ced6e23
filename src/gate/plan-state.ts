/** The only place that decides whether the plan is approved, anew at each call. */
export type PlanState = { kind: 'missing' } | { kind: 'open'; because: string } | { kind: 'approved'; hash: string }

/** What was found at docs/plan.md. The hash is a function, because it is only needed where there is an approval. */
export type PlanFile = { kind: 'absent' } | { kind: 'refused'; why: string } | { kind: 'read'; hash: () => string }

/** What was found at .claude/review/approval.json. */
export type ApprovalFile =
  | { kind: 'absent' }
  | { kind: 'refused'; why: string }
  | { kind: 'recorded'; approval: { readonly is_optimal: boolean; readonly plan_hash: string } }

/** What the records in the git directory say of approval.json. */
export type ApprovalOrigin = {
  /** It has the bytes that a review or `plan-gate approve` wrote, or that a hook accepted before. */
  readonly isRecorded: boolean
  /** The plan that a hook last saw, and whether approval.json is another file since. */
  readonly seen: { readonly planHash: string; readonly isNewer: boolean } | null
}

export function planState(plan: PlanFile, approval: ApprovalFile, origin: () => ApprovalOrigin): PlanState {
  if (plan.kind === 'absent') return { kind: 'missing' }
  const open = (because: string): PlanState => ({ kind: 'open', because })
  if (plan.kind === 'refused') return open(`docs/plan.md ${plan.why}`)
  if (approval.kind === 'absent') return open('docs/plan.md is not approved yet')
  if (approval.kind === 'refused') return open(`approval.json is not a valid approval: ${approval.why}`)
  const approved = approvedHash(approval)
  if (approved === null) return open('approval.json says is_optimal: false')
  if (approved !== plan.hash())
    return open('docs/plan.md has changed since it was approved, so the approval no longer holds')
  return isAccepted(approved, origin()) ? { kind: 'approved', hash: approved } : open(unseen)
}

/** Written by hand, it counts for a text that was seen without it: a command that replaces both files approves nothing. */
const isAccepted = (hash: string, { isRecorded, seen }: ApprovalOrigin): boolean =>
  isRecorded || (seen !== null && seen.planHash === hash && seen.isNewer)

const unseen =
  'approval.json was written by hand before plan-gate had seen this text of docs/plan.md unapproved, or with a commit, so it does not count; the user writes it again, or runs `plan-gate approve --force --reason "…"`'

/** The hash of the plan that an approval is for; null where nothing is approved. */
export const approvedHash = (approval: ApprovalFile): string | null =>
  approval.kind === 'recorded' && approval.approval.is_optimal === true ? approval.approval.plan_hash : null
