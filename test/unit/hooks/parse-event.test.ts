import { describe, expect, it } from 'vitest'
import { parseEvent } from '../../../src/hooks/runtime.ts'
import {
  configChangeSchema,
  postToolUseFailureSchema,
  postToolUseSchema,
  preCompactSchema,
  preToolUseSchema,
  sessionStartSchema,
  stopSchema,
} from '../../../src/schemas/hook-events.ts'
import type { Schema } from '../../../src/schemas/schema.ts'

/** What every event of a real session carries. */
const common = {
  session_id: '0b1c',
  transcript_path: '/h/t.jsonl',
  cwd: '/w',
  permission_mode: 'default',
  prompt_id: 'p1',
  effort: { level: 'medium' },
}
const call = { ...common, tool_name: 'Write', tool_input: { file_path: '/w/a', content: 'x' }, tool_use_id: 'toolu_1' }

const events: [schema: Schema, event: { hook_event_name: string; [field: string]: unknown }][] = [
  [preToolUseSchema, { ...call, hook_event_name: 'PreToolUse' }],
  [preToolUseSchema, { ...call, hook_event_name: 'PreToolUse', agent_id: 'a1', agent_type: 'general-purpose' }],
  [
    preToolUseSchema,
    { ...call, hook_event_name: 'PreToolUse', tool_name: 'mcp__lab__note', mcp_server: { name: 'lab' } },
  ],
  [postToolUseSchema, { ...call, hook_event_name: 'PostToolUse', tool_response: { type: 'create' }, duration_ms: 3 }],
  [
    postToolUseSchema,
    { ...call, hook_event_name: 'PostToolUse', tool_response: [{ type: 'text', text: 'noted' }], duration_ms: 3 },
  ],
  [
    postToolUseFailureSchema,
    { ...call, hook_event_name: 'PostToolUseFailure', error: 'Exit code 7', is_interrupt: false, duration_ms: 7 },
  ],
  [
    stopSchema,
    {
      ...common,
      hook_event_name: 'Stop',
      stop_hook_active: false,
      last_assistant_message: 'done',
      background_tasks: [],
    },
  ],
  [stopSchema, { ...common, hook_event_name: 'SubagentStop', stop_hook_active: true, agent_id: 'a1' }],
  [preCompactSchema, { ...common, hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: '' }],
  [sessionStartSchema, { ...common, hook_event_name: 'SessionStart', source: 'startup' }],
  [
    configChangeSchema,
    {
      ...common,
      hook_event_name: 'ConfigChange',
      source: 'local_settings',
      file_path: '/w/.claude/settings.local.json',
    },
  ],
]

describe('parseEvent', () => {
  it.each(events)('takes $1.hook_event_name as it comes, unknown fields included', (schema, event) => {
    expect(parseEvent(schema, `${JSON.stringify(event)}\n`)).toEqual({ kind: 'event', event })
  })

  it.each(events)('does not take $1.hook_event_name for another event', (schema, event) => {
    const other = { ...event, hook_event_name: 'Notification' }
    expect(parseEvent(schema, JSON.stringify(other)).kind).toBe('malformed')
  })

  it.each([
    ['', 'it is not JSON'],
    ['{"hook_event_name":"PreToolUse"', 'it is not JSON'],
    ['null', 'the input must be object'],
    ['[]', 'the input must be object'],
    ['"PreToolUse"', 'the input must be object'],
    ['{}', "the input must have required property 'hook_event_name'"],
    [JSON.stringify({ ...call, hook_event_name: 'PreToolUse', tool_name: 3 }), '/tool_name must be string'],
    [JSON.stringify({ ...call, hook_event_name: 'PreToolUse', tool_input: 'rm' }), '/tool_input must be object'],
    [JSON.stringify({ ...call, hook_event_name: 'PreToolUse', cwd: 1 }), '/cwd must be string'],
  ])('says what is wrong with %s', (text, why) => {
    expect(parseEvent(preToolUseSchema, text)).toEqual({ kind: 'malformed', why })
  })
})
