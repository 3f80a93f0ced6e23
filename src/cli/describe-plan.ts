import type { PlanState } from '../gate/plan-state.ts'
import type { Status } from '../schemas/output/status.ts'
import { installRecordPath } from '../store/install-record.ts'

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

/** Null where it is installed. A record that cannot be read is not gone. */
export function whyNotInstalled({ installed, problems }: Pick<Status, 'installed' | 'problems'>): string | null {
  if (installed !== null) return null
  const unread = problems.find((problem) => problem.includes(installRecordPath))
  return unread === undefined ? 'not installed here (plan-gate install)' : `not known: ${unread}`
}
