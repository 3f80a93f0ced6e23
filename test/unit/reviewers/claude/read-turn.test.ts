import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  foldLine,
  initialTurn,
  isUnrecoverable,
  readTurn,
  type TurnState,
} from '../../../../src/reviewers/claude/turn.ts'
import type { GroupOutcome } from '../../../../src/reviewers/process.ts'

const rest = { stdout: '', stderr: '', truncated: false }
const ended = (exitCode: number): GroupOutcome => ({ kind: 'ended', exitCode, ...rest })
const session = '01a1eef0-7c9a-42a1-96c8-89a053e3c795'
const init = {
  type: 'system',
  subtype: 'init',
  session_id: session,
  tools: ['Read', 'StructuredOutput'],
  mcp_servers: [],
}
const result = (more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'yes',
  session_id: session,
  ...more,
})
const apiError = (text: string, more: object = {}) =>
  result({ is_error: true, result: text, terminal_reason: 'api_error', ...more })
const retry = (delay: number, more: object = {}) => ({
  type: 'system',
  subtype: 'api_retry',
  retry_delay_ms: delay,
  error_status: 429,
  error: 'rate_limit',
  ...more,
})
const failing = (error: string) => ({ type: 'assistant', error, message: { content: [] } })

const foldAll = (events: readonly object[], mayReadFiles = true): TurnState =>
  events.reduce<TurnState>(
    (state, event) => foldLine(state, JSON.stringify(event), 'stdout', mayReadFiles).state,
    initialTurn,
  )

describe('what comes of a run', () => {
  const stopped: GroupOutcome = { kind: 'stopped', ...rest }
  const late: GroupOutcome = { kind: 'timed-out', afterMs: 2_000, ...rest }
  it.each([
    { name: 'an answer', outcome: ended(0), events: [init, result()], expected: 'yes' },
    { name: 'an answer, and then no end', outcome: late, events: [init, result()], expected: 'yes' },
    {
      name: 'an answer that nobody wants any more',
      outcome: { kind: 'cancelled', ...rest } as GroupOutcome,
      events: [init, result()],
      expected: 'cancelled',
    },
    {
      name: 'structured output',
      outcome: ended(0),
      events: [init, result({ structured_output: { a: 1 } })],
      expected: '{"a":1}',
    },
    { name: 'an empty answer', outcome: ended(0), events: [init, result({ result: ' ' })], expected: 'malformed' },
    { name: 'no result', outcome: ended(0), events: [init], expected: 'malformed' },
    {
      name: 'a refusal',
      outcome: ended(1),
      events: [init, apiError('no', { stop_reason: 'refusal' })],
      expected: 'refused',
    },
    { name: 'an unknown error', outcome: ended(1), events: [init, apiError('Well.')], expected: 'crashed' },
    {
      name: 'an error by its name',
      outcome: ended(1),
      events: [init, failing('billing_error'), apiError('Well.')],
      expected: 'quota',
    },
    {
      name: 'an error that was got over',
      outcome: ended(1),
      events: [
        init,
        failing('billing_error'),
        { type: 'stream_event', event: { type: 'content_block_start', content_block: { type: 'text' } } },
        apiError('Well.'),
      ],
      expected: 'crashed',
    },
    {
      name: 'a number of HTTP',
      outcome: ended(1),
      events: [init, apiError('x', { api_error_status: 502 })],
      expected: 'server',
    },
    { name: 'a wait that is too long', outcome: stopped, events: [init, retry(60_000)], expected: 'rate-limited' },
    {
      name: 'no time while it waits',
      outcome: late,
      events: [init, retry(1_000, { error_status: null, error: 'server_error' })],
      expected: 'transport',
    },
    { name: 'no time', outcome: late, events: [init], expected: 'timeout' },
    {
      name: 'a tool too many',
      outcome: stopped,
      events: [{ ...init, tools: ['Bash'] }, result()],
      expected: 'not-installed',
    },
    {
      name: 'a server',
      outcome: stopped,
      events: [{ ...init, mcp_servers: [{}] }, result()],
      expected: 'not-installed',
    },
    {
      name: 'another model',
      outcome: stopped,
      events: [init, { type: 'system', subtype: 'model_refusal_fallback', fallback_model: 'm' }, result()],
      expected: 'refused',
    },
    {
      name: 'no other model',
      outcome: ended(0),
      events: [init, { type: 'system', subtype: 'model_refusal_no_fallback' }, result()],
      expected: 'yes',
    },
    {
      name: 'a signal',
      outcome: { kind: 'killed-by', signal: 'SIGSEGV', ...rest } as GroupOutcome,
      events: [],
      expected: 'crashed',
    },
    { name: 'no program', outcome: { kind: 'not-found' } as GroupOutcome, events: [], expected: 'not-installed' },
    {
      name: 'no start',
      outcome: { kind: 'not-started', why: 'E2BIG' } as GroupOutcome,
      events: [],
      expected: 'not-installed',
    },
  ])('$name: $expected', ({ outcome, events, expected }) => {
    const turn = readTurn(outcome, foldAll(events), [])
    expect(turn.kind === 'answered' ? turn.text : turn.failure.failure).toBe(expected)
  })

  it('counts what was read from the cache and what was written to it', () => {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 300,
      output_tokens: 4,
      output_tokens_details: { thinking_tokens: 3 },
    }
    expect(readTurn(ended(0), foldAll([init, result({ usage })]), [])).toEqual({
      kind: 'answered',
      text: 'yes',
      thread: session,
      total: { input: 321, cached: 300, output: 4, reasoning: 3 },
    })
  })

  it('repeats no key, and asks for what is to be left out', () => {
    const key = ['a', 'key', 'of', 'the', 'tests'].join('-')
    const schema = apiError(`tools.0.custom.input_schema: JSON schema is invalid: ${key}`, { api_error_status: 400 })
    const turn = readTurn(ended(1), foldAll([init, schema]), [key])
    expect(turn).toMatchObject({ fallback: 'no-schema', failure: { why: expect.stringContaining('[redacted]') } })
    expect(JSON.stringify(turn)).not.toContain(key)
  })
})

