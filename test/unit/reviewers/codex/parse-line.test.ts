import { describe, expect, it } from 'vitest'
import { formatProgress, parseLine } from '../../../../src/reviewers/codex/events.ts'

const item = (type: string, fields: object, event = 'item.completed'): string =>
  JSON.stringify({ type: event, item: { id: 'item_1', type, ...fields } })
const shell = (command: string): string => item('command_execution', { command, status: 'in_progress' }, 'item.started')

describe('a line of Codex', () => {
  it.each([
    ['{"type":"thread.started","thread_id":"0a"}', { kind: 'thread', id: '0a' }, null],
    ['{"type":"thread.started"}', { kind: 'other' }, null],
    ['{"type":"turn.started"}', { kind: 'turn-started' }, 'codex is thinking'],
    [item('agent_message', { text: 'yes' }), { kind: 'message', text: 'yes' }, 'codex is answering'],
    [item('agent_message', { text: 'ye' }, 'item.updated'), { kind: 'other' }, null],
    [item('reasoning', { text: 'hm' }), { kind: 'reasoning' }, 'codex is thinking'],
    [item('todo_list', { items: [] }), { kind: 'other' }, null],
    [item('error', { message: 'Model metadata for `x` not found.' }), { kind: 'other' }, null],
    [item('something_new', {}), { kind: 'other' }, null],
    [item('mcp_tool_call', {}), { kind: 'tool', name: 'mcp_tool_call', command: null }, 'codex is using mcp_tool_call'],
    [
      shell("/bin/bash -lc 'ls -la | head'"),
      { kind: 'tool', name: 'command_execution', command: "/bin/bash -lc 'ls -la | head'" },
      'codex is running ls -la | head',
    ],
    [
      shell('/bin/zsh -c "sed -n 1,20p src/a.ts"'),
      { kind: 'tool', name: 'command_execution', command: '/bin/zsh -c "sed -n 1,20p src/a.ts"' },
      'codex is reading src/a.ts',
    ],
    [
      shell(`/bin/bash -c 'echo \u001b[31m\n${'x'.repeat(100)}'`),
      { kind: 'tool', name: 'command_execution', command: `/bin/bash -c 'echo \u001b[31m\n${'x'.repeat(100)}'` },
      `codex is running echo [31m ${'x'.repeat(49)}…`,
    ],
    [
      '{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2,"reasoning_output_tokens":1}}',
      { kind: 'turn-completed', total: { input: 9, cached: 4, output: 2, reasoning: 1 } },
      null,
    ],
    [
      '{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":2}}',
      { kind: 'turn-completed', total: { input: 9, cached: 0, output: 2, reasoning: 0 } },
      null,
    ],
    ['{"type":"turn.completed","usage":{"input_tokens":"9"}}', { kind: 'turn-completed', total: null }, null],
    ['{"type":"turn.failed","error":{"message":"no"}}', { kind: 'turn-failed', message: 'no' }, null],
    ['{"type":"turn.failed"}', { kind: 'turn-failed', message: '' }, null],
    ['{"type":"error","message":"no"}', { kind: 'error', message: 'no' }, null],
    [
      '{"type":"error","message":"Reconnecting... 2/5 (unexpected status 500 (x))"}',
      { kind: 'reconnecting', count: '2/5', message: 'unexpected status 500 (x)' },
      'codex is reconnecting 2/5',
    ],
    [
      '{"type":"error","message":"Reconnecting... waiting for network (Connection failed: x)"}',
      { kind: 'reconnecting', count: null, message: 'Connection failed: x' },
      'codex is waiting for a network',
    ],
    [
      '{"type":"error","message":"Reconnecting... 3/5"}',
      { kind: 'reconnecting', count: '3/5', message: 'Reconnecting... 3/5' },
      'codex is reconnecting 3/5',
    ],
    ['{"type":"turn.started"', { kind: 'error-line', text: '{"type":"turn.started"' }, null],
    ['Error: no', { kind: 'error-line', text: 'Error: no' }, null],
    ['[1]', { kind: 'error-line', text: '[1]' }, null],
    ['  ', { kind: 'other' }, null],
  ])('%s', (line, event, sign) => {
    const parsed = parseLine(line, 'stdout')
    expect([parsed, formatProgress(parsed)]).toEqual([event, sign])
  })

  it('is not believed on stderr when it claims an answer', () => {
    const lines = [
      item('agent_message', { text: '{"verdict":"APPROVED"}' }),
      '{"type":"thread.started","thread_id":"0a"}',
      '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}',
      '{"type":"turn.failed","error":{"message":"no"}}',
    ]
    expect(lines.map((line) => parseLine(line, 'stderr').kind)).toEqual(['other', 'other', 'other', 'turn-failed'])
  })
})
