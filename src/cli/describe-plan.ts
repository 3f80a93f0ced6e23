import type { PlanState } from '../gate/plan-state.ts'

/** Where the plan stands, for a person. */
export function describePlan(plan: PlanState): string {
  switch (plan.kind) {
    case 'missing':
      return 'there is no plan yet; the gate is closed'
    case 'open':
      return `the gate is closed: ${plan.because}`
    case 'approved':
      return 'the plan is approved; the gate is open'
  }
}
