/** One run of Codex: the state folded from its events, and the answer or failure that it ends with. */
import { readFileSync } from 'node:fs'
import type { Failure, FailureClass, Usage } from '../../schemas/review.ts'
import { failureOf } from '../failure.ts'
import type { GroupOutcome } from '../process.ts'
import { type Fallback, failureOfOutcome, retryHint, withQuote } from '../program-failures.ts'
import type { Turn } from '../turn-request.ts'
import type { CodexLimits } from './environment.ts'
import type { CodexEvent } from './events.ts'
import { classifyFailure, codexProgram } from './failures.ts'

export type TurnState = {
  readonly thread: string | null
  /** Before this, Codex has written nothing that could be resumed. */
  readonly hasBegun: boolean
  /** null once a tool is used after it: before a tool call a message is only a preamble. */
  readonly lastMessage: string | null
  readonly tools: readonly string[]
  readonly isCompleted: boolean
  readonly total: Usage | null
  /** Why the turn failed, in Codex's words. */
  readonly failure: string | null
  readonly reconnecting: Reconnecting | null
  /** Lines outside of the events: all there is when Codex fails to start. */
  readonly errorLines: readonly string[]
}

/** Codex retries and no event has come since. */
type Reconnecting = {
  readonly message: string
  /** Attempts over HTTP, the last transport that Codex tries. */
  readonly times: number
  readonly offlineSince: number | null
  readonly offlineMs: number
}

export const initialTurn: TurnState = {
  thread: null,
  hasBegun: false,
  lastMessage: null,
  tools: [],
  isCompleted: false,
  total: null,
  failure: null,
  reconnecting: null,
  errorLines: [],
}

export function foldTurn(state: TurnState, event: CodexEvent, now: number): TurnState {
  switch (event.kind) {
    case 'thread':
      return { ...state, thread: event.id }
    case 'turn-started':
      return { ...state, hasBegun: true }
    case 'message':
      return { ...state, lastMessage: event.text, reconnecting: null }
    case 'reasoning':
      return { ...state, reconnecting: null }
    case 'tool':
      return { ...state, lastMessage: null, tools: [...state.tools, event.name].slice(-50), reconnecting: null }
    case 'turn-completed':
      return { ...state, isCompleted: true, total: event.total, reconnecting: null }
    case 'turn-failed':
      return { ...state, failure: event.message === '' ? state.failure : event.message }
    case 'error':
      return { ...state, failure: event.message }
    case 'reconnecting':
      return { ...state, reconnecting: foldReconnecting(state.reconnecting, event, now) }
    case 'error-line':
      return logLine.test(event.text) ? state : { ...state, errorLines: [...state.errorLines, event.text].slice(0, 40) }
    case 'other':
      return state
  }
}

function foldReconnecting(
  before: Reconnecting | null,
  { count, message }: Extract<CodexEvent, { kind: 'reconnecting' }>,
  now: number,
): Reconnecting {
  const offlineSince = count === null ? (before?.offlineSince ?? now) : null
  return {
    message,
    // A web socket that is refused is followed by plain HTTP, which may be let through.
    times: /\burl: https?:/.test(message) ? (before?.times ?? 0) + 1 : 0,
    offlineSince,
    offlineMs: offlineSince === null ? 0 : now - offlineSince,
  }
}

/** Successful runs write such lines to stderr, too. */
const logLine =
  /^(\d{4}-\d\d-\d\dT\S+ +(ERROR|WARN|INFO|DEBUG)\b|WARNING: |warning: |Warning: |Reading (additional|prompt))/

/** Codex retries five times whatever the reason, and would look for a network forever. */
export function isUnrecoverable({ reconnecting }: TurnState, { networkMs }: Pick<CodexLimits, 'networkMs'>): boolean {
  if (reconnecting === null) return false
  if (reconnecting.offlineMs >= networkMs) return true
  const known = classifyFailure(reconnecting.message, [])
  // The first 401 may only mean that a login has to be renewed.
  return reconnecting.times >= 2 && known !== null && permanentFailures.includes(known.failure.failure)
}

const permanentFailures: readonly FailureClass[] = ['auth', 'quota', 'refused', 'rejected', 'malformed']