it.each([
  { name: 'a tool that may not be', state: foldAll([{ ...init, tools: ['Read'] }], false), expected: true },
  { name: 'the tools that may be', state: foldAll([init]), expected: false },
  { name: 'a long wait', state: foldAll([init, retry(9_000)]), expected: true },
  { name: 'a short wait', state: foldAll([init, retry(1_000)]), expected: false },
])('$name ends it: $expected', ({ state, expected }) => expect(isUnrecoverable(state, 8_000)).toBe(expected))

describe('signs of life', () => {
  const tool = (name: string, input: object) => ({
    type: 'assistant',
    message: { content: [{ type: 'tool_use', name, input }] },
  })
  const block = (type: string) => ({
    type: 'stream_event',
    event: { type: 'content_block_start', content_block: { type } },
  })
  it.each([
    { event: block('thinking'), expected: 'claude is thinking' },
    { event: block('text'), expected: 'claude is answering' },
    { event: block('tool_use'), expected: null },
    { event: tool('Read', { file_path: '/r/src/a.ts' }), expected: 'claude is reading /r/src/a.ts' },
    { event: tool('Grep', { pattern: 'x\u001b[2Jy' }), expected: 'claude is using Grep x [2Jy' },
    { event: tool('StructuredOutput', {}), expected: 'claude is answering' },
    { event: retry(500, { error_status: 529 }), expected: 'claude asks again (529)' },
    { event: result(), expected: null },
  ])('$expected', ({ event, expected }) =>
    expect(foldLine(initialTurn, JSON.stringify(event), 'stdout', true).progress).toBe(expected),
  )
})

describe('any line', () => {
  it('is read without an error', () => {
    const names = fc.constantFrom('type', 'subtype', 'event', 'message', 'content', 'tools', 'error', 'result', 'usage')
    const values = fc.oneof(
      fc.constantFrom('system', 'init', 'api_retry', 'assistant', 'result', 'stream_event'),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(
        fc.oneof(fc.dictionary(names, values), fc.jsonValue()),
        fc.constantFrom('stdout', 'stderr'),
        (value, stream) => {
          const { state } = foldLine(initialTurn, JSON.stringify(value), stream, true)
          const turn = readTurn(ended(1), state, [])
          // Only stdout can answer.
          return turn.kind === 'failed' || stream === 'stdout'
        },
      ),
      { numRuns: 500 },
    )
  })
})
