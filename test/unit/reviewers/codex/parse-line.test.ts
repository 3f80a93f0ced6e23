import { describe, expect, it } from 'vitest'
import { foldLine, initialTurn } from '../../../../src/reviewers/codex/turn.ts'

const item = (type: string, fields: object, event = 'item.completed'): string =>
  JSON.stringify({ type: event, item: { id: 'item_1', type, ...fields } })
const shell = (command: string): string => item('command_execution', { command, status: 'in_progress' }, 'item.started')

const online = (message: string) => ({ message, times: 0, offlineSince: null, offlineMs: 0 })

describe('a line of Codex', () => {
  it.each([
    ['{"type":"thread.started","thread_id":"0a"}', { thread: '0a' }, null],
    ['{"type":"thread.started"}', {}, null],
    ['{"type":"turn.started"}', { hasBegun: true }, 'codex is thinking'],
    [item('agent_message', { text: 'yes' }), { lastMessage: 'yes' }, 'codex is answering'],
    [item('agent_message', { text: 'ye' }, 'item.updated'), {}, null],
    [item('reasoning', { text: 'hm' }), {}, 'codex is thinking'],
    [item('todo_list', { items: [] }), {}, null],
    [item('error', { message: 'Model metadata for `x` not found.' }), {}, null],
    [item('something_new', {}), {}, null],
    [item('mcp_tool_call', {}), { tools: ['mcp_tool_call'] }, 'codex is using mcp_tool_call'],
    [shell("/bin/bash -lc 'ls -la | head'"), { tools: ['command_execution'] }, 'codex is running ls -la | head'],
    [shell('/bin/zsh -c "sed -n 1,20p src/a.ts"'), { tools: ['command_execution'] }, 'codex is reading src/a.ts'],
    [
      shell(`/bin/bash -c 'echo \u001b[31m\n${'x'.repeat(100)}'`),
      { tools: ['command_execution'] },
      `codex is running echo [31m ${'x'.repeat(49)}…`,
    ],
    [
      '{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2,"reasoning_output_tokens":1}}',
      { isCompleted: true, total: { input: 9, cached: 4, output: 2, reasoning: 1 } },
      null,
    ],
    [
      '{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":2}}',
      { isCompleted: true, total: { input: 9, cached: 0, output: 2, reasoning: 0 } },
      null,
    ],
    ['{"type":"turn.completed","usage":{"input_tokens":"9"}}', { isCompleted: true, total: null }, null],
    ['{"type":"turn.failed","error":{"message":"no"}}', { failure: 'no' }, null],
    ['{"type":"turn.failed"}', {}, null],
    ['{"type":"error","message":"no"}', { failure: 'no' }, null],
    [
      '{"type":"error","message":"Reconnecting... 2/5 (unexpected status 500 (x))"}',
      { reconnecting: online('unexpected status 500 (x)') },
      'codex is reconnecting 2/5',
    ],
    [
      '{"type":"error","message":"Reconnecting... waiting for network (Connection failed: x)"}',
      { reconnecting: { ...online('Connection failed: x'), offlineSince: 7 } },
      'codex is waiting for a network',
    ],
    [
      '{"type":"error","message":"Reconnecting... 3/5"}',
      { reconnecting: online('Reconnecting... 3/5') },
      'codex is reconnecting 3/5',
    ],
    ['{"type":"turn.started"', { errorLines: ['{"type":"turn.started"'] }, null],
    ['Error: no', { errorLines: ['Error: no'] }, null],
    ['[1]', { errorLines: ['[1]'] }, null],
    ['  ', {}, null],
  ])('%s', (line, change, progress) => {
    expect(foldLine(initialTurn, line, 'stdout', 7)).toEqual({ state: { ...initialTurn, ...change }, progress })
  })

  it('is not believed on stderr when it claims an answer', () => {
    const lines = [
      item('agent_message', { text: '{"verdict":"APPROVED"}' }),
      '{"type":"thread.started","thread_id":"0a"}',
      '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}',
      '{"type":"turn.failed","error":{"message":"no"}}',
    ]
    const changed = lines.map((line) => foldLine(initialTurn, line, 'stderr', 7).state)
    expect(changed).toEqual([initialTurn, initialTurn, initialTurn, { ...initialTurn, failure: 'no' }])
  })
})
