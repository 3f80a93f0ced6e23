import { type Answer, failOpen, silence } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import { answerEvent } from '../reflect/answer-event.ts'
import { settleStop } from '../reflect/decide-stop.ts'
import { saysNothing } from '../reflect/event-text.ts'
import { tellStop } from '../reflect/tell-stop.ts'
import { neutralise } from '../safety/neutralise.ts'
import validateCompact from '../schemas/generated/pre-compact.js'
import validateStop from '../schemas/generated/stop.js'
import type { PreCompact, Stop } from '../schemas/hook-events.ts'
import { loadReviews } from './load-reviews.ts'
import { readPlanState } from './read-plan-state.ts'
import { reflectionSetup } from './reflection-setup.ts'
import type { Hook } from './run-hook.ts'
import { syncApprovalBetweenTurns } from './settle-between-turns.ts'
import { worktreeRoot } from './worktree-root.ts'

/** What a failure of this hook comes to, as far as is known what it was asked. */
let fail = failOpen

/**
 * Claude is done for now, or its context is about to shrink. A plan that was changed by hand meanwhile ends its cycle
 * here too; while it is approved, the second reviewer takes a last look, or says what is worth keeping.
 */
export const betweenTurns: Hook = { deadlineMs: 30_000, onFailure: (message) => fail(message), work: judge }

async function judge(input: string, extend: (ms: number) => void): Promise<Answer> {
  const isCompaction = process.argv[2] === 'compact'
  const parsed = isCompaction ? parseEvent(validateCompact, input) : parseEvent(validateStop, input)
  // It may be the second stop, so it is let go.
  if (parsed.kind === 'malformed')
    return answerEvent(isCompaction ? 'PreCompact' : 'Stop', { ...saysNothing, user: `plan-gate: ${parsed.why}` })
  const event: Stop | PreCompact = parsed.event
  const root = worktreeRoot()
  await syncApprovalBetweenTurns(root)
  if (readPlanState(root).kind !== 'approved') return silence
  const setup = await reflectionSetup(root)
  if (setup === null) return silence
  if (event.hook_event_name === 'Stop' && event.stop_hook_active !== true) fail = holdOnce
  const { reflectAtStop, reflectBeforeCompaction } = await loadReviews()
  switch (event.hook_event_name) {
    case 'Stop':
      return reflectAtStop(root, event, setup, extend)
    case 'SubagentStop':
      return silence
    case 'PreCompact':
      return reflectBeforeCompaction(root, event, setup, extend)
  }
}

/** A look that could not be taken is not one that found nothing. */
function holdOnce(why: string): Answer {
  const review = { kind: 'failed', failure: 'crashed', why, nextStep: 'Run `plan-gate doctor`.' } as const
  return answerEvent('Stop', tellStop(settleStop(review, { trace: null, traceability: 'off' }), neutralise))
}
