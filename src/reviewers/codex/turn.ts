/** One run of Codex: the state folded from the lines of `codex exec --json`, and the answer or failure it ends with. */
import { readFileSync } from 'node:fs'
import type { FailureClass, Usage } from '../../schemas/review.ts'
import { orElse } from '../../system/errors.ts'
import { asRecord, countOf, type JsonRecord, parseRecord, textOf } from '../../text/json.ts'
import {
  type Classified,
  classifyBy,
  commonReasons,
  type FailureRow,
  failureOfOutcome,
  quoteForeign,
  unclassified,
  withQuote,
} from '../failure.ts'
import type { GroupOutcome } from '../process.ts'
import type { LineResult, Turn } from '../program.ts'
import { type CodexLimits, codexProgram } from './program.ts'

/** One run of Codex: the state folded from the lines of `codex exec --json`, and the answer or failure it ends with. */

export type TurnState = {
  readonly thread: string | null
  /** Before this, Codex has written nothing that could be resumed. */
  readonly hasBegun: boolean
  /** null once a tool is used after it: before a tool call a message is only a preamble. */
  readonly lastMessage: string | null
  readonly tools: readonly string[]
  readonly isCompleted: boolean
  /** Of the whole thread. */
  readonly total: Usage | null
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

/**
 * Events come on stdout. stderr may carry the output of a tool, so only failures are accepted there: an answer cannot be
 * forged.
 */
export function foldLine(
  state: TurnState,
  line: string,
  stream: 'stdout' | 'stderr',
  now: number,
): LineResult<TurnState> {
  // Pre-check, since each line that is no JSON costs an exception.
  const event = line.startsWith('{') && /\}\s*$/.test(line.slice(-20)) ? parseRecord(line) : null
  const becomes = (change: Partial<TurnState>, progress: string | null = null): LineResult<TurnState> => ({
    state: { ...state, ...change },
    progress,
  })
  if (event === null) {
    const isNoise = line.trim() === '' || logLine.test(line)
    return becomes(isNoise ? {} : { errorLines: [...state.errorLines, line].slice(0, 40) })
  }
  switch (event.type) {
    case 'turn.failed':
      return becomes({ failure: textOf(asRecord(event.error).message) || state.failure })
    case 'error': {
      const message = textOf(event.message)
      const [isRetry, count, reason] =
        /^Reconnecting\.\.\.(?: (?:(\d+\/\d+)|waiting for network)(?: \((.*)\))?$)?/s.exec(message) ?? []
      if (isRetry === undefined) return becomes({ failure: message })
      const reconnecting = foldReconnecting(state.reconnecting, count === undefined, reason ?? message, now)
      return becomes(
        { reconnecting },
        count === undefined ? 'codex is waiting for a network' : `codex is reconnecting ${count}`,
      )
    }
  }
  if (stream === 'stderr') return becomes({})
  switch (event.type) {
    case 'thread.started':
      return becomes(typeof event.thread_id === 'string' ? { thread: event.thread_id } : {})
    case 'turn.started':
      return becomes({ hasBegun: true }, 'codex is thinking')
    case 'turn.completed':
      return becomes({ isCompleted: true, total: usageIn(event.usage), reconnecting: null })
    case 'item.started':
    case 'item.updated':
    case 'item.completed': {
      const { change, progress } = readItem(asRecord(event.item), event.type === 'item.completed', state.tools)
      return becomes(change, progress)
    }
  }
  return becomes({})
}

/** Successful runs write such lines to stderr, too. */
const logLine =
  /^(\d{4}-\d\d-\d\dT\S+ +(ERROR|WARN|INFO|DEBUG)\b|WARNING: |warning: |Warning: |Reading (additional|prompt))/

function foldReconnecting(before: Reconnecting | null, isOffline: boolean, message: string, now: number): Reconnecting {
  const offlineSince = isOffline ? (before?.offlineSince ?? now) : null
  return {
    message,
    // A web socket that is refused is followed by plain HTTP, which may be let through.
    times: /\burl: https?:/.test(message) ? (before?.times ?? 0) + 1 : 0,
    offlineSince,
    offlineMs: offlineSince === null ? 0 : now - offlineSince,
  }
}

type ItemRead = { readonly change: Partial<TurnState>; readonly progress: string | null }

