import { failOpen } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/post-tool-use-failure.js'
import { runHook } from './run-hook.ts'
import { settlePlan } from './settle-plan.ts'
import { tellPlanChange } from './tell-plan-change.ts'
import { worktreeRoot } from './worktree-root.ts'

/** A command that failed may have changed the plan all the same; it fires this event and not PostToolUse. */
await runHook({
  deadlineMs: 30_000,
  onFailure: failOpen,
  work: async (input) => {
    const parsed = parseEvent(validate, input)
    if (parsed.kind === 'malformed') return failOpen(`plan-gate: ${parsed.why}`)
    return tellPlanChange('PostToolUseFailure', await settlePlan(worktreeRoot()))
  },
})
