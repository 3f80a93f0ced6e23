import { type Answer, failOpen, tellUserOnly } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/post-tool-use.js'
import validateFailure from '../schemas/generated/post-tool-use-failure.js'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import { afterTool } from './after-tool.ts'
import { reflectOnFailure } from './reflect-on-failure.ts'
import { runHook } from './run-hook.ts'
import { worktreeRoot } from './worktree-root.ts'

/** What the settings entry says beside the event: nothing, or that the command failed. */
const word = process.argv[2]

export const start = (): Promise<never> =>
  runHook({ deadlineMs: word === undefined ? 60_000 : 45_000, onFailure: failOpen, work: judge })

/**
 * After any tool that may have changed something. A command that failed may have done so all the same; it fires an event
 * of its own. For that one a second entry, `reflect`, runs in the background and asks only what the failure means.
 */
export async function judge(input: string, extend: (ms: number) => void): Promise<Answer> {
  const parsed = word === undefined ? parseEvent(validate, input) : parseEvent(validateFailure, input)
  if (parsed.kind === 'malformed') return tellUserOnly(`plan-gate: ${parsed.why}`)
  const event: PostToolUse | PostToolUseFailure = parsed.event
  return word === 'reflect' && event.hook_event_name === 'PostToolUseFailure'
    ? reflectOnFailure(worktreeRoot(), event, extend)
    : afterTool(worktreeRoot(), event, extend)
}
