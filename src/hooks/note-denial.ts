import type { Decision } from '../gate/decide-tool-call.ts'
import { printable } from '../gate/printable.ts'
import { looksSecret } from '../safety/looks-secret.ts'
import type { PreToolUse } from '../schemas/hook-events.ts'
import { appendDenial } from '../store/append-denial.ts'

/** For `status`, `watch` and the report. A canary of the self-test has no session and leaves no note. */
export function noteDenial(root: string, event: PreToolUse, decision: Extract<Decision, { kind: 'deny' }>): void {
  if (event.session_id === undefined) return
  const { file_path, notebook_path, command } = event.tool_input
  appendDenial(root, event.session_id, {
    at: new Date().toISOString(),
    tool: printable(event.tool_name),
    target: withoutSecrets(printable(String(file_path ?? notebook_path ?? command ?? ''), 400)),
    rule: decision.rule,
    reason: withoutSecrets(decision.reason),
  })
}

/** The gate has no time to look for the very characters that are secret, so all of the text goes. */
const withoutSecrets = (text: string): string => (looksSecret(text) ? '(not kept: it may hold a secret)' : text)
