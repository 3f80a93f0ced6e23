import { readFileSync } from 'node:fs'
import type { Answer, Failure, FailureClass, Question, ThreadAfter, Usage } from '../../schemas/review.ts'
import { type GroupOutcome, quoteForeign } from '../process.ts'
import type { CodexAsk } from './codex.ts'
import type { CodexLimits } from './environment.ts'
import { type Classified, classifyFailure, type Remedy, withQuote } from './failures.ts'

/** What a turn comes to: its own share of what the thread has used, and the thread that it left behind. */
export function answerFrom(ask: CodexAsk, turn: Turn, question: Question): Answer {
  const thread = threadAfter(ask, turn)
  const { notices } = ask
  if (turn.kind === 'failed') return { kind: 'failed', ...turn.failure, thread, notices }
  const usage = usageOfTurn(ask, turn, question)
  return { kind: 'answered', text: turn.text, usage, model: question.model, thread, notices }
}

function threadAfter(ask: CodexAsk, { thread, total }: Turn): ThreadAfter | null {
  if (!ask.keepsThread || thread === null) return null
  const isOther = ask.resume !== null && !isSame(ask.resume, thread)
  const replaced =
    ask.resume !== null && isOther ? { was: ask.resume, why: 'Codex went on with another one.' } : ask.replaced
  return { id: thread, used: total, replaced }
}

function usageOfTurn({ resume }: CodexAsk, { thread, total }: Turn, question: Question): Usage | null {
  if (total === null || resume === null || thread === null || !isSame(resume, thread)) return total
  const before = question.thread.kind === 'resume' ? question.thread.used : null
  return before === null ? null : subtract(total, before)
}

