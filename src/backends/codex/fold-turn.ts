import type { Usage } from '../../schemas/backend.ts'
import type { CodexEvent } from './parse-line.ts'

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

export const atStart: TurnState = {
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
