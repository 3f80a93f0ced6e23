import { quoteForeign } from '../quote-foreign.ts'
import type { CodexEvent } from './parse-line.ts'

/** A few words for who is waiting; null for what is no sign of life. */
export function describeEvent(event: CodexEvent): string | null {
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
