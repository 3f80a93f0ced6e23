import { failOpen, silence } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/pre-compact.js'
import { runHook } from './run-hook.ts'
import { settlePlan } from './settle-plan.ts'
import { worktreeRoot } from './worktree-root.ts'

/** Before the context shrinks. What Claude must know of the plan afterwards, SessionStart tells (source `compact`). */
await runHook({
  deadlineMs: 30_000,
  onFailure: failOpen,
  work: async (input) => {
    const parsed = parseEvent(validate, input)
    if (parsed.kind === 'malformed') return failOpen(`plan-gate: ${parsed.why}`)
    await settlePlan(worktreeRoot())
    return silence
  },
})
