import type { Failure, Usage } from '../../schemas/review.ts'
import { isUuid } from '../../state/revisions.ts'
import { asList, asRecord, countOf, isRecord, type JsonRecord, parseJson, textOf } from '../../text/json.ts'
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
import { claudeProgram, readingTools } from './program.ts'

/** One run of Claude Code: the state folded from what `claude --print` prints, and the answer or failure it ends with. */

export type TurnState = {
  readonly session: string | null
  /** What it has although it should not. */
  readonly excess: string | null
  /** What it went on with in place of the model that was asked. */
  readonly otherModel: string | null
  /** The name of the last error: a message of Claude Code itself in place of an answer. */
  readonly error: string | null
  /** It waits before it asks again, and no event has come since. */
  readonly retry: { readonly error: ClaudeError; readonly waitMs: number } | null
  readonly result: ClaudeResult | null
  readonly errorLines: readonly string[]
}

type ClaudeResult = {
  readonly isError: boolean
  /** The structured answer as JSON where there is one; otherwise the last message. */
  readonly text: string
  readonly usage: Usage | null
  readonly status: number | null
  readonly reason: string | null
  readonly isRefusal: boolean
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

/** Events come on stdout only: a stream of them, or one result, or a list of events. */
export function foldLine(
  state: TurnState,
  line: string,
  stream: 'stdout' | 'stderr',
  mayReadFiles: boolean,
): LineResult<TurnState> {
  const value = stream === 'stdout' && /^[{[]/.test(line) ? parseJson(line) : undefined
  if (value !== undefined) return foldOutput(state, value, mayReadFiles)
  const errorLines = [...state.errorLines, line.slice(0, 2_000)].slice(0, 20)
  return { state: line.trim() === '' ? state : { ...state, errorLines }, progress: null }
}

function foldOutput(begin: TurnState, value: unknown, mayReadFiles: boolean): LineResult<TurnState> {
  let [state, progress]: [TurnState, string | null] = [begin, null]
  for (const event of (Array.isArray(value) ? value : [value]).filter(isRecord)) {
    const [change, sign = null] = readEvent(event, state, mayReadFiles)
    state = { ...state, ...change }
    progress = sign ?? progress
  }
  return { state, progress }
}

type Change = readonly [change: Partial<TurnState>, progress?: string | null]

const goesOn = { error: null, retry: null }

function readEvent(event: JsonRecord, state: TurnState, mayReadFiles: boolean): Change {
  switch (event.type) {
    case 'system':
      return readSystem(event, mayReadFiles)
    case 'stream_event': {
      const { type, content_block } = asRecord(event.event)
      const block = asRecord(content_block).type
      if (type !== 'content_block_start') return [{}]
      return [goesOn, block === 'text' ? 'claude is answering' : block === 'thinking' ? 'claude is thinking' : null]
    }
    case 'assistant': {
      if (typeof event.error === 'string') return [{ error: event.error, retry: null }]
      // A message has one block: each is reported as it ends.
      const blocks = asList(asRecord(event.message).content).map(asRecord)
      const use = blocks.find(({ type }) => type === 'tool_use')
      return use === undefined ? [{}] : [goesOn, describeTool(use)]
    }
    case 'result':
      return [{ result: readResult(event), session: sessionIn(event.session_id) ?? state.session, retry: null }]
  }
  return [{}]
}

function readSystem(event: JsonRecord, mayReadFiles: boolean): Change {
  const subtype = textOf(event.subtype)
  if (subtype === 'init') return [{ session: sessionIn(event.session_id), excess: excessOf(event, mayReadFiles) }]
  if (/^model_(?:\w+_)?fallback$/.test(subtype) && subtype !== 'model_refusal_no_fallback')
    return [{ otherModel: textOf(event.fallback_model) || 'another model' }]
  if (subtype !== 'api_retry') return [{}]
  const waitMs = countOf(event.retry_delay_ms) ?? 0
  const status = countOf(event.error_status)
  const kind = textOf(event.error)
  const error = { kind, status, reason: null, text: kind.replaceAll('_', ' '), retryAfterMs: Math.round(waitMs) }
  return [{ retry: { waitMs, error } }, `claude asks again (${status ?? 'no connection'})`]
}

/** Whether this Claude Code heeds what it was started with shows before it asks a model. */
function excessOf({ tools, mcp_servers }: JsonRecord, mayReadFiles: boolean): string | null {
  const allowed = ['StructuredOutput', ...(mayReadFiles ? readingTools : [])]
  const more = asList(tools)
    .map(textOf)
    .filter((name) => !allowed.includes(name))
  if (more.length > 0) return `the tools ${more.slice(0, 5).join(', ')}`
  return asList(mcp_servers).length > 0 ? 'MCP servers' : null
}

function describeTool({ name: given, input }: JsonRecord): string {
  const name = textOf(given)
  if (name === 'StructuredOutput') return 'claude is answering'
  const { file_path, pattern } = asRecord(input)
  const target = quoteForeign(textOf(file_path) || textOf(pattern), []).slice(-60)
  const does = name === 'Read' ? 'reading' : `using ${quoteForeign(name, [])}`
  return `claude is ${does} ${target || (name === 'Read' ? 'a file' : '')}`.trimEnd()
}

function readResult(event: JsonRecord): ClaudeResult {
  const { subtype, structured_output, result, errors, stop_reason } = event
  const message = textOf(result) || asList(errors).map(textOf).join(' ')
  return {
    isError: event.is_error === true || subtype !== 'success',
    text: structured_output === undefined || structured_output === null ? message : JSON.stringify(structured_output),
    usage: usageIn(event.usage),
    status: countOf(event.api_error_status),
    reason: textOf(event.terminal_reason) || textOf(subtype) || null,
    isRefusal: stop_reason === 'refusal',
  }
}

const sessionIn = (id: unknown): string | null => (isUuid(textOf(id)) ? textOf(id) : null)

/** Of this run alone, also on a session that goes on. */
function usageIn(value: unknown): Usage | null {
  const usage = asRecord(value)
  const [plain, output] = [countOf(usage.input_tokens), countOf(usage.output_tokens)]
  if (plain === null || output === null) return null
  const cached = countOf(usage.cache_read_input_tokens) ?? 0
  return {
    input: plain + (countOf(usage.cache_creation_input_tokens) ?? 0) + cached,
    cached,
    output,
    reasoning: countOf(asRecord(usage.output_tokens_details).thinking_tokens) ?? 0,
  }
}

export const isUnrecoverable = ({ excess, otherModel, retry }: TurnState, maxRetryWaitMs: number): boolean =>
  excess !== null || otherModel !== null || (retry !== null && retry.waitMs > maxRetryWaitMs)

export function readTurn(outcome: GroupOutcome, streamed: TurnState, secrets: readonly string[]): Turn {
  // `--output-format json`, which may spread over lines.
  const whole = streamed.result === null && 'stdout' in outcome ? parseJson(outcome.stdout) : undefined
  const state = whole === undefined ? streamed : foldOutput(streamed, whole, true).state
  const { result, excess, otherModel, session: thread } = state
  const failed = (known: Classified, resumable: string | null): Turn => ({
    kind: 'failed',
    ...known,
    thread: resumable,
    total: null,
  })
  if (excess !== null) {
    const why = `Claude Code has ${excess} although they were switched off, and was ended.`
    const nextStep = 'Update Claude Code (claude update) and plan-gate, or use another reviewer.'
    return failed(unclassified('not-installed', why, nextStep), null)
  }
  if (otherModel !== null) {
    const why = `The model declined, and Claude Code went on with ${quoteForeign(otherModel, secrets)}, which was not asked.`
    return failed(unclassified('refused', why, 'Look at the text, or use another model (model of the row).'), null)
  }
  // What it had answered before it was ended counts, unless nobody waits any more.
  if (result !== null && !result.isError && outcome.kind !== 'cancelled' && result.text.trim() !== '')
    return { kind: 'answered', text: result.text, thread, total: result.usage }
  return failed(readFailure(outcome, state, secrets), thread)
}

function readFailure(outcome: GroupOutcome, state: TurnState, secrets: readonly string[]): Classified {
  const { result, retry, errorLines } = state
  if (result !== null && outcome.kind !== 'cancelled') return readErrorResult(result, state.error, secrets)
  const known = retry === null || outcome.kind === 'cancelled' ? null : classifyError(retry.error, secrets)
  if (known !== null) return known
  if (outcome.kind !== 'ended') return { failure: failureOfOutcome(claudeProgram, outcome, secrets), fallback: null }
  const text = errorLines.slice(0, 5).join(' ')
  const said = classifyError({ kind: null, status: null, reason: null, text, retryAfterMs: null }, secrets)
  if (said !== null) return said
  return outcome.exitCode === 0
    ? unclassified('malformed', withQuote('Claude ended without a result', text, secrets))
    : unclassified('crashed', withQuote(`Claude ended with exit code ${outcome.exitCode}`, text, secrets))
}

function readErrorResult(result: ClaudeResult, kind: string | null, secrets: readonly string[]): Classified {
  const { isError, isRefusal, status, reason, text } = result
  if (isRefusal) {
    const why = withQuote('The model declined to answer', text, secrets)
    return unclassified('refused', why, 'Look at the text, or use another model.')
  }
  if (!isError) return unclassified('malformed', 'The answer is empty.')
  return (
    classifyError({ kind, status, reason, text, retryAfterMs: null }, secrets) ??
    unclassified('crashed', withQuote('Claude ended with an error', text, secrets))
  )
}

/** An error as Claude Code reports it; what it has a name or a number for is not read from its words. */
type ClaudeError = {
  /** `rate_limit`, `authentication_failed` …, of the message that stands for the error. */
  readonly kind: string | null
  readonly status: number | null
  /** `terminal_reason`, or the subtype of the result. */
  readonly reason: string | null
  readonly text: string
  readonly retryAfterMs: number | null
}

function classifyError(
  { kind, status, reason, text, retryAfterMs }: ClaudeError,
  secrets: readonly string[],
): Classified | null {
  const known = classifyBy(failureTable, `${kind ?? '-'} ${status ?? '-'} ${reason ?? '-'} ${text}`, secrets, text)
  if (known === null || known.failure.failure !== 'rate-limited') return known
  const failure: Failure = { ...known.failure, retryAfterMs: retryAfterMs ?? known.failure.retryAfterMs }
  return { ...known, failure }
}

const common = commonReasons(claudeProgram, 'model of the row')

/** Matched with the kind, the status, the reason and the text, in this order. */
const failureTable: readonly FailureRow[] = [
  [
    /No conversation found|not a UUID|session .{0,60}(already in use|is running)/i,
    ...(['rejected', 'Claude no longer has this session', 'Start a new thread.', 'new-thread'] as const),
  ],
  [
    /^\S+ \S+ (structured_output_retry_exhausted|error_max_structured_output_retries)/,
    'malformed',
    'The answer does not have the form that was asked for',
  ],
  [/^\S+ \S+ prompt_too_long|prompt is too long|context window|^\S+ 413 /i, ...common.fullThread],
  [/^\S+ (400|-) .*(input_schema|json.?schema|output_format|output_config\.format)/i, ...common.schema],
  [/^\S+ 400 .*\beffort\b/i, ...common.effort],
  [
    /^billing_error|^\S+ 402 |credit balance|spend(ing)? limit|(hit|reached) your .{0,40}limit|limit reached|limit .{0,20}resets|out of .{0,20}(credits|usage)/i,
    ...common.quota,
  ],
  [
    /^authentication_failed|^oauth_org_not_allowed|^\S+ 40[13] |not logged in|\/login\b/i,
    'auth',
    'The service does not accept the login of Claude Code',
    'Run `claude` and log in (/login), or check ANTHROPIC_API_KEY; or use another reviewer.',
  ],
  [/^rate_limit|^overloaded|^\S+ (429|529) /, ...common.rateLimit],
  [
    /^model_not_found|^\S+ 404 /,
    'rejected',
    'The model is not available',
    'Name another one: model of the row for claude in plan-gate.yaml, or ANTHROPIC_MODEL.',
  ],
  [/safeguards flagged|usage policy|legal\/aup|safety reasons/i, ...common.refused],
  [/^\S+ 5\d\d /, ...common.server],
  [
    /^server_error -|connection (lost|dropped|refused|failed|reset)|empty or malformed response|JSON parse error|\b(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|CERT)|certificate|\btls\b/i,
    'transport',
    'The service cannot be reached, or its answer breaks off',
    'Check the network, the proxy and ANTHROPIC_BASE_URL, then try again.',
  ],
  [/unknown option|option .{0,60}argument .{0,60}is invalid/i, ...common.tooOld],
  [/^max_output_tokens|^\S+ \S+ (error_max_turns|max_turns|max_output_tokens)/, ...common.brokenOff],
  [/^invalid_request|^\S+ 4\d\d /, 'rejected', 'The request was not accepted'],
]
