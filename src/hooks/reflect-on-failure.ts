import { type Answer, silence } from '../protocol/answers.ts'
import { answerEvent } from '../reflect/answer-event.ts'
import type { PostToolUseFailure } from '../schemas/hook-events.ts'
import { readPlanState } from './read-plan-state.ts'
import { reflectAfterTool } from './reflect-after-tool.ts'
import { reflectionSetup } from './reflection-setup.ts'

/** In the background: what the failure of a command means, told to Claude with one of its next requests. */
export async function reflectOnFailure(
  root: string,
  event: PostToolUseFailure,
  extend: (ms: number) => void,
): Promise<Answer> {
  if (readPlanState(root).kind !== 'approved') return silence
  const setup = await reflectionSetup(root)
  if (setup === null) return silence
  return answerEvent('PostToolUseFailure', await reflectAfterTool(root, event, setup, extend))
}
