import { describe, expect, it } from 'vitest'
import { parseEvent, type Validate } from '../../../src/hooks/runtime.ts'
import configChange from '../../../src/schemas/generated/config-change.js'
import postToolUse from '../../../src/schemas/generated/post-tool-use.js'
import postToolUseFailure from '../../../src/schemas/generated/post-tool-use-failure.js'
import preCompact from '../../../src/schemas/generated/pre-compact.js'
import preToolUse from '../../../src/schemas/generated/pre-tool-use.js'
import sessionStart from '../../../src/schemas/generated/session-start.js'
import stop from '../../../src/schemas/generated/stop.js'

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

const events: [validate: Validate<unknown>, event: { hook_event_name: string; [field: string]: unknown }][] = [
  [preToolUse, { ...call, hook_event_name: 'PreToolUse' }],
  [preToolUse, { ...call, hook_event_name: 'PreToolUse', agent_id: 'a1', agent_type: 'general-purpose' }],
  [preToolUse, { ...call, hook_event_name: 'PreToolUse', tool_name: 'mcp__lab__note', mcp_server: { name: 'lab' } }],
  [postToolUse, { ...call, hook_event_name: 'PostToolUse', tool_response: { type: 'create' }, duration_ms: 3 }],
  [
    postToolUse,
    { ...call, hook_event_name: 'PostToolUse', tool_response: [{ type: 'text', text: 'noted' }], duration_ms: 3 },
  ],
  [
    postToolUseFailure,
    { ...call, hook_event_name: 'PostToolUseFailure', error: 'Exit code 7', is_interrupt: false, duration_ms: 7 },
  ],
  [
    stop,
    {
      ...common,
      hook_event_name: 'Stop',
      stop_hook_active: false,
      last_assistant_message: 'done',
      background_tasks: [],
    },
  ],
  [stop, { ...common, hook_event_name: 'SubagentStop', stop_hook_active: true, agent_id: 'a1' }],
  [preCompact, { ...common, hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: '' }],
  [sessionStart, { ...common, hook_event_name: 'SessionStart', source: 'startup' }],
  [
    configChange,
    {
      ...common,
      hook_event_name: 'ConfigChange',
      source: 'local_settings',
      file_path: '/w/.claude/settings.local.json',
    },
  ],
]

describe('parseEvent', () => {
  it.each(events)('takes $1.hook_event_name as it comes, unknown fields included', (validate, event) => {
    expect(parseEvent(validate, `${JSON.stringify(event)}\n`)).toEqual({ kind: 'event', event })
  })

  it.each(events)('does not take $1.hook_event_name for another event', (validate, event) => {
    const other = { ...event, hook_event_name: 'Notification' }
    expect(parseEvent(validate, JSON.stringify(other)).kind).toBe('malformed')
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
    expect(parseEvent(preToolUse, text)).toEqual({ kind: 'malformed', why })
  })
})
