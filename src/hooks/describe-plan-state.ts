import type { PlanState } from '../gate/plan-state.ts'

/** Where the plan stands, for Claude at the start of a session. Short: it stays in the context. */
export function describePlanState(plan: PlanState, configProblems: readonly string[]): string {
  const lines = [`plan-gate guards this worktree. ${stateLine(plan)}`]
  if (configProblems.length > 0)
    lines.push(
      'plan-gate.yaml is invalid, so every change is refused until the user mends it:',
      ...configProblems.slice(0, 5),
    )
  return lines.join('\n')
}

function stateLine(plan: PlanState): string {
  switch (plan.kind) {
    case 'missing':
      return 'There is no plan yet: read and search freely, and write docs/plan.md (/plan-with-review says how). Other changes are refused until it is approved.'
    case 'open':
      return `No approved plan: ${plan.because}. Read and search freely, and revise docs/plan.md; other changes are refused until it is approved.`
    case 'approved':
      return 'docs/plan.md is approved. When the user wants it carried out, use /implement-approved-plan. Editing docs/plan.md ends the approval.'
  }
}
