import { clipEnd } from '../review/clip-text.ts'
import { asList, asRecord, textOrNull } from './read-values.ts'

/**
 * The end of a session from its transcript: what Claude said, which tools it used, and which of them failed. Read from
 * the last line backwards, as far as there is room. Lines that are something else, half a line at the beginning of a
 * cut file included, are passed over. `clean` blanks secrets before anything is cut: half of one would not be known.
 * What it cannot do (null) is handed on whole, to who redacts the whole.
 */
export function tailOfTranscript(jsonl: string, maxChars: number, clean: (text: string) => string | null): string {
  const told: string[] = []
  let room = maxChars
  let end = jsonl.length
  for (let lines = 0; end > 0 && room > 0 && lines < mostLines; lines++) {
    const start = jsonl.lastIndexOf('\n', end - 1) + 1
    for (const { before, text, most } of piecesIn(jsonl.slice(start, end)).reverse()) {
      if (room <= 0) break
      const whole = text.slice(0, mostToClean)
      const cleaned = clean(whole)
      if (cleaned === null) return [`${before}${whole}`, ...told].join('\n')
      const piece = clipEnd(`${before}${clipEnd(cleaned, most)}`, room)
      told.unshift(piece)
      room -= piece.length + 1
    }
    end = start - 1
  }
  return told.join('\n')
}

/** A transcript has many lines that nobody said; past so many the session is another one. */
const mostLines = 20_000
const mostToClean = 100_000

/** `before`: our words, which say what the text is. */
type Piece = { readonly before: string; readonly text: string; readonly most: number }

function piecesIn(line: string): Piece[] {
  // Most lines are neither, and some of those are very long.
  if (!/"role":\s?"(?:assistant|user)"/.test(line)) return []
  const { type, isSidechain, message } = asRecord(parsed(line))
  if ((type !== 'assistant' && type !== 'user') || isSidechain === true) return []
  const { content } = asRecord(message)
  if (typeof content === 'string') return type === 'assistant' ? said(content) : []
  return asList(content).flatMap((block) => pieceOf(asRecord(block), type))
}

function pieceOf(block: { readonly [field: string]: unknown }, role: 'assistant' | 'user'): Piece[] {
  if (role === 'user') return block.type === 'tool_result' && block.is_error === true ? failedResult(block.content) : []
  if (block.type === 'text') return said(textOrNull(block.text) ?? '')
  if (block.type !== 'tool_use') return []
  const name = `${textOrNull(block.name) ?? 'a tool'}] `
  const text = `${name}${JSON.stringify(block.input ?? {})}`
  return [{ before: '[used ', text, most: Math.min(name.length, 200) + mostOfInput }]
}

const mostOfText = 4000
const mostOfInput = 600

const said = (text: string): Piece[] =>
  text.trim() === '' ? [] : [{ before: '', text: text.trim(), most: mostOfText }]

const failedResult = (content: unknown): Piece[] => {
  const text =
    textOrNull(content) ??
    asList(content)
      .map((block) => textOrNull(asRecord(block).text) ?? '')
      .join('\n')
  return [{ before: '[it failed] ', text: text.trim(), most: mostOfInput }]
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
