import { failOpen } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/post-tool-use.js'
import { runHook } from './run-hook.ts'
import { settlePlan } from './settle-plan.ts'
import { tellPlanChange } from './tell-plan-change.ts'
import { worktreeRoot } from './worktree-root.ts'

/** After any tool that may have changed something: is the approved plan still the plan? */
await runHook({
  deadlineMs: 30_000,
  onFailure: failOpen,
  work: async (input) => {
    const parsed = parseEvent(validate, input)
    if (parsed.kind === 'malformed') return failOpen(`plan-gate: ${parsed.why}`)
    return tellPlanChange('PostToolUse', await settlePlan(worktreeRoot()))
  },
})
