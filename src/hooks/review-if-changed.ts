import { resolve } from 'node:path'
import { planPath } from '../gate/place-of.ts'
import { toolCallOf } from '../gate/tool-call.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import { readHandled, readStanding } from '../store/handled-plan.ts'
import { readApproval } from '../store/read-approval.ts'
import { throwIfUnreadable } from '../store/refuse-unread.ts'
import { loadReviews } from './load-reviews.ts'
import { readPlanFile } from './read-plan-state.ts'

/** What is said to Claude, and how; `user` is what the person sees beside it. */
export type HookMessage = { kind: 'silence' | 'context' | 'block'; text: string; user: string | null }

/**
 * The plan is reviewed when its bytes are not those that were dealt with last, whatever wrote them. Saved again
 * unchanged, it gets the same answer again, or another try where nobody could answer.
 */
export async function reviewIfChanged(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  extend: (ms: number) => void,
): Promise<HookMessage | null> {
  // Claude Code gives this event a minute; the next call brings the one that has the time.
  if (event.hook_event_name === 'PostToolUseFailure') return null
  const plan = readPlanFile(root)
  throwIfUnreadable(planPath, plan)
  if (plan.kind !== 'read') return null
  const hash = plan.hash()
  const approval = readApproval(root)
  if (approval.kind === 'recorded' && approval.approval.is_optimal && approval.approval.plan_hash === hash) return null
  if (readHandled(root)?.plan_hash === hash) {
    if (!wrotePlan(root, event)) return null
    const standing = readStanding(root, hash)
    if (standing !== null) return standing
  }
  // Everything that a review needs is in a bundle of its own: most calls do not touch the plan.
  const { reviewPlan } = await loadReviews()
  return reviewPlan(root, extend)
}

function wrotePlan(root: string, { tool_name, tool_input, cwd }: PostToolUse | PostToolUseFailure): boolean {
  const call = toolCallOf(tool_name, tool_input)
  return call.kind === 'write' && resolve(cwd ?? root, call.path) === resolve(root, planPath)
}