type TurnContext = {
  readonly answerFile: string
  readonly maxAnswerBytes: number
  readonly secrets: readonly string[]
  readonly usedForbiddenTool: boolean
}

export function readTurn(outcome: GroupOutcome, state: TurnState, context: TurnContext): Turn {
  const result = readOutcome(outcome, state, context)
  const thread = state.hasBegun ? state.thread : null
  return result.kind === 'answered' ? { ...result, thread, total: state.total } : { ...result, thread, total: null }
}

type TurnResult = { readonly kind: 'answered'; readonly text: string } | FailedTurn
type FailedTurn = { readonly kind: 'failed'; readonly failure: Failure; readonly fallback: Fallback | null }

function readOutcome(outcome: GroupOutcome, state: TurnState, context: TurnContext): TurnResult {
  if (context.usedForbiddenTool)
    return failed(
      'not-installed',
      'Codex used a tool although all of them were switched off, and was ended.',
      'Update it: npm i -g @openai/codex@latest; or use another reviewer.',
    )
  switch (outcome.kind) {
    case 'ended':
      return outcome.exitCode === 0 ? readAnswer(state, context) : readFailure(outcome.exitCode, state, context)
    case 'timed-out':
    case 'silent':
    case 'stopped':
      return reportedFailure(state, context) ?? ofOutcome(outcome, context)
    case 'cancelled':
    case 'killed-by':
    case 'not-found':
    case 'not-started':
      return ofOutcome(outcome, context)
  }
}

const ofOutcome = (outcome: Exclude<GroupOutcome, { kind: 'ended' }>, { secrets }: TurnContext): FailedTurn => ({
  kind: 'failed',
  failure: failureOfOutcome(codexProgram, outcome, secrets),
  fallback: null,
})

const failed = (failure: FailureClass, why: string, nextStep: string): FailedTurn => ({
  kind: 'failed',
  failure: failureOf(failure, why, nextStep),
  fallback: null,
})

/** The reason that Codex itself has given before it was ended. */
function reportedFailure({ reconnecting, failure }: TurnState, { secrets }: TurnContext): FailedTurn | null {
  const message = reconnecting?.message ?? failure
  const known = message === null ? null : classifyFailure(message, secrets)
  return known === null ? null : { kind: 'failed', ...known }
}

function readAnswer(state: TurnState, context: TurnContext): TurnResult {
  const text = state.lastMessage === null ? '' : readAnswerFile(context)
  if (text.trim() !== '') return { kind: 'answered', text }
  if (isRefusal(state))
    return failed('refused', 'The model declined to answer.', 'Look at the text, or use another model.')
  return failed(
    'malformed',
    state.isCompleted ? 'The answer is empty.' : 'Codex ended in the middle of its turn.',
    retryHint,
  )
}

/** Not the event: a line may be cut. Only Codex itself writes the file. */
function readAnswerFile({ answerFile, maxAnswerBytes }: TurnContext): string {
  try {
    return readFileSync(answerFile).toString('utf8', 0, maxAnswerBytes)
  } catch {
    return ''
  }
}

/** Codex does not report a refusal; it shows as output that is neither reasoning, a message nor a command. */
const isRefusal = ({ isCompleted, total, tools, lastMessage }: TurnState): boolean =>
  isCompleted && lastMessage === null && tools.length === 0 && total !== null && total.output > total.reasoning

function readFailure(exitCode: number, state: TurnState, { secrets }: TurnContext): TurnResult {
  const message = state.failure ?? quoteErrorLines(state)
  const known = classifyFailure(message, secrets)
  if (known !== null) return { kind: 'failed', ...known }
  const why = withQuote(`Codex ended with exit code ${exitCode}`, message, secrets)
  return { kind: 'failed', failure: failureOf('crashed', why, retryHint), fallback: null }
}

/** The first error with the lines that explain it; without one the last three lines. */
function quoteErrorLines({ errorLines }: TurnState): string {
  const first = errorLines.findIndex((line) => /^(error|thread '|Caused by)/i.test(line))
  return (first === -1 ? errorLines.slice(-3) : errorLines.slice(first, first + 6)).join(' ')
}
