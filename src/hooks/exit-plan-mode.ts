import { type Answer, denyToolCall, silence } from '../protocol/answers.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { gateConfig } from './gate-config.ts'
import { loadReviews } from './load-reviews.ts'
import { readPlanState } from './read-plan-state.ts'

/**
 * The end of plan mode presents a plan, too: it goes to the same reviewer, and the user's dialog appears when it is
 * approved. Until then Claude stays in plan mode with the findings.
 */
export async function exitPlanMode(root: string, input: unknown, extend: (ms: number) => void): Promise<Answer> {
  const { plan: settings } = (await gateConfig(root)).config as EffectiveConfig
  if (settings.exit_plan_mode === 'off') return silence
  const { plan } = input as { plan?: unknown }
  if (typeof plan !== 'string' || plan.trim() === '')
    return denyToolCall('plan-gate: there is no plan to leave plan mode with. Write it first, then try again.')
  const { reviewPlan } = await loadReviews()
  const told = await reviewPlan(root, extend, plan)
  return readPlanState(root).kind === 'approved' ? silence : denyToolCall(`${told.text}\n\n${inPlanMode}`)
}

const inPlanMode =
  'You are still in plan mode. The plan that was reviewed stands in docs/plan.md now; when it is as it should be, present it again with ExitPlanMode.'