/** Warnings, such as about an unknown model, to-do lists and items of later versions change nothing. */
function readItem(item: JsonRecord, isComplete: boolean, tools: readonly string[]): ItemRead {
  const type = textOf(item.type)
  switch (type) {
    case 'agent_message':
      if (!isComplete) break
      return { change: { lastMessage: textOf(item.text), reconnecting: null }, progress: 'codex is answering' }
    case 'reasoning':
      return { change: { reconnecting: null }, progress: 'codex is thinking' }
    case 'command_execution':
    case 'collab_tool_call':
    case 'file_change':
    case 'mcp_tool_call':
    case 'web_search': {
      const isCommand = type === 'command_execution'
      return {
        change: { lastMessage: null, tools: [...tools, type].slice(-50), reconnecting: null },
        progress: isCommand ? describeCommand(textOf(item.command)) : `codex is using ${type}`,
      }
    }
  }
  return { change: {}, progress: null }
}

/** `/bin/bash -lc 'sed -n 1,20p src/a.ts'` → `codex is reading src/a.ts`. */
function describeCommand(command: string): string {
  const inner = /^\S*sh -l?c (['"]?)(.*)\1$/s.exec(command)?.[2] ?? command
  const file = /^(?:cat|nl|head|tail|sed -n)\b[^|;&<>]* ([^\s|;&<>'"-][^\s|;&<>'"]*)\s*$/.exec(inner)?.[1]
  const what = quoteForeign(file ?? inner, [])
  return `codex is ${file === undefined ? 'running' : 'reading'} ${what.length > 60 ? `${what.slice(0, 59)}…` : what}`
}

function usageIn(value: unknown): Usage | null {
  const usage = asRecord(value)
  const [input, output] = [countOf(usage.input_tokens), countOf(usage.output_tokens)]
  if (input === null || output === null) return null
  const [cached, reasoning] = [countOf(usage.cached_input_tokens), countOf(usage.reasoning_output_tokens)]
  return { input, cached: cached ?? 0, output, reasoning: reasoning ?? 0 }
}

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
  return typeof result === 'string'
    ? { kind: 'answered', text: result, thread, total: state.total }
    : { kind: 'failed', ...result, thread, total: null }
}

function readOutcome(outcome: GroupOutcome, state: TurnState, context: TurnContext): string | Classified {
  const { secrets } = context
  if (context.usedForbiddenTool)
    return unclassified(
      'not-installed',
      'Codex used a tool although all of them were switched off, and was ended.',
      `Update it (${codexProgram.update}), or use another reviewer.`,
    )
  if (outcome.kind === 'ended')
    return outcome.exitCode === 0 ? readAnswer(state, context) : readFailure(outcome.exitCode, state, secrets)
  // What Codex itself has given as the reason before it was ended by plan-gate.
  const message = state.reconnecting?.message ?? state.failure
  const isEnded = outcome.kind === 'timed-out' || outcome.kind === 'silent' || outcome.kind === 'stopped'
  const known = isEnded && message !== null ? classifyFailure(message, secrets) : null
  return known ?? { failure: failureOfOutcome(codexProgram, outcome, secrets), fallback: null }
}

function readAnswer(state: TurnState, context: TurnContext): string | Classified {
  const { isCompleted, total, tools, lastMessage } = state
  const text = lastMessage === null ? '' : readAnswerFile(context)
  if (text.trim() !== '') return text
  // Codex does not report a refusal; it shows as output that is neither reasoning, a message nor a command.
  const hasOutput = total !== null && total.output > total.reasoning
  if (isCompleted && lastMessage === null && tools.length === 0 && hasOutput)
    return unclassified('refused', 'The model declined to answer.', 'Look at the text, or use another model.')
  const why = isCompleted ? 'The answer is empty.' : 'Codex ended in the middle of its turn.'
  return unclassified('malformed', why)
}

/** Not the event: a line may be cut. Only Codex itself writes the file. */
const readAnswerFile = ({ answerFile, maxAnswerBytes }: TurnContext): string =>
  orElse(() => readFileSync(answerFile).toString('utf8', 0, maxAnswerBytes), '')

function readFailure(exitCode: number, { failure, errorLines }: TurnState, secrets: readonly string[]): Classified {
  // The first error with the lines that explain it; without one the last three lines.
  const first = errorLines.findIndex((line) => /^(error|thread '|Caused by)/i.test(line))
  const said = first === -1 ? errorLines.slice(-3) : errorLines.slice(first, first + 6)
  const message = failure ?? said.join(' ')
  return (
    classifyFailure(message, secrets) ??
    unclassified('crashed', withQuote(`Codex ended with exit code ${exitCode}`, message, secrets))
  )
}

export const classifyFailure = (message: string, secrets: readonly string[]): Classified | null =>
  classifyBy(failureTable, message, secrets)

const common = commonReasons(codexProgram, 'review.models')
const newThread = 'Start a new thread.'

/** A server's error arrives unchanged, JSON included. */
const failureTable: readonly FailureRow[] = [
  [/no rollout found for thread/i, 'rejected', 'Codex no longer has this thread', newThread, 'new-thread'],
  [/already has an active writer/i, 'rejected', 'Another Codex is at work on this thread', newThread, 'new-thread'],
  [
    /thread\/resume|\brollout\b.*(empty|parse|read|corrupt|invalid)/i,
    ...(['rejected', 'Codex cannot read this thread', newThread, 'new-thread'] as const),
  ],
  [/invalid_json_schema|text\.format|response_format|json_schema|structured outputs?\b/i, ...common.schema],
  [/reasoning[._]effort|reasoning effort|"param":\s*"reasoning|'reasoning'/i, ...common.effort],
  [/model's context window|context_length_exceeded|context window|maximum context length/i, ...common.fullThread],
  [
    /input_too_large|exceeds the maximum length|\b413\b/i,
    'rejected',
    'What is to be reviewed is too long',
    'Review it in parts.',
  ],
  [
    /usage limit|quota|\b402 Payment|billing|to use Codex with your ChatGPT plan|out of credits|spend(ing)? (cap|limit)/i,
    ...common.quota,
  ],
  [/\b429\b|rate.?limit/i, ...common.rateLimit],
  [
    /Missing environment variable/i,
    'auth',
    'The key that config.toml of Codex names is not set',
    'Set that variable where plan-gate is started, or use another reviewer.',
  ],
  [
    /\b40[13] (Unauthorized|Forbidden)|status 40[13]\b|invalid_api_key|incorrect api key|not (logged|signed) in|(sign|log) in again|codex login|could not be refreshed/i,
    'auth',
    'The service does not accept the login of Codex',
    'Run `codex login`, or check OPENAI_API_KEY or CODEX_API_KEY; or use another reviewer.',
  ],
  [
    /model_not_found|\bmodel\b.{0,120}(does not exist|not found|is not supported|not available|do not have access)/i,
    'rejected',
    'The model is not available',
    'Name another one: review.models in plan-gate.yaml, or model in config.toml of Codex.',
  ],
  [
    /invalid.prompt|content_filter|content policy|usage policy|cyber_policy|for safety reasons|flagged/i,
    ...common.refused,
  ],
  [/Incomplete response returned/i, ...common.brokenOff],
  [
    /high demand|at capacity|overloaded|server_error|server had an error|internal server error|slow_down|(status|status:) 5\d\d\b/i,
    ...common.server,
  ],
  [
    /Connection (failed|refused|reset)|stream (disconnected|closed)|error sending request|network|idle timeout|timed? ?out|\bdns\b|certificate|\btls\b/i,
    'transport',
    'The service cannot be reached, or its answer breaks off',
    'Check the network, the proxy and the address in config.toml of Codex, then try again.',
  ],
  [
    /Not inside a trusted directory|status 4\d\d\b|invalid_request_error|"error"/i,
    'rejected',
    'The request was not accepted',
    'Check base_url, the model and the provider in config.toml of Codex, or use another reviewer.',
  ],
  [
    /Error loading (config|configuration)|config\.toml|CODEX_HOME|codex home/i,
    'not-installed',
    'Codex cannot read its configuration',
    'Correct it in the Codex folder (~/.codex or CODEX_HOME), or use another reviewer.',
  ],
  [/unexpected argument|unrecognized subcommand|invalid value|Unknown feature flag/i, ...common.tooOld],
  [
    /\bnode\b.*(No such file|not found)|command not found/i,
    'not-installed',
    'Codex cannot start, because `node` is not on PATH',
    'Put node on PATH where plan-gate is started.',
  ],
]
