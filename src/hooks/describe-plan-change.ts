import type { PlanChange } from '../plan/judge-plan-change.ts'

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