/** Codex reports what the whole thread has used. Less than before means that it has begun to count anew. */
function subtract(total: Usage, before: Usage): Usage | null {
  const rest = {
    input: total.input - before.input,
    cached: total.cached - before.cached,
    output: total.output - before.output,
    reasoning: total.reasoning - before.reasoning,
  }
  return Object.values(rest).some((tokens) => tokens < 0) ? null : rest
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** A few words for who is waiting; null for what is no sign of life. */
export function formatProgress(event: CodexEvent): string | null {
  switch (event.kind) {
    case 'turn-started':
    case 'thought':
      return 'codex is thinking'
    case 'message':
      return 'codex is answering'
    case 'tool':
      return event.command === null ? `codex is using ${event.name}` : describeCommand(event.command)
    case 'reconnecting':
      return event.count === null ? 'codex is waiting for a network' : `codex is reconnecting ${event.count}`
    case 'thread':
    case 'turn-completed':
    case 'turn-failed':
    case 'error':
    case 'complaint':
    case 'other':
      return null
  }
}

/** `/bin/bash -lc 'sed -n 1,20p src/a.ts'` → `codex is reading src/a.ts`. */
function describeCommand(command: string): string {
  const inner = /^\S*sh -l?c (['"]?)(.*)\1$/s.exec(command)?.[2] ?? command
  const file = /^(?:cat|nl|head|tail|sed -n)\b[^|;&<>]* ([^\s|;&<>'"-][^\s|;&<>'"]*)\s*$/.exec(inner)?.[1]
  return file === undefined ? `codex is running ${short(inner)}` : `codex is reading ${short(file)}`
}

function short(text: string): string {
  const line = quoteForeign(text, [])
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

/** What is known of a turn while it goes on. */
export type TurnState = {
  readonly thread: string | null
  /** Before this, Codex has written nothing that could be resumed. */
  readonly hasBegun: boolean
  /** The last message, while no tool has been used after it: before one it is only a preamble. */
  readonly said: string | null
  readonly tools: readonly string[]
  readonly isCompleted: boolean
  readonly total: Usage | null
  /** Why the turn failed, in Codex's words. */
  readonly failure: string | null
  readonly trouble: Trouble | null
  /** What it said outside of its events: all that is left of a start that failed. */
  readonly complaints: readonly string[]
}

/** Codex tries again and nothing has come since. `times` is how often over HTTP, the last way that it tries. */
type Trouble = {
  readonly message: string
  readonly times: number
  /** Since when it has been without a network. */
  readonly offlineSince: number | null
  readonly offlineMs: number
}

export const initialTurn: TurnState = {
  thread: null,
  hasBegun: false,
  said: null,
  tools: [],
  isCompleted: false,
  total: null,
  failure: null,
  trouble: null,
  complaints: [],
}

export function foldTurn(state: TurnState, event: CodexEvent, now: number): TurnState {
  switch (event.kind) {
    case 'thread':
      return { ...state, thread: event.id }
    case 'turn-started':
      return { ...state, hasBegun: true }
    case 'message':
      return { ...state, said: event.text, trouble: null }
    case 'thought':
      return { ...state, trouble: null }
    case 'tool':
      return { ...state, said: null, tools: [...state.tools, event.name].slice(-50), trouble: null }
    case 'turn-completed':
      return { ...state, isCompleted: true, total: event.total, trouble: null }
    case 'turn-failed':
      return { ...state, failure: event.message === '' ? state.failure : event.message }
    case 'error':
      return { ...state, failure: event.message }
    case 'reconnecting':
      return { ...state, trouble: foldTrouble(state.trouble, event, now) }
    case 'complaint':
      return noise.test(event.text) ? state : { ...state, complaints: [...state.complaints, event.text].slice(0, 40) }
    case 'other':
      return state
  }
}

function foldTrouble(
  before: Trouble | null,
  { count, message }: Extract<CodexEvent, { kind: 'reconnecting' }>,
  now: number,
): Trouble {
  const offlineSince = count === null ? (before?.offlineSince ?? now) : null
  return {
    message,
    // A web socket that is refused is followed by plain HTTP, which may be let through.
    times: /\burl: https?:/.test(message) ? (before?.times ?? 0) + 1 : 0,
    offlineSince,
    offlineMs: offlineSince === null ? 0 : now - offlineSince,
  }
}

/** It is on stderr of runs that go well, too. */
const noise =
  /^(\d{4}-\d\d-\d\dT\S+ +(ERROR|WARN|INFO|DEBUG)\b|WARNING: |warning: |Warning: |Reading (additional|prompt))/

/** What a line of Codex can mean for a review. */
export type CodexEvent =
  | { readonly kind: 'thread'; readonly id: string }
  | { readonly kind: 'turn-started' }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'thought' }
  /** A tool is at work or has been. `command` is null for a tool that is no shell. */
  | { readonly kind: 'tool'; readonly name: string; readonly command: string | null }
  /** `total` is of the whole thread. */
  | { readonly kind: 'turn-completed'; readonly total: Usage | null }
  | { readonly kind: 'turn-failed'; readonly message: string }
  /** `count` is Codex's "2/5"; null while it waits for a network. */
  | { readonly kind: 'reconnecting'; readonly count: string | null; readonly message: string }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'complaint'; readonly text: string }
  | { readonly kind: 'other' }

/**
 * Events come on stdout. On stderr, where a tool's own words may end up, only bad news is believed: what is answered
 * cannot be forged there.
 */
export function parseLine(line: string, stream: 'stdout' | 'stderr'): CodexEvent {
  // What cannot be an object is not tried: an exception for each line of a long complaint takes its time.
  const value = line.startsWith('{') && /\}\s*$/.test(line.slice(-20)) ? parseObject(line) : null
  if (value === null) return line.trim() === '' ? other : { kind: 'complaint', text: line }
  const event = parseEvent(value)
  return stream === 'stdout' || ['turn-failed', 'reconnecting', 'error'].includes(event.kind) ? event : other
}

type Fields = { readonly [name: string]: unknown }

const other: CodexEvent = { kind: 'other' }

function parseObject(line: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(line))
  } catch {
    return null
  }
}

function parseEvent(event: Fields): CodexEvent {
  switch (event.type) {
    case 'thread.started':
      return typeof event.thread_id === 'string' ? { kind: 'thread', id: event.thread_id } : other
    case 'turn.started':
      return { kind: 'turn-started' }
    case 'turn.completed':
      return { kind: 'turn-completed', total: usageIn(event.usage) }
    case 'turn.failed':
      return { kind: 'turn-failed', message: textOf(fieldsOf(event.error)?.message) }
    case 'error':
      return parseError(textOf(event.message))
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return parseItem(fieldsOf(event.item) ?? {}, event.type === 'item.completed')
  }
  return other
}

function parseError(message: string): CodexEvent {
  const [, count, reason] = /^Reconnecting\.\.\. (?:(\d+\/\d+)|waiting for network)(?: \((.*)\))?$/s.exec(message) ?? []
  if (!message.startsWith('Reconnecting...')) return { kind: 'error', message }
  return { kind: 'reconnecting', count: count ?? null, message: reason ?? message }
}

function parseItem(item: Fields, isComplete: boolean): CodexEvent {
  const type = textOf(item.type)
  switch (type) {
    case 'agent_message':
      return isComplete ? { kind: 'message', text: textOf(item.text) } : other
    case 'reasoning':
      return { kind: 'thought' }
    case 'command_execution':
      return { kind: 'tool', name: type, command: textOf(item.command) }
    case 'collab_tool_call':
    case 'file_change':
    case 'mcp_tool_call':
    case 'web_search':
      return { kind: 'tool', name: type, command: null }
  }
  // A warning, such as about a model that Codex does not know; a list of things to do; what later versions add.
  return other
}

function usageIn(value: unknown): Usage | null {
  const usage = fieldsOf(value)
  const [input, output] = [usage?.input_tokens, usage?.output_tokens]
  if (usage === null || !isCount(input) || !isCount(output)) return null
  const [cached, reasoning] = [usage.cached_input_tokens, usage.reasoning_output_tokens]
  return { input, cached: isCount(cached) ? cached : 0, output, reasoning: isCount(reasoning) ? reasoning : 0 }
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

type ReadingFrom = {
  readonly answerFile: string
  readonly maxAnswerBytes: number
  readonly secrets: readonly string[]
  /** A tool was at work where none may be. */
  readonly isTrespass: boolean
}

/** Codex tries five times whatever the reason is. To some an answer cannot come, and it would look for a network for ever. */
export function isUnrecoverable({ trouble }: TurnState, { networkMs }: Pick<CodexLimits, 'networkMs'>): boolean {
  if (trouble === null) return false
  if (trouble.offlineMs >= networkMs) return true
  const known = classifyFailure(trouble.message, [])
  // The first 401 may only mean that a login has to be renewed.
  return trouble.times >= 2 && known !== null && lasting.includes(known.failure.failure)
}

const lasting: readonly FailureClass[] = ['auth', 'quota', 'refused', 'rejected', 'malformed']

/** What came of a run: its answer, or the class of its failure. */
export function readTurn(outcome: GroupOutcome, state: TurnState, from: ReadingFrom): Turn {
  const turn = judge(outcome, state, from)
  const thread = state.hasBegun ? state.thread : null
  return turn.kind === 'answered' ? { ...turn, thread, total: state.total } : { ...turn, thread, total: null }
}

type Judged = { readonly kind: 'answered'; readonly text: string } | ({ readonly kind: 'failed' } & Classified)

function judge(outcome: GroupOutcome, state: TurnState, from: ReadingFrom): Judged {
  if (from.isTrespass) return failed('not-installed', ...trespass)
  switch (outcome.kind) {
    case 'ended':
      return outcome.exitCode === 0 ? judgeAnswer(state, from) : judgeFailure(outcome.exitCode, state, from)
    case 'timed-out':
      return troubleOr(state, from, failed('timeout', `Codex did not finish within ${seconds(outcome.afterMs)}`, later))
    case 'silent':
      return troubleOr(state, from, failed('timeout', 'Codex has said nothing for too long', later))
    case 'stopped':
      return troubleOr(state, from, failed('crashed', 'Codex was ended', again))
    case 'cancelled':
      return failed('cancelled', 'The review was stopped', 'Start it again when you are ready.')
    case 'killed-by':
      return failed('crashed', `Codex was ended from outside (${outcome.signal})`, again)
    case 'not-found':
      return failed('not-installed', 'There is no Codex where it was', 'Install it: npm i -g @openai/codex.')
    case 'not-started':
      return failed(
        'not-installed',
        `Codex could not be started: ${quoteForeign(outcome.why, from.secrets)}`,
        reinstall,
      )
  }
}

const later = 'Try again, raise review.timeout_seconds, or use a faster model (review.models).'

const again = 'Try again; if it happens again, use another reviewer.'

const reinstall = 'Try `codex --version` yourself; reinstall it with npm i -g @openai/codex.'

const trespass = [
  'Codex used a tool although all of them were switched off, and was ended',
  'Update it: npm i -g @openai/codex@latest; or use another reviewer.',
] as const

/** Who is still trying again when the time is up has told the reason already. */
function troubleOr({ trouble, failure }: TurnState, { secrets }: ReadingFrom, judged: Judged): Judged {
  const said = trouble?.message ?? failure
  const known = said === null ? null : classifyFailure(said, secrets)
  return known === null ? judged : { kind: 'failed', ...known }
}

function judgeAnswer(state: TurnState, from: ReadingFrom): Judged {
  const text = state.said === null ? '' : readAnswer(from)
  if (text.trim() !== '') return { kind: 'answered', text }
  if (isRefusal(state))
    return failed('refused', 'The model declined to answer', 'Look at the text, or use another model.')
  return failed('malformed', state.isCompleted ? 'The answer is empty' : 'Codex ended in the middle of its turn', again)
}

/** Codex passes on nothing of a refusal; but the model has said something, and it was no command. */
const isRefusal = ({ isCompleted, total, tools, said }: TurnState): boolean =>
  isCompleted && said === null && tools.length === 0 && total !== null && total.output > total.reasoning

/** The file and not the event: a line may be cut, and only Codex itself writes there. */
function readAnswer({ answerFile, maxAnswerBytes }: ReadingFrom): string {
  try {
    return readFileSync(answerFile).toString('utf8', 0, maxAnswerBytes)
  } catch {
    return ''
  }
}

function judgeFailure(exitCode: number, state: TurnState, { secrets }: ReadingFrom): Judged {
  const said = state.failure ?? complaintIn(state)
  const known = classifyFailure(said, secrets)
  if (known !== null) return { kind: 'failed', ...known }
  const why = withQuote(`Codex ended with exit code ${exitCode}`, said, secrets)
  return { kind: 'failed', failure: { failure: 'crashed', why, nextStep: again, retryAfterMs: null }, remedy: null }
}

/** An error and the lines that explain it. */
function complaintIn({ complaints }: TurnState): string {
  const first = complaints.findIndex((line) => /^(error|thread '|Caused by)/i.test(line))
  return (first === -1 ? complaints.slice(-3) : complaints.slice(first, first + 6)).join(' ')
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`

function failed(failure: FailureClass, why: string, nextStep: string): Judged {
  const whole: Failure = { failure, why: `${why}.`, nextStep, retryAfterMs: null }
  return { kind: 'failed', failure: whole, remedy: null }
}

/** What came of one run. `thread` is one that can be resumed, `total` what all of it has used, where that is known. */
export type Turn =
  | { readonly kind: 'answered'; readonly text: string; readonly thread: string | null; readonly total: Usage | null }
  | {
      readonly kind: 'failed'
      readonly failure: Failure
      readonly remedy: Remedy | null
      readonly thread: string | null
      readonly total: null
    }
