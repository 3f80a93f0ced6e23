/** The output of `claude --print`: a stream of events, or one result, or a list of events. */
import type { Usage } from '../../schemas/review.ts'
import { asList, asRecord, isRecord, type JsonRecord, parseJson } from '../../text/json.ts'
import { quoteForeign } from '../failure.ts'
import { isThreadId } from '../turn-request.ts'
import type { ClaudeError } from './failures.ts'

export type ClaudeEvent =
  | {
      readonly kind: 'started'
      readonly session: string | null
      readonly tools: readonly string[]
      readonly servers: number
    }
  | { readonly kind: 'block'; readonly type: string }
  | { readonly kind: 'tool'; readonly name: string; readonly target: string | null }
  | { readonly kind: 'retry'; readonly error: ClaudeError; readonly waitMs: number }
  /** A message of Claude Code itself in place of an answer. */
  | { readonly kind: 'error'; readonly name: string }
  /** It goes on with another model. */
  | { readonly kind: 'fallback'; readonly model: string }
  | { readonly kind: 'result'; readonly result: ClaudeResult }
  | { readonly kind: 'error-line'; readonly text: string }
  | { readonly kind: 'other' }

export type ClaudeResult = {
  readonly session: string | null
  readonly isError: boolean
  /** The structured answer as JSON where there is one; otherwise the last message. */
  readonly text: string
  readonly usage: Usage | null
  readonly status: number | null
  readonly reason: string | null
  readonly isRefusal: boolean
}

/** Events come on stdout only. */
export function parseLine(line: string, stream: 'stdout' | 'stderr'): readonly ClaudeEvent[] {
  const value = stream === 'stdout' && /^[{[]/.test(line) ? parseJson(line) : undefined
  if (value !== undefined) return parseOutput(value)
  return line.trim() === '' ? [] : [{ kind: 'error-line', text: line.slice(0, 2_000) }]
}

export const parseOutput = (value: unknown): readonly ClaudeEvent[] =>
  (Array.isArray(value) ? value : [value]).filter(isRecord).map(parseEvent)

const other: ClaudeEvent = { kind: 'other' }

function parseEvent(event: JsonRecord): ClaudeEvent {
  switch (event.type) {
    case 'system':
      return parseSystem(event)
    case 'stream_event': {
      const { type, content_block } = asRecord(event.event)
      return type === 'content_block_start' ? { kind: 'block', type: textOf(asRecord(content_block).type) } : other
    }
    case 'assistant':
      return typeof event.error === 'string' ? { kind: 'error', name: event.error } : parseMessage(event.message)
    case 'result':
      return { kind: 'result', result: parseResult(event) }
  }
  return other
}

function parseSystem(event: JsonRecord): ClaudeEvent {
  if (event.subtype === 'init')
    return {
      kind: 'started',
      session: sessionIn(event.session_id),
      tools: asList(event.tools).map(textOf),
      servers: asList(event.mcp_servers).length,
    }
  if (/^model_(?:\w+_)?fallback$/.test(textOf(event.subtype)) && event.subtype !== 'model_refusal_no_fallback')
    return { kind: 'fallback', model: textOf(event.fallback_model) || 'another model' }
  if (event.subtype !== 'api_retry') return other
  const waitMs = isCount(event.retry_delay_ms) ? event.retry_delay_ms : 0
  const status = isCount(event.error_status) ? event.error_status : null
  const kind = textOf(event.error)
  return {
    kind: 'retry',
    waitMs,
    error: { kind, status, reason: null, text: kind.replaceAll('_', ' '), retryAfterMs: Math.round(waitMs) },
  }
}

/** A message has one block: each is reported as it ends. */
function parseMessage(message: unknown): ClaudeEvent {
  const use = asList(asRecord(message).content)
    .map(asRecord)
    .find(({ type }) => type === 'tool_use')
  if (use === undefined) return other
  const { file_path, pattern } = asRecord(use.input)
  const target = textOf(file_path) || textOf(pattern)
  return { kind: 'tool', name: textOf(use.name), target: target === '' ? null : target }
}

function parseResult(event: JsonRecord): ClaudeResult {
  const { subtype, structured_output, result, errors, session_id, stop_reason } = event
  const message = textOf(result) || asList(errors).map(textOf).join(' ')
  return {
    session: sessionIn(session_id),
    isError: event.is_error === true || subtype !== 'success',
    text: structured_output === undefined || structured_output === null ? message : JSON.stringify(structured_output),
    usage: usageIn(event.usage),
    status: isCount(event.api_error_status) ? event.api_error_status : null,
    reason: textOf(event.terminal_reason) || textOf(subtype) || null,
    isRefusal: stop_reason === 'refusal',
  }
}

const sessionIn = (id: unknown): string | null => (isThreadId(textOf(id)) ? textOf(id) : null)

/** Of this run alone, also on a session that goes on. */
function usageIn(value: unknown): Usage | null {
  const usage = asRecord(value)
  const { input_tokens: plain, output_tokens: output, cache_creation_input_tokens, cache_read_input_tokens } = usage
  if (!isCount(plain) || !isCount(output)) return null
  const cached = countOf(cache_read_input_tokens)
  return {
    input: plain + countOf(cache_creation_input_tokens) + cached,
    cached,
    output,
    reasoning: countOf(asRecord(usage.output_tokens_details).thinking_tokens),
  }
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
const countOf = (value: unknown): number => (isCount(value) ? value : 0)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A few words for the user who waits; null for an event without progress. */
export function formatProgress(event: ClaudeEvent): string | null {
  switch (event.kind) {
    case 'block':
      return event.type === 'text' ? 'claude is answering' : event.type === 'thinking' ? 'claude is thinking' : null
    case 'tool':
      return describeTool(event)
    case 'retry':
      return `claude asks again (${event.error.status ?? 'no connection'})`
    case 'started':
    case 'error':
    case 'fallback':
    case 'result':
    case 'error-line':
    case 'other':
      return null
  }
}

function describeTool({ name, target }: Extract<ClaudeEvent, { kind: 'tool' }>): string | null {
  if (name === 'StructuredOutput') return 'claude is answering'
  const does = name === 'Read' ? 'reading' : `using ${quoteForeign(name, [])}`
  const short = target === null ? '' : ` ${quoteForeign(target, []).slice(-60)}`
  return `claude is ${does}${name === 'Read' && short === '' ? ' a file' : short}`
}
