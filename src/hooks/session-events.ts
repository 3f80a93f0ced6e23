import { readFileSync } from 'node:fs'
import { readPlanState } from '../gate/read-plan-state.ts'
import { failClosed, failOpen, type HookAnswer, silence } from '../schemas/hook-answer.ts'
import { endSession } from '../state/sessions.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { endWithAnswer, type Hook, runHook, worktreeRoot } from './runtime.ts'
import type { SessionEvent } from './session.ts'

/** The events of a session are few, and need much of what a review needs, so they share its bundle. */
export async function start(event: SessionEvent | 'SessionEnd'): Promise<never> {
  // Without that bundle: Claude Code gives the hooks of its end little time.
  if (event === 'SessionEnd') return runHook(sessionEndHook)
  try {
    const { reviews } = await loadBundle<typeof import('./reviews.ts')>('reviews')
    return await reviews.runSessionHook(event)
  } catch (error) {
    return endWithAnswer(answerWithout(event, String(error)))
  }
}

/** So that `finish` does not wait for a session that has ended. */
const sessionEndHook: Hook = {
  deadlineMs: 2_000,
  onFailure: failOpen,
  work: (input) => {
    const { session_id: id } = JSON.parse(input) as { session_id?: unknown }
    if (typeof id === 'string') endSession(worktreeRoot(), id, new Date())
    return silence
  },
}

function answerWithout(event: SessionEvent, why: string): HookAnswer {
  if (event === 'ConfigChange') return failClosed(`plan-gate: the change of settings could not be checked: ${why}`)
  if (event !== 'Stop') return failOpen(`plan-gate: ${event} could not be answered: ${why}`)
  if (!isHeld()) return silence
  const reason = `plan-gate: the final review of your work failed: ${why}. Tell the user: \`plan-gate doctor\`.`
  return { ...failClosed(reason), stdout: JSON.stringify({ decision: 'block', reason }) }
}

/** A review that could not be made has not found nothing; the second Stop always lets go. */
function isHeld(): boolean {
  try {
    const { stop_hook_active: isSecond } = JSON.parse(readFileSync(0, 'utf8')) as { stop_hook_active?: unknown }
    const isOff = /^(0|false|no|off)$/i.test(process.env.PLAN_GATE_REFLECT ?? '')
    return isSecond !== true && !isOff && readPlanState(worktreeRoot()).kind === 'approved'
  } catch {
    return false
  }
}
