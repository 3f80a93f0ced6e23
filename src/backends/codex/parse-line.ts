import type { Usage } from '../../schemas/backend.ts'

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
