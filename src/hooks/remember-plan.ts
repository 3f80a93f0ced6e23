import { readHandled, writeHandled } from '../store/handled-plan.ts'
import { readPlanFile } from './read-plan-state.ts'

/** A plan that was there before the first session is reviewed when somebody writes it, and not because a command ran. */
export function rememberPlan(root: string): void {
  if (readHandled(root) !== null) return
  const plan = readPlanFile(root)
  if (plan.kind === 'read')
    writeHandled(root, { plan_hash: plan.hash(), again: true, kind: 'silence', text: '', user: null })
}
