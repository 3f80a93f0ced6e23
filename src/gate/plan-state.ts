/**
 * Whether the plan is approved: the only place that decides it. Derived anew at each call from docs/plan.md,
 * approval.json and nothing else.
 */
export type PlanState = { kind: 'missing' } | { kind: 'open'; because: string } | { kind: 'approved'; hash: string }

/** What was found at docs/plan.md. The hash is a function, because it is only needed where there is an approval. */
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
    case 'recorded': {
      const approved = approvedHash(approval)
      if (approved === null) return { kind: 'open', because: 'approval.json says is_optimal: false' }
      if (approved === plan.hash()) return { kind: 'approved', hash: approved }
      return {
        kind: 'open',
        because: 'docs/plan.md has changed since it was approved, so the approval no longer holds',
      }
    }
  }
}

/** The hash of the plan that an approval is for; null where nothing is approved. */
export const approvedHash = (approval: ApprovalFile): string | null =>
  approval.kind === 'recorded' && approval.approval.is_optimal === true ? approval.approval.plan_hash : null
