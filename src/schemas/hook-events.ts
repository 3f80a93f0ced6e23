/**
 * What Claude Code writes to a hook's standard input, one schema per event. Only what plan-gate relies on is named; unknown
 * fields are tolerated, because every release adds some.
 */
import { bool, type FromSchema, objectOf, type Schema, text, textOrNull } from './schema.ts'

/** Where a field is empty, some versions leave it out and others write null (measured: custom_instructions). */
const common = {
  session_id: text,
  transcript_path: textOrNull,
  cwd: text,
  permission_mode: text,
  agent_id: textOrNull,
  agent_type: textOrNull,
} as const

const toolCall = { tool_name: text, tool_input: { type: 'object' } } as const
const toolCallOptional = { ...common, tool_use_id: text } as const
const afterCallOptional = { ...toolCallOptional, duration_ms: { type: 'number' } } as const

export const preToolUseSchema = {
  $id: 'pre-tool-use',
  ...objectOf({ hook_event_name: { const: 'PreToolUse' }, ...toolCall }, toolCallOptional),
} as const satisfies Schema

export const postToolUseSchema = {
  $id: 'post-tool-use',
  ...objectOf({ hook_event_name: { const: 'PostToolUse' }, ...toolCall }, { ...afterCallOptional, tool_response: {} }),
} as const satisfies Schema

export const postToolUseFailureSchema = {
  $id: 'post-tool-use-failure',
  ...objectOf(
    { hook_event_name: { const: 'PostToolUseFailure' }, ...toolCall },
    { ...afterCallOptional, error: text, is_interrupt: bool },
  ),
} as const satisfies Schema

export const stopSchema = {
  $id: 'stop',
  ...objectOf(
    { hook_event_name: { enum: ['Stop', 'SubagentStop'] } },
    { ...common, stop_hook_active: bool, last_assistant_message: textOrNull },
  ),
} as const satisfies Schema

export const preCompactSchema = {
  $id: 'pre-compact',
  ...objectOf(
    { hook_event_name: { const: 'PreCompact' } },
    { ...common, trigger: text, custom_instructions: textOrNull },
  ),
} as const satisfies Schema

export const sessionStartSchema = {
  $id: 'session-start',
  ...objectOf({ hook_event_name: { const: 'SessionStart' } }, { ...common, source: text }),
} as const satisfies Schema

export const configChangeSchema = {
  $id: 'config-change',
  ...objectOf({ hook_event_name: { const: 'ConfigChange' }, source: text }, { ...common, file_path: text }),
} as const satisfies Schema

export type PreToolUse = FromSchema<typeof preToolUseSchema>
export type PostToolUse = FromSchema<typeof postToolUseSchema>
export type PostToolUseFailure = FromSchema<typeof postToolUseFailureSchema>
export type AfterTool = PostToolUse | PostToolUseFailure
export type Stop = FromSchema<typeof stopSchema>
export type PreCompact = FromSchema<typeof preCompactSchema>
export type SessionStart = FromSchema<typeof sessionStartSchema>
export type ConfigChange = FromSchema<typeof configChangeSchema>
