import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import {
  foldLine,
  initialTurn,
  isUnrecoverable,
  readTurn,
  type TurnState,
} from '../../../../src/reviewers/codex/turn.ts'
import { type GroupOutcome, readStream } from '../../../../src/reviewers/process.ts'
import { demand, type Opened, same, type Target } from '../target.ts'

const id = '01a1eef0-7c9a-72a1-96c8-89a053e3c795'
const error = (message: string): string => JSON.stringify({ type: 'error', message })
const item = (fields: object, type = 'item.completed'): string => JSON.stringify({ type, item: fields })
const lines = [
  `{"type":"thread.started","thread_id":"${id}"}`,
  '{"type":"turn.started"}',
  item({ type: 'reasoning', text: 'hm' }),
  item({ type: 'command_execution', command: 'ls', exit_code: 0 }, 'item.started'),
  item({ type: 'mcp_tool_call', server: 's', tool: 't' }),
  item({ type: 'agent_message', text: '{"verdict":"APPROVED","summary":"It is sound."}' }),
  '{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":1,"output_tokens":9,"reasoning_output_tokens":4}}',
]
const failing = [
  ...lines.slice(0, 2),
  error('Reconnecting... 1/5 (unexpected status 401 Unauthorized: x, url: http://127.0.0.1/v1)'),
  error('Reconnecting... 2/5 (unexpected status 401 Unauthorized: x, url: http://127.0.0.1/v1)'),
  error('Reconnecting... waiting for network (Connection failed)'),
  error('Rate limit reached. Please try again in 1.5s.'),
  '{"type":"turn.failed","error":{"message":"Quota exceeded."}}',
]

/** What Codex prints: events on stdout, and on stderr whatever a tool of its may have said. */
export const codexEvents: Target = {
  name: 'codex-events',
  seeds: [
    lines.join('\n'),
    failing.join('\n'),
    `${lines.join('\r\n')}\r\n`,
    ...[...lines, ...failing],
    "error: unexpected argument '--x'\n\nUsage: codex",
    "thread 'main' panicked at x\nCaused by: y",
    'Not inside a trusted directory',
    '2031-01-02T03:04:05Z ERROR codex: x',
  ],
  pieces: [
    ...lines.map((line) => `\n${line}\n`),
    ...[
      '\n',
      '\r\n',
      '{',
      '}',
      '"type":',
      'item.completed',
      'agent_message',
      'turn.completed',
      'turn.failed',
      'thread.started',
    ],
    ...[
      'thread_id',
      'usage',
      'input_tokens',
      'error',
      'message',
      'Reconnecting... ',
      'waiting for network',
      '1/5',
      'url: http:',
    ],
    ...[
      '401 Unauthorized',
      'status 429',
      'quota',
      'usage limit',
      'try again in 99999999999999999999s',
      'model',
      'does not exist',
    ],
    ...[
      'content_filter',
      'Incomplete response returned',
      'server_error',
      'Connection refused',
      'config.toml',
      'command not found',
      'é中',
    ],
  ],
  parses: 4,
  open,
}

const rest = { stdout: '', stderr: '', truncated: false }
const outcomes: readonly GroupOutcome[] = [
  { kind: 'ended', exitCode: 0, ...rest },
  { kind: 'ended', exitCode: 1, ...rest },
  { kind: 'timed-out', afterMs: 9, ...rest },
  { kind: 'stopped', ...rest },
]

function open(): Opened {
  const folder = mkdtempSync(join(tmpdir(), 'plan-gate-fuzz-'))
  const answerFile = join(folder, 'answer.txt')
  writeFileSync(answerFile, 'the answer')
  const from = { answerFile, maxAnswerBytes: 1_000, secrets: ['a-secret-that-is-known'], usedForbiddenTool: false }
  const look = (text: string): string => {
    const lines = heard(text, text.length + 1)
    const [state, kinds] = fold(lines)
    // However the bytes arrive, the lines are the same.
    if (text.length < 4_096) same(heard(text, 1 + (text.length % 7)), lines, 'other lines are heard in other pieces')
    isUnrecoverable(state, { networkMs: 60_000 })
    const turns = outcomes.map((outcome) => readTurn(outcome, state, from))
    for (const turn of turns) {
      if (turn.kind === 'answered')
        demand(state.lastMessage !== null && state.isCompleted !== undefined, 'answered without a message')
      else
        demand(
          turn.failure.why.length < 700 && turn.failure.nextStep !== '',
          'a failure that says too much or too little',
        )
      if (turn.thread !== null) demand(state.thread !== null && state.hasBegun, 'a thread that never began')
    }
    return `${[...kinds].sort().join(' ')} ${turns.map((turn) => (turn.kind === 'failed' ? turn.failure.failure : turn.kind)).join(' ')}`
  }
  return { look, close: () => rmSync(folder, { recursive: true, force: true }) }
}

function heard(text: string, pieceBytes: number): string[] {
  const found: string[] = []
  const stream = new EventEmitter()
  readStream(stream as unknown as Readable, 4_096, (line) => found.push(line))
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) stream.emit('data', bytes.subarray(at, at + pieceBytes))
  stream.emit('close')
  return found
}

function fold(lines: readonly string[]): [TurnState, Set<string>] {
  const kinds = new Set<string>()
  let state = initialTurn
  for (const [index, line] of lines.entries()) {
    if (index < 200) lookAtErrors(line)
    const after = foldLine(state, line, 'stdout', index * 1_000)
    for (const key of Object.keys(after.state) as (keyof TurnState)[])
      if (after.state[key] !== state[key]) kinds.add(key)
    state = after.state
  }
  demand(state.tools.length <= 50 && state.errorLines.length <= 40, 'the state of a turn has no end')
  return [state, kinds]
}

/** On stderr nothing can be answered. */
function lookAtErrors(line: string): void {
  const { thread, hasBegun, lastMessage, tools, total } = foldLine(initialTurn, line, 'stderr', 0).state
  demand(
    thread === null && !hasBegun && lastMessage === null && tools.length === 0 && total === null,
    'stderr is believed to be an answer',
  )
}
