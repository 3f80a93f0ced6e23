import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codexProgram } from '../../../../src/reviewers/codex/program.ts'
import {
  foldLine,
  initialTurn,
  isUnrecoverable,
  readTurn,
  type TurnState,
} from '../../../../src/reviewers/codex/turn.ts'
import type { GroupOutcome } from '../../../../src/reviewers/process.ts'
import { answerFrom, fallbackRequest, firstRequest, type Turn } from '../../../../src/reviewers/program.ts'
import type { Question, Thread, Usage } from '../../../../src/schemas/review.ts'
import { temporaryFolder } from '../../../support/temporary-repo.ts'

const one = '01a1eef0-7c9a-72a1-96c8-89a053e3c795'
const two = '01a1eef0-7c9a-72a1-96c8-89a053e3c796'
const begun = [`{"type":"thread.started","thread_id":"${one}"}`, '{"type":"turn.started"}']
const message = '{"type":"item.completed","item":{"type":"agent_message","text":"yes"}}'
const command = '{"type":"item.completed","item":{"type":"command_execution","command":"ls"}}'
const completed = (output = 9, reasoning = 4): string =>
  `{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":${output},"reasoning_output_tokens":${reasoning}}}`
const error = (text: string): string => JSON.stringify({ type: 'error', message: text })
const http401 = error('Reconnecting... 1/5 (unexpected status 401 Unauthorized: x, url: http://127.0.0.1/v1)')
const socket401 = error('Reconnecting... 2/5 (unexpected status 401 Unauthorized: x, url: ws://127.0.0.1/v1)')
const offline = error('Reconnecting... waiting for network (Connection failed: error sending request)')

const foldAll = (lines: readonly string[], msBetween = 1_000): TurnState =>
  lines.reduce((state, line, i) => foldLine(state, line, 'stdout', i * msBetween).state, initialTurn)

const rest = { stdout: '', stderr: '', truncated: false }
const ended = (exitCode: number): GroupOutcome => ({ kind: 'ended', exitCode, ...rest })

function read(outcome: GroupOutcome, lines: readonly string[], answer: string, usedForbiddenTool = false): Turn {
  const answerFile = join(temporaryFolder(), 'answer.txt')
  writeFileSync(answerFile, answer)
  return readTurn(outcome, foldAll(lines), { answerFile, maxAnswerBytes: 1_000, secrets: [], usedForbiddenTool })
}

