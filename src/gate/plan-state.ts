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
