import type { Decision } from '../gate/decide-tool-call.ts'
import { printable } from '../gate/printable.ts'
import type { PreToolUse } from '../schemas/hook-events.ts'
import { appendDenial } from '../store/append-denial.ts'

/** For `status`, `watch` and the report. A canary of the self-test has no session and leaves no note. */
export function noteDenial(root: string, event: PreToolUse, decision: Extract<Decision, { kind: 'deny' }>): void {
  if (event.session_id === undefined) return
  const { file_path, notebook_path, command } = event.tool_input
  appendDenial(root, event.session_id, {
    at: new Date().toISOString(),
    tool: printable(event.tool_name),
    target: printable(String(file_path ?? notebook_path ?? command ?? ''), 400),
    rule: decision.rule,
    reason: decision.reason,
  })
}
