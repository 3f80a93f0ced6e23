import { type Answer, failOpen, silence } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validateCompact from '../schemas/generated/pre-compact.js'
import validateStop from '../schemas/generated/stop.js'
import type { PreCompact, Stop } from '../schemas/hook-events.ts'
import { loadReviews } from './load-reviews.ts'
import { readPlanState } from './read-plan-state.ts'
import { reflectionSetup } from './reflection-setup.ts'
import { runHook } from './run-hook.ts'
import { settleBetweenTurns } from './settle-between-turns.ts'
import { worktreeRoot } from './worktree-root.ts'

/**
 * Claude is done for now, or its context is about to shrink. A plan that was changed by hand meanwhile ends its cycle
 * here too; while it is approved, the second reviewer takes a last look, or says what is worth keeping.
 */
await runHook({ deadlineMs: 30_000, onFailure: failOpen, work: judge })

async function judge(input: string, extend: (ms: number) => void): Promise<Answer> {
  const parsed = process.argv[2] === 'compact' ? parseEvent(validateCompact, input) : parseEvent(validateStop, input)
  if (parsed.kind === 'malformed') return failOpen(`plan-gate: ${parsed.why}`)
  const event: Stop | PreCompact = parsed.event
  const root = worktreeRoot()
  await settleBetweenTurns(root)
  if (readPlanState(root).kind !== 'approved') return silence
  const setup = await reflectionSetup(root)
  if (setup === null) return silence
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
