import { failOpen, silence } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/stop.js'
import { runHook } from './run-hook.ts'
import { settlePlan } from './settle-plan.ts'
import { worktreeRoot } from './worktree-root.ts'

/** Claude is done for now: a plan that was changed by hand meanwhile ends its cycle here too. */
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
