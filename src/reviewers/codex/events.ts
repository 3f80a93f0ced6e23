import type { Usage } from '../../schemas/review.ts'
import { asRecord, type JsonRecord, parseRecord } from '../../text/json.ts'
import { quoteForeign } from '../failure.ts'

/** The events of `codex exec --json` that concern a review. */
export type CodexEvent =
  | { readonly kind: 'thread'; readonly id: string }
  | { readonly kind: 'turn-started' }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'reasoning' }
  /** A tool runs or has run. `command` is null for a tool that is no shell. */
  | { readonly kind: 'tool'; readonly name: string; readonly command: string | null }
  /** `total` is of the whole thread. */
  | { readonly kind: 'turn-completed'; readonly total: Usage | null }
  | { readonly kind: 'turn-failed'; readonly message: string }
  /** `count` is Codex's "2/5"; null while it waits for a network. */
  | { readonly kind: 'reconnecting'; readonly count: string | null; readonly message: string }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'error-line'; readonly text: string }
  | { readonly kind: 'other' }

/**
 * Events come on stdout. stderr may carry the output of a tool, so only failures are accepted there: an answer cannot be
 * forged.
 */
export function parseLine(line: string, stream: 'stdout' | 'stderr'): CodexEvent {
  // Pre-check, since each line that is no JSON costs an exception.
  const value = line.startsWith('{') && /\}\s*$/.test(line.slice(-20)) ? parseRecord(line) : null
  if (value === null) return line.trim() === '' ? other : { kind: 'error-line', text: line }
  const event = parseEvent(value)
  return stream === 'stdout' || ['turn-failed', 'reconnecting', 'error'].includes(event.kind) ? event : other
}

const other: CodexEvent = { kind: 'other' }

function parseEvent(event: JsonRecord): CodexEvent {
  switch (event.type) {
    case 'thread.started':
      return typeof event.thread_id === 'string' ? { kind: 'thread', id: event.thread_id } : other
    case 'turn.started':
      return { kind: 'turn-started' }
    case 'turn.completed':
      return { kind: 'turn-completed', total: usageIn(event.usage) }
    case 'turn.failed':
      return { kind: 'turn-failed', message: textOf(asRecord(event.error).message) }
    case 'error':
      return parseError(textOf(event.message))
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return parseItem(asRecord(event.item), event.type === 'item.completed')
  }
  return other
}

function parseError(message: string): CodexEvent {
  const [, count, reason] = /^Reconnecting\.\.\. (?:(\d+\/\d+)|waiting for network)(?: \((.*)\))?$/s.exec(message) ?? []
  if (!message.startsWith('Reconnecting...')) return { kind: 'error', message }
  return { kind: 'reconnecting', count: count ?? null, message: reason ?? message }
}

function parseItem(item: JsonRecord, isComplete: boolean): CodexEvent {
  const type = textOf(item.type)
  switch (type) {
    case 'agent_message':
      return isComplete ? { kind: 'message', text: textOf(item.text) } : other
    case 'reasoning':
      return { kind: 'reasoning' }
    case 'command_execution':
      return { kind: 'tool', name: type, command: textOf(item.command) }
    case 'collab_tool_call':
    case 'file_change':
    case 'mcp_tool_call':
    case 'web_search':
      return { kind: 'tool', name: type, command: null }
  }
  // Warnings, such as about an unknown model; to-do lists; items of later versions.
  return other
}

function usageIn(value: unknown): Usage | null {
  const { input_tokens: input, output_tokens: output, cached_input_tokens, reasoning_output_tokens } = asRecord(value)
  if (!isCount(input) || !isCount(output)) return null
  return {
    input,
    cached: isCount(cached_input_tokens) ? cached_input_tokens : 0,
    output,
    reasoning: isCount(reasoning_output_tokens) ? reasoning_output_tokens : 0,
  }
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A few words for the user who waits; null for an event without progress. */
export function formatProgress(event: CodexEvent): string | null {
  switch (event.kind) {
    case 'turn-started':
    case 'reasoning':
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
    case 'error-line':
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