describe('what comes of a run', () => {
  it.each([
    { name: 'an answer', outcome: ended(0), lines: [...begun, message, completed()], expected: 'yes' },
    {
      name: 'an answer after tools',
      outcome: ended(0),
      lines: [...begun, command, message, completed()],
      expected: 'yes',
    },
    {
      name: 'only a preamble',
      outcome: ended(0),
      lines: [...begun, message, command, completed()],
      expected: 'malformed',
    },
    {
      name: 'an old file and no message',
      outcome: ended(0),
      lines: [...begun, completed(4, 4)],
      expected: 'malformed',
    },
    {
      name: 'a refusal: it said something that is not passed on',
      outcome: ended(0),
      lines: [...begun, completed()],
      expected: 'refused',
    },
    {
      name: 'tools and then nothing',
      outcome: ended(0),
      lines: [...begun, command, completed()],
      expected: 'malformed',
    },
    { name: 'no end of the turn', outcome: ended(0), lines: begun, expected: 'malformed' },
    { name: 'a failed turn', outcome: ended(1), lines: [...begun, error('Quota exceeded.')], expected: 'quota' },
    { name: 'an unknown failure', outcome: ended(1), lines: [...begun, error('Well.')], expected: 'crashed' },
    { name: 'a panic', outcome: ended(101), lines: ["thread 'main' panicked at x"], expected: 'crashed' },
    {
      name: 'no node',
      outcome: ended(127),
      lines: ["/usr/bin/env: 'node': No such file or directory"],
      expected: 'not-installed',
    },
    { name: 'the time is up', outcome: { kind: 'timed-out', afterMs: 9, ...rest }, lines: begun, expected: 'timeout' },
    {
      name: 'the time is up while it looks for a network',
      outcome: { kind: 'timed-out', afterMs: 9, ...rest },
      lines: [...begun, offline],
      expected: 'transport',
    },
    {
      name: 'the time is up while it is held off',
      outcome: { kind: 'timed-out', afterMs: 9, ...rest },
      lines: [...begun, error('Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)')],
      expected: 'rate-limited',
    },
    {
      name: 'the time is up, after a trouble that is over',
      outcome: { kind: 'timed-out', afterMs: 9, ...rest },
      lines: [...begun, offline, command],
      expected: 'timeout',
    },
    { name: 'silence', outcome: { kind: 'silent', afterMs: 9, ...rest }, lines: begun, expected: 'timeout' },
    {
      name: 'ended early',
      outcome: { kind: 'stopped', ...rest },
      lines: [...begun, http401, http401],
      expected: 'auth',
    },
    { name: 'cancelled', outcome: { kind: 'cancelled', ...rest }, lines: begun, expected: 'cancelled' },
    { name: 'killed', outcome: { kind: 'killed-by', signal: 'SIGKILL', ...rest }, lines: begun, expected: 'crashed' },
    { name: 'gone', outcome: { kind: 'not-found' }, lines: [], expected: 'not-installed' },
    { name: 'not started', outcome: { kind: 'not-started', why: 'EACCES' }, lines: [], expected: 'not-installed' },
  ] as { name: string; outcome: GroupOutcome; lines: string[]; expected: string }[])(
    '$name → $expected',
    ({ outcome, lines, expected }) => {
      const turn = read(outcome, lines, 'yes')
      expect(turn.kind === 'answered' ? turn.text : turn.failure.failure).toBe(expected)
    },
  )

  it('is no answer when a tool was at work where none may be', () => {
    expect(read(ended(0), [...begun, command, message, completed()], 'yes', true)).toMatchObject({
      failure: { failure: 'not-installed' },
    })
  })

  it('can be resumed once the turn has begun, and not before', () => {
    const threads = [begun.slice(0, 1), begun].map((lines) => read(ended(1), lines, '').thread)
    expect(threads).toEqual([null, one])
  })

  it('names what Codex printed, without what it always prints', () => {
    const noise = [
      '2026-11-18T13:07:38.067Z ERROR codex_core::x: y',
      'WARNING: proceeding, even though',
      'Reading additional input',
    ]
    expect(read(ended(1), [...noise, 'Error: the disk', 'is full'], '')).toMatchObject({
      failure: { failure: 'crashed', why: 'Codex ended with exit code 1: Error: the disk is full' },
    })
  })
})

describe('what Codex prints on stderr', () => {
  const readErrors = (lines: readonly string[]): string => {
    const state = lines.reduce((state, line) => foldLine(state, line, 'stderr', 0).state, initialTurn)
    const context = { answerFile: '/nowhere', maxAnswerBytes: 1_000, secrets: [], usedForbiddenTool: false }
    const turn = readTurn(ended(1), state, context)
    return turn.kind === 'failed' ? `${turn.failure.failure}: ${turn.failure.why}` : turn.kind
  }

  it.each([
    [
      'a 429 without a code',
      ['unexpected status 429: '],
      'rate-limited: The service asks for fewer requests: unexpected status 429:',
    ],
    [
      'a 429 without a code, in a log',
      ['HTTP error 429', 'giving up'],
      'rate-limited: The service asks for fewer requests: HTTP error 429 giving up',
    ],
    ['one line', ['one'], 'crashed: Codex ended with exit code 1: one'],
    ['three lines', ['one', 'two', 'three'], 'crashed: Codex ended with exit code 1: one two three'],
    [
      'the last three of four lines',
      ['one', 'two', 'three', 'four'],
      'crashed: Codex ended with exit code 1: two three four',
    ],
    [
      'an error with the lines that explain it',
      ['one', 'Error: two', 'three', 'four', 'five'],
      'crashed: Codex ended with exit code 1: Error: two three four five',
    ],
    ['nothing', [], 'crashed: Codex ended with exit code 1.'],
  ])('is quoted: %s', (_, lines, expected) => {
    expect(readErrors(lines)).toBe(expected)
  })
})

describe('a run that is unrecoverable', () => {
  it.each([
    { name: 'one refusal may be a login to renew', lines: [http401], expected: false },
    { name: 'two are not', lines: [http401, http401], expected: true },
    { name: 'with something in between it goes on', lines: [http401, message, http401], expected: false },
    { name: 'a web socket is followed by plain HTTP', lines: [socket401, socket401, socket401], expected: false },
    {
      name: 'a server may come back',
      lines: Array(4).fill(error('Reconnecting... 1/5 (We’re currently experiencing high demand, url: http://x)')),
      expected: false,
    },
    { name: 'a network may come back', lines: [offline, offline], expected: false },
    { name: 'but not after this time', lines: [offline, offline, offline], expected: true },
    { name: 'which starts again after another event', lines: [offline, offline, http401, offline], expected: false },
  ])('$name', ({ lines, expected }) => {
    expect(isUnrecoverable(foldAll(lines, 8_000), { networkMs: 15_000 })).toBe(expected)
  })
})

