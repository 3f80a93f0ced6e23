import type { PlanState } from '../gate/plan-state.ts'
import type { Status } from '../schemas/output/status.ts'

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

/** How the problem begins that keeps `plan-gate status` from telling. */
export const installUnknown = 'whether it is installed is not known: '

/** Null where it is installed. A record that cannot be read is not gone. */
export function whyNotInstalled({ installed, problems }: Pick<Status, 'installed' | 'problems'>): string | null {
  if (installed !== null) return null
  return problems.find((problem) => problem.startsWith(installUnknown)) ?? 'not installed here (plan-gate install)'
}
