/** One run of Claude Code: the state folded from its events, and the answer or failure that it ends with. */
import type { Failure } from '../../schemas/review.ts'
import { parseJson } from '../../text/json.ts'
import { failureOf, quoteForeign } from '../failure.ts'
import type { GroupOutcome } from '../process.ts'
import { type Classified, failureOfOutcome, retryHint, withQuote } from '../program-failures.ts'
import type { Turn } from '../turn-request.ts'
import { readingTools } from './args.ts'
import { type ClaudeEvent, type ClaudeResult, parseOutput } from './events.ts'
import { type ClaudeError, classifyError, claudeProgram } from './failures.ts'

export type TurnState = {
  readonly session: string | null
  /** What it has although it should not. */
  readonly excess: string | null
  /** What it went on with in place of the model that was asked. */
  readonly otherModel: string | null
  /** The name of the last error. */
  readonly error: string | null
  /** It waits before it asks again, and no event has come since. */
  readonly retry: Extract<ClaudeEvent, { kind: 'retry' }> | null
  readonly result: ClaudeResult | null
  readonly errorLines: readonly string[]
}

export const initialTurn: TurnState = {
  session: null,
  excess: null,
  otherModel: null,
  error: null,
  retry: null,
  result: null,
  errorLines: [],
}

export function foldTurn(state: TurnState, event: ClaudeEvent, mayReadFiles: boolean): TurnState {
  switch (event.kind) {
    case 'started':
      return { ...state, session: event.session, excess: excessOf(event, mayReadFiles) }
    case 'block':
    case 'tool':
      return { ...state, error: null, retry: null }
    case 'retry':
      return { ...state, retry: event }
    case 'fallback':
      return { ...state, otherModel: event.model }
    case 'error':
      return { ...state, error: event.name, retry: null }
    case 'result':
      return { ...state, result: event.result, session: event.result.session ?? state.session, retry: null }
    case 'error-line':
      return { ...state, errorLines: [...state.errorLines, event.text].slice(0, 20) }
    case 'other':
      return state
  }
}

/** Whether this Claude Code heeds what it was started with shows before it asks a model. */
function excessOf({ tools, servers }: Extract<ClaudeEvent, { kind: 'started' }>, mayReadFiles: boolean): string | null {
  const allowed = ['StructuredOutput', ...(mayReadFiles ? readingTools : [])]
  const more = tools.filter((name) => !allowed.includes(name))
  if (more.length > 0) return `the tools ${more.slice(0, 5).join(', ')}`
  return servers > 0 ? 'MCP servers' : null
}

export const isUnrecoverable = ({ excess, otherModel, retry }: TurnState, maxRetryWaitMs: number): boolean =>
  excess !== null || otherModel !== null || (retry !== null && retry.waitMs > maxRetryWaitMs)

export function readTurn(outcome: GroupOutcome, streamed: TurnState, secrets: readonly string[]): Turn {
  const state = streamed.result === null ? foldWhole(outcome, streamed) : streamed
  const thread = state.session
  const { result } = state
  if (state.excess !== null)
    return {
      ...failed(
        failureOf(
          'not-installed',
          `Claude Code has ${state.excess} although they were switched off, and was ended.`,
          'Update Claude Code (claude update) and plan-gate, or use another reviewer.',
        ),
      ),
      thread: null,
    }
  if (state.otherModel !== null)
    return {
      ...failed(
        failureOf(
          'refused',
          `The model declined, and Claude Code went on with ${quoteForeign(state.otherModel, secrets)}, which was not asked.`,
          'Look at the text, or use another model (model of the row).',
        ),
      ),
      thread: null,
    }
  // What it had answered before it was ended counts, unless nobody waits any more.
  if (result !== null && !result.isError && outcome.kind !== 'cancelled' && result.text.trim() !== '')
    return { kind: 'answered', text: result.text, thread, total: result.usage }
  return { ...readFailure(outcome, state, secrets), thread }
}

/** `--output-format json`, which may spread over lines. */
function foldWhole(outcome: GroupOutcome, state: TurnState): TurnState {
  const events = 'stdout' in outcome ? parseOutput(parseJson(outcome.stdout)) : []
  return events.reduce((folded, event) => foldTurn(folded, event, true), state)
}

type FailedTurn = Extract<Turn, { kind: 'failed' }>

const failed = (failure: Failure): FailedTurn => ({
  kind: 'failed',
  failure,
  fallback: null,
  thread: null,
  total: null,
})

const failedAs = (known: Classified): FailedTurn => ({ kind: 'failed', ...known, thread: null, total: null })

function readFailure(outcome: GroupOutcome, state: TurnState, secrets: readonly string[]): FailedTurn {
  const { result, retry } = state
  if (outcome.kind === 'cancelled') return failed(failureOfOutcome(claudeProgram, outcome, secrets))
  if (result !== null) return readResult(result, state, secrets)
  const known = retry === null ? null : classifyError(retry.error, secrets)
  if (known !== null) return failedAs(known)
  if (outcome.kind !== 'ended') return failed(failureOfOutcome(claudeProgram, outcome, secrets))
  const text = state.errorLines.slice(0, 5).join(' ')
  const said = classifyError({ ...plainError, text }, secrets)
  if (said !== null) return failedAs(said)
  return failed(
    outcome.exitCode === 0
      ? failureOf('malformed', withQuote('Claude ended without a result', text, secrets), retryHint)
      : failureOf('crashed', withQuote(`Claude ended with exit code ${outcome.exitCode}`, text, secrets), retryHint),
  )
}

const plainError: ClaudeError = { kind: null, status: null, reason: null, text: '', retryAfterMs: null }

function readResult(
  { isError, isRefusal, status, reason, text }: ClaudeResult,
  { error }: TurnState,
  secrets: readonly string[],
): FailedTurn {
  if (isRefusal)
    return failed(
      failureOf(
        'refused',
        withQuote('The model declined to answer', text, secrets),
        'Look at the text, or use another model.',
      ),
    )
  if (!isError) return failed(failureOf('malformed', 'The answer is empty.', retryHint))
  const known = classifyError({ kind: error, status, reason, text, retryAfterMs: null }, secrets)
  return known === null
    ? failed(failureOf('crashed', withQuote('Claude ended with an error', text, secrets), retryHint))
    : failedAs(known)
}