const usage = (n: number): Usage => ({ input: 10 * n, cached: 4 * n, output: 2 * n, reasoning: n })
const about = (thread: Thread): Question => ({
  system: '',
  user: '',
  model: 'm',
  effort: 'high',
  schema: { $id: 's', type: 'object' },
  thread,
  root: '/',
  timeoutMs: 1,
  subject: { type: 'plan', content: '' },
})
const answered = (thread: string, total: Usage | null): Turn => ({ kind: 'answered', text: 'yes', thread, total })

describe('what a turn has used, and its thread', () => {
  it.each([
    { name: 'none', thread: { kind: 'none' }, turn: answered(one, usage(2)), usage: usage(2), after: null },
    {
      name: 'start',
      thread: { kind: 'start' },
      turn: answered(one, usage(2)),
      usage: usage(2),
      after: { id: one, used: usage(2), replaced: null },
    },
    {
      name: 'resume',
      thread: { kind: 'resume', id: one.toUpperCase(), used: usage(2) },
      turn: answered(one, usage(3)),
      usage: usage(1),
      after: { id: one, used: usage(3), replaced: null },
    },
    {
      name: 'resume of unknown use',
      thread: { kind: 'resume', id: one, used: null },
      turn: answered(one, usage(3)),
      usage: null,
      after: { id: one, used: usage(3), replaced: null },
    },
    {
      name: 'resume that counts anew',
      thread: { kind: 'resume', id: one, used: usage(4) },
      turn: answered(one, usage(3)),
      usage: null,
      after: { id: one, used: usage(3), replaced: null },
    },
    {
      name: 'resume that went on elsewhere',
      thread: { kind: 'resume', id: one, used: usage(2) },
      turn: answered(two, usage(3)),
      usage: usage(3),
      after: { id: two, used: usage(3), replaced: { was: one, why: 'Codex went on with another one.' } },
    },
    {
      name: 'what is no id at all',
      thread: { kind: 'resume', id: '--last', used: null },
      turn: answered(two, usage(3)),
      usage: usage(3),
      after: {
        id: two,
        used: usage(3),
        replaced: { was: '--last', why: 'what was noted of it is not the id of a thread' },
      },
    },
  ] as { name: string; thread: Thread; turn: Turn; usage: Usage | null; after: unknown }[])(
    '$name',
    ({ thread, turn, usage, after }) => {
      const question = about(thread)
      expect(answerFrom(firstRequest(question), turn, question, codexProgram)).toEqual({
        kind: 'answered',
        text: 'yes',
        usage,
        model: 'm',
        thread: after,
        notices: [],
      })
    },
  )
})

describe('the next way to ask', () => {
  const question = about({ kind: 'resume', id: one, used: null })
  const failure = { failure: 'rejected', why: 'gone', nextStep: '', retryAfterMs: null } as const
  const refused = (fallback: 'new-thread' | 'no-effort' | 'no-schema' | null): Turn => ({
    kind: 'failed',
    failure,
    fallback,
    thread: null,
    total: null,
  })

  it.each([
    { fallback: 'new-thread', changed: { resume: null, replaced: { was: one, why: 'gone' } } },
    {
      fallback: 'no-effort',
      changed: { effort: null, notices: ['Reasoning effort high was left out: the model does not take it.'] },
    },
    {
      fallback: 'no-schema',
      changed: {
        schema: null,
        notices: ['The form of the answer was asked for in words only: the schema was refused.'],
      },
    },
  ] as const)('$fallback, once', ({ fallback, changed }) => {
    const ask = firstRequest(question)
    const next = fallbackRequest(ask, refused(fallback))
    expect(next).toEqual({ ...ask, ...changed })
    expect(next === null ? 'none' : fallbackRequest(next, refused(fallback))).toBe(null)
  })

  it('is none after an answer, or where nothing helps', () => {
    expect([refused(null), answered(one, null)].map((turn) => fallbackRequest(firstRequest(question), turn))).toEqual([
      null,
      null,
    ])
  })
})
