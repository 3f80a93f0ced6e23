import { type Answer, failOpen } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/post-tool-use.js'
import { afterTool } from './after-tool.ts'
import { runHook } from './run-hook.ts'
import { worktreeRoot } from './worktree-root.ts'

export const start = (): Promise<never> => runHook({ deadlineMs: 60_000, onFailure: failOpen, work: judge })

/** After any tool that may have changed something. */
export async function judge(input: string, extend: (ms: number) => void): Promise<Answer> {
  const parsed = parseEvent(validate, input)
  return parsed.kind === 'malformed'
    ? failOpen(`plan-gate: ${parsed.why}`)
    : afterTool(worktreeRoot(), parsed.event, extend)
}
