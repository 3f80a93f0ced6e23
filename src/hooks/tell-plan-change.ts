import type { PlanChange } from '../plan/judge-plan-change.ts'
import { type Answer, addContext, silence } from '../protocol/answers.ts'

/** What Claude is told, beside the result of its tool, about a change of the plan. */
export function tellPlanChange(event: string, change: PlanChange): Answer {
  switch (change.kind) {
    case 'nothing':
      return silence
    case 'approval-outdated':
      return addContext(
        event,
        `plan-gate: ${change.why}, so the approval is revoked and a new planning cycle begins. Until the plan is approved again, only docs/plan.md can be written.`,
      )
    case 'approved-by-hand':
      return addContext(
        event,
        'plan-gate: the user approved docs/plan.md by hand. The gate is open for it; ask them "Ready to execute?" before you start.',
      )
  }
}
