import { clipEnd } from '../review/clip-text.ts'
import { asList, asRecord, textOrNull } from './read-values.ts'

/**
 * The end of a session from its transcript: what Claude said, which tools it used, and which of them failed. Read from
 * the last line backwards, as far as there is room. Lines that are something else, half a line at the beginning of a
 * cut file included, are passed over.
 */
export function tailOfTranscript(jsonl: string, maxChars: number): string {
  const pieces: string[] = []
  let room = maxChars
  let end = jsonl.length
  for (let lines = 0; end > 0 && room > 0 && lines < mostLines; lines++) {
    const start = jsonl.lastIndexOf('\n', end - 1) + 1
    for (const piece of piecesIn(jsonl.slice(start, end)).reverse()) {
      if (room <= 0) break
      const told = clipEnd(piece, Math.min(mostOfOne, room))
      pieces.unshift(told)
      room -= told.length + 1
    }
    end = start - 1
  }
  return pieces.join('\n')
}

/** A transcript has many lines that nobody said; past so many the session is another one. */
const mostLines = 20_000
const mostOfOne = 4000

function piecesIn(line: string): string[] {
  // Most lines are neither, and some of those are very long.
  if (!/"role":\s?"(?:assistant|user)"/.test(line)) return []
  const { type, isSidechain, message } = asRecord(parsed(line))
  if ((type !== 'assistant' && type !== 'user') || isSidechain === true) return []
  const { content } = asRecord(message)
  if (typeof content === 'string') return type === 'assistant' ? said(content) : []
  return asList(content).flatMap((block) => pieceOf(asRecord(block), type))
}

function pieceOf(block: { readonly [field: string]: unknown }, role: 'assistant' | 'user'): string[] {
  if (role === 'user') return block.type === 'tool_result' && block.is_error === true ? failedResult(block.content) : []
  if (block.type === 'text') return said(textOrNull(block.text) ?? '')
  if (block.type !== 'tool_use') return []
  return [`[used ${textOrNull(block.name) ?? 'a tool'}] ${clipEnd(JSON.stringify(block.input ?? {}), mostOfInput)}`]
}

const mostOfInput = 600

const said = (text: string): string[] => (text.trim() === '' ? [] : [text.trim()])

const failedResult = (content: unknown): string[] => {
  const text =
    textOrNull(content) ??
    asList(content)
      .map((block) => textOrNull(asRecord(block).text) ?? '')
      .join('\n')
  return [`[it failed] ${clipEnd(text.trim(), mostOfInput)}`]
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
