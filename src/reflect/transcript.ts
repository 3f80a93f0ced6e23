/** How a session ends in Claude Code's own record of it. */
import { closeSync, constants, readSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { CompiledConfig } from '../config/schema.ts'
import { makeRedactor } from '../redact/redact.ts'
import { openRegular } from '../state/files.ts'
import { debug } from '../system/debug.ts'
import { clipEnd } from '../text/clean.ts'
import { asList, asRecord, type JsonRecord, parseJson, textOf } from '../text/json.ts'
import { nonEmptyText } from './session-state.ts'

/** Far more than is shown of it; a transcript of days is not read from its beginning. */
const maxBytes = 8 * 1024 * 1024

/** Empty where it cannot be read. */
export function readTranscriptTail(
  path: string | null | undefined,
  maxChars: number,
  { config }: CompiledConfig,
): string {
  const redactor = makeRedactor(config.review.redaction.patterns)
  return tailOfTranscript(path ? readEnd(path) : '', maxChars, (text) => {
    const clean = redactor.text(text)
    return clean.kind === 'redacted' ? clean.text : null
  })
}

function readEnd(path: string): string {
  const opened = openRegular(dirname(path), basename(path), constants.O_RDONLY)
  if (opened.kind !== 'opened') {
    debug(`the transcript cannot be read: ${opened.kind === 'absent' ? 'there is none' : opened.why}`)
    return ''
  }
  const { fd, size } = opened
  try {
    const bytes = Buffer.alloc(Math.min(size, maxBytes))
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, size - bytes.length))
  } finally {
    closeSync(fd)
  }
}

/**
 * What Claude said, which tools it used, and which of them failed, read from the last line backwards, as far as fits.
 * Other lines are skipped, the first half line of a truncated file included. `clean` redacts before anything is truncated:
 * half a secret would not be recognised. A text that it cannot clean (null) is passed on whole, for the caller's own
 * redaction to refuse.
 */
export function tailOfTranscript(jsonl: string, maxChars: number, clean: (text: string) => string | null): string {
  const pieces: string[] = []
  let left = maxChars
  let end = jsonl.length
  for (let lines = 0; end > 0 && left > 0 && lines < maxLines; lines++) {
    const start = jsonl.lastIndexOf('\n', end - 1) + 1
    for (const { label, text, max } of piecesIn(jsonl.slice(start, end)).reverse()) {
      if (left <= 0) break
      const whole = text.slice(0, maxToClean)
      const cleaned = clean(whole)
      if (cleaned === null) return [`${label}${whole}`, ...pieces].join('\n')
      const piece = clipEnd(`${label}${clipEnd(cleaned, max)}`, left)
      pieces.unshift(piece)
      left -= piece.length + 1
    }
    end = start - 1
  }
  return pieces.join('\n')
}

/** Many lines of a transcript are no messages; beyond so many it is another session. */
const maxLines = 20_000
const maxToClean = 100_000

/** `label`: plan-gate's words, which say what the text is. */
type Piece = { readonly label: string; readonly text: string; readonly max: number }

function piecesIn(line: string): Piece[] {
  // Most lines are neither, and some of those are very long.
  if (!/"role":\s?"(?:assistant|user)"/.test(line)) return []
  const { type, isSidechain, message } = asRecord(parseJson(line))
  if ((type !== 'assistant' && type !== 'user') || isSidechain === true) return []
  const { content } = asRecord(message)
  if (typeof content === 'string') return type === 'assistant' ? messageText(content) : []
  return asList(content).flatMap((block) => piecesOf(asRecord(block), type))
}

function piecesOf(block: JsonRecord, role: 'assistant' | 'user'): Piece[] {
  const { type, text, name: given, input, content } = block
  if (role === 'user') return type === 'tool_result' && block.is_error === true ? [failedResult(content)] : []
  if (type === 'text') return messageText(textOf(text))
  if (type !== 'tool_use') return []
  const name = `${nonEmptyText(given) ?? 'a tool'}] `
  const max = Math.min(name.length, 200) + maxInput
  return [{ label: '[used ', text: `${name}${JSON.stringify(input ?? {})}`, max }]
}

const maxMessage = 4000
const maxInput = 600

const messageText = (text: string): Piece[] =>
  text.trim() === '' ? [] : [{ label: '', text: text.trim(), max: maxMessage }]

function failedResult(content: unknown): Piece {
  const texts = asList(content).map((block) => textOf(asRecord(block).text))
  return { label: '[it failed] ', text: (textOf(content) || texts.join('\n')).trim(), max: maxInput }
}
