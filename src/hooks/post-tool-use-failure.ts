import { failOpen } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/post-tool-use-failure.js'
import { afterTool } from './after-tool.ts'
import { runHook } from './run-hook.ts'
import { worktreeRoot } from './worktree-root.ts'

/** A command that failed may have changed things all the same; it fires this event and not PostToolUse. */
await runHook({
  deadlineMs: 45_000,
  onFailure: failOpen,
  work: (input, extend) => {
    const parsed = parseEvent(validate, input)
    return parsed.kind === 'malformed'
      ? failOpen(`plan-gate: ${parsed.why}`)
      : afterTool(worktreeRoot(), parsed.event, extend)
  },
})
