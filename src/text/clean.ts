/**
 * A name or a command that is safe in a message: one line of bounded length, where each character that would break the
 * line, command a terminal, or reverse or hide text is shown by its number, and without tags that older clients would
 * take for their own.
 */
export const printable = (text: string, limit = 160): string => {
  const visible = escapeHidden(text)
  const clean = visible.includes('<') ? visible.replace(clientTag, '‹') : visible
  return clean.length <= limit ? clean : `${clean.slice(0, limit)}…`
}

/** Visibly, because the name may have to be typed. */
export const escapeHidden = (text: string): string =>
  plainAscii.test(text)
    ? text
    : text.replace(hiddenCharacters, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`)

/** Most texts are, and V8 takes 0.5 ms for the other pattern the first time. */
const plainAscii = /^[ -~]*$/

const hiddenCharacters = /\p{C}|[\u2028\u2029\u115f\u1160\u3164\uffa0]|[\u{e0100}-\u{e01ef}]/gu
const clientTag =
  /<(?=\/?[\w:.-]{0,40}(?:system|reminder|user|assistant|human|function|tool|command|antml|invoke|parameter|instruction|prompt|hook|notification))/gi

/** Numbers each distinct line; `lines` are in the order of their numbers. */
export function numberLines() {
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line)
    if (known !== undefined) return known
    numbers.set(line, numbers.size)
    return numbers.size - 1
  }
  return { numberOf, lines: () => [...numbers.keys()] }
}

/** Each line with its line end, so that joining restores the text. */
export const splitLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** Without line ends of Windows and other white space at the end of a line; the lines keep their numbers. */
export const trimLineEnds = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')

/** The last line counts with or without its line feed. */
export function countLines(text: string): number {
  let lines = 0
  for (let at = 0; at !== -1 && at < text.length; lines++) {
    const end = text.indexOf('\n', at)
    at = end === -1 ? -1 : end + 1
  }
  return lines
}

export const clipEnd = (text: string, limit: number): string =>
  text.length <= limit ? text : limit < 1 ? '' : `${text.slice(0, safeCut(text, limit - 1)).trimEnd()}…`

export function clipMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const mark = `\n[… ${text.length.toLocaleString('en-US')} characters in all, the middle left out …]\n`
  const half = Math.max(0, Math.floor((limit - mark.length) / 2))
  if (half === 0) return clipEnd(text, limit)
  return `${text.slice(0, safeCut(text, half))}${mark}${text.slice(safeCut(text, text.length - half))}`
}

/** `at`, or one less where that would split a surrogate pair or CRLF. */
export function safeCut(text: string, at: number): number {
  if (at <= 0) return 0
  if (at >= text.length) return text.length
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  const parts = (isHigh(before) && isLow(after)) || (before === 13 && after === 10)
  return parts ? at - 1 : at
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** Text of a model that is safe in a terminal: without control characters and bidirectional overrides, truncated. */
export function cleanText(value: unknown, limit: number): string {
  const text = textOf(value)
  const cleaned = text
    .slice(0, limit * 2 + 1000)
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim()
  return cleaned.length <= limit ? cleaned : `${cleaned.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

export const cleanLine = (value: unknown, limit: number): string =>
  cleanText(
    textOf(value)
      .slice(0, limit * 2 + 1000)
      .replace(/\s+/g, ' '),
    limit,
  )

/** Models return lists and small objects in place of a text. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.slice(0, 50).map(plainText).filter(Boolean).join('\n')
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .slice(0, 50)
      .map(([key, inner]) => `${key}: ${plainText(inner)}`)
      .join('\n')
  return ''
}

const plainText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

/** `1 file`, `1,200 files`. */
export const pluralize = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

/** Hashed to recognise a repeated change. As JSON, so that two different changes never give the same text. */
export const dedupText = (
  tool: string,
  path: string,
  content: string | null,
  oldString: string | null,
  newString: string | null,
): string => JSON.stringify([tool, path, content, oldString, newString])

/** 75,000 ms → 1:15. */
export function clockTime(ms: number): string {
  if (!Number.isFinite(ms)) return '?'
  const seconds = Math.max(0, Math.round(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** "about 3 min", or "about 40 s". */
export const roughTime = (ms: number): string =>
  ms < 90_000 ? `about ${Math.max(1, Math.round(ms / 1000))} s` : `about ${Math.round(ms / 60_000)} min`

type Part = string | null | false | undefined

/** Those of the lines that there are. */
export const present = (...parts: readonly (Part | readonly Part[])[]): string[] =>
  parts.flat().filter((part) => typeof part === 'string')
