import type { FromSchema, Schema } from './schema.ts'

/**
 * What Claude Code writes to a hook's standard input, one schema per event. Only what we rely on is named; fields that
 * we do not know are tolerated, because every release adds some.
 */
const text = { type: 'string' } as const
/** Where there is nothing to say, some versions leave a field out and others say null (measured: custom_instructions). */
const textOrNull = { type: ['string', 'null'] } as const
const record = { type: 'object' } as const

const common = {
  session_id: text,
  transcript_path: textOrNull,
  cwd: text,
  permission_mode: text,
  agent_id: textOrNull,
  agent_type: textOrNull,
} as const

const toolCall = { ...common, tool_name: text, tool_input: record, tool_use_id: text } as const

export const preToolUseSchema = {
  $id: 'pre-tool-use',
  type: 'object',
  required: ['hook_event_name', 'tool_name', 'tool_input'],
  properties: { ...toolCall, hook_event_name: { const: 'PreToolUse' } },
} as const satisfies Schema

export const postToolUseSchema = {
  $id: 'post-tool-use',
  type: 'object',
  required: ['hook_event_name', 'tool_name', 'tool_input'],
  properties: {
    ...toolCall,
    hook_event_name: { const: 'PostToolUse' },
    tool_response: {},
    duration_ms: { type: 'number' },
  },
} as const satisfies Schema

export const postToolUseFailureSchema = {
  $id: 'post-tool-use-failure',
  type: 'object',
  required: ['hook_event_name', 'tool_name', 'tool_input'],
  properties: {
    ...toolCall,
    hook_event_name: { const: 'PostToolUseFailure' },
    error: text,
    is_interrupt: { type: 'boolean' },
  },
} as const satisfies Schema

export const postToolBatchSchema = {
  $id: 'post-tool-batch',
  type: 'object',
  required: ['hook_event_name', 'tool_calls'],
  properties: { ...common, hook_event_name: { const: 'PostToolBatch' }, tool_calls: { type: 'array', items: record } },
} as const satisfies Schema

export const permissionRequestSchema = {
  $id: 'permission-request',
  type: 'object',
  required: ['hook_event_name', 'tool_name', 'tool_input'],
  properties: { ...toolCall, hook_event_name: { const: 'PermissionRequest' } },
} as const satisfies Schema

export const stopSchema = {
  $id: 'stop',
  type: 'object',
  required: ['hook_event_name'],
  properties: {
    ...common,
    hook_event_name: { enum: ['Stop', 'SubagentStop'] },
    stop_hook_active: { type: 'boolean' },
    last_assistant_message: textOrNull,
  },
} as const satisfies Schema

export const preCompactSchema = {
  $id: 'pre-compact',
  type: 'object',
  required: ['hook_event_name'],
  properties: { ...common, hook_event_name: { const: 'PreCompact' }, trigger: text, custom_instructions: textOrNull },
} as const satisfies Schema

export const sessionStartSchema = {
  $id: 'session-start',
  type: 'object',
  required: ['hook_event_name'],
  properties: { ...common, hook_event_name: { const: 'SessionStart' }, source: text },
} as const satisfies Schema

export const sessionEndSchema = {
  $id: 'session-end',
  type: 'object',
  required: ['hook_event_name'],
  properties: { ...common, hook_event_name: { const: 'SessionEnd' }, reason: text },
} as const satisfies Schema

export const subagentStartSchema = {
  $id: 'subagent-start',
  type: 'object',
  required: ['hook_event_name'],
  properties: { ...common, hook_event_name: { const: 'SubagentStart' } },
} as const satisfies Schema

export const configChangeSchema = {
  $id: 'config-change',
  type: 'object',
  required: ['hook_event_name', 'source'],
  properties: { ...common, hook_event_name: { const: 'ConfigChange' }, source: text, file_path: text },
} as const satisfies Schema

export const instructionsLoadedSchema = {
  $id: 'instructions-loaded',
  type: 'object',
  required: ['hook_event_name'],
  properties: { ...common, hook_event_name: { const: 'InstructionsLoaded' }, file_path: text, load_reason: text },
} as const satisfies Schema

export const userPromptSubmitSchema = {
  $id: 'user-prompt-submit',
  type: 'object',
  required: ['hook_event_name', 'prompt'],
  properties: { ...common, hook_event_name: { const: 'UserPromptSubmit' }, prompt: text },
} as const satisfies Schema

export type PreToolUse = FromSchema<typeof preToolUseSchema>
export type PostToolUse = FromSchema<typeof postToolUseSchema>
export type PostToolUseFailure = FromSchema<typeof postToolUseFailureSchema>
export type PostToolBatch = FromSchema<typeof postToolBatchSchema>
export type PermissionRequest = FromSchema<typeof permissionRequestSchema>
export type Stop = FromSchema<typeof stopSchema>
export type PreCompact = FromSchema<typeof preCompactSchema>
export type SessionStart = FromSchema<typeof sessionStartSchema>
export type SessionEnd = FromSchema<typeof sessionEndSchema>
export type SubagentStart = FromSchema<typeof subagentStartSchema>
export type ConfigChange = FromSchema<typeof configChangeSchema>
export type InstructionsLoaded = FromSchema<typeof instructionsLoadedSchema>
export type UserPromptSubmit = FromSchema<typeof userPromptSubmitSchema>
