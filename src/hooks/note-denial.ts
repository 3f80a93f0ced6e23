import type { Decision } from '../gate/decide-tool-call.ts'
import { printable } from '../gate/printable.ts'
import type { PreToolUse } from '../schemas/hook-events.ts'
import { appendDenial } from '../store/append-denial.ts'
import { mayHoldSecret } from './may-hold-secret.ts'

/** For `status`, `watch` and the report. A canary of the self-test has no session and leaves no note. */
export async function noteOfDenial(
  root: string,
  event: PreToolUse,
  decision: Extract<Decision, { kind: 'deny' }>,
): Promise<() => void> {
  const { session_id } = event
  if (session_id === undefined) return () => {}
  const { file_path, notebook_path, command } = event.tool_input
  const named = file_path ?? notebook_path ?? command ?? ''
  const target = printable(typeof named === 'string' ? named : JSON.stringify(named), 400)
  const isSecret = await mayHoldSecret(`${target}\n${decision.reason}`)
  const denial = {
    at: new Date().toISOString(),
    tool: printable(event.tool_name),
    target: isSecret ? withheld : target,
    rule: decision.rule,
    reason: isSecret ? withheld : decision.reason,
  }
  return () => appendDenial(root, session_id, denial)
}

/** The gate has no time to look for the very characters that are secret, so all of the text goes. */
const withheld = '(not kept: it may hold a secret)'
