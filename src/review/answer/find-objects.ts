import { cleanLine } from '../../text/clean.ts'
import { type JsonRecord, parseRecord, readJsonStrings } from '../../text/json.ts'
import { normaliseAnswer } from './normalise-answer.ts'

/** Offsets: from the opening brace to behind the closing one. */
export type Span = { readonly start: number; readonly end: number }

type Objects = {
  /** Balanced and not nested. */
  readonly whole: readonly Span[]
  /** From an object that never ends to the end of its part. */
  readonly unfinished: readonly Span[]
}

/**
 * The objects in a text that may contain prose, in one pass: braces are matched by a stack, and strings count only
 * inside of braces, where they end with their line, as JSON's do.
 */
export function findObjects(text: string): Objects {
  const whole: Span[] = []
  const unfinished: Span[] = []
  for (const part of betweenFences(text)) {
    const found = scan(text, part)
    for (const span of found.whole) whole.push(span)
    unfinished.push(...found.unfinished)
  }
  return { whole, unfinished }
}

/** No object crosses the edge of a fenced block, so that a stray brace in the prose before it has no effect. */
function betweenFences(text: string): Span[] {
  const parts: Span[] = []
  let start = 0
  for (const { index, 0: line } of text.matchAll(/^[ \t>]*(?:`{3,}|~{3,})[^`{}\n]*$/gm)) {
    parts.push({ start, end: index })
    start = index + line.length
  }
  return [...parts, { start, end: text.length }]
}

/** Of `{"verdict":""}`. */
const minObjectLength = 14

function scan(text: string, { start, end }: Span): Objects {
  const whole: Span[] = []
  const open: number[] = []
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === quote && open.length > 0) at = endOfString(text, at, end)
    else if (code === opening) open.push(at)
    else if (code === closing) close(whole, open.pop(), at + 1)
  }
  // An unclosed brace in prose hides nothing; an object that breaks off hides the objects in it.
  const broken = open.find((at) => beginsObject(text, at))
  if (broken === undefined) return { whole, unfinished: [] }
  return { whole: whole.filter((span) => span.start < broken), unfinished: [{ start: broken, end }] }
}

/** The closing quote of a string, or the end of its line. */
function endOfString(text: string, from: number, end: number): number {
  for (let at = from + 1; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === quote || code === lineFeed) return at
    if (code === backslash && text.charCodeAt(at + 1) !== lineFeed) at++
  }
  return end
}

function close(whole: Span[], start: number | undefined, end: number): void {
  if (start === undefined) return
  while ((whole.at(-1)?.start ?? -1) > start) whole.pop()
  if (end - start >= minObjectLength) whole.push({ start, end })
}

const beginsObject = (text: string, at: number): boolean => {
  const begin = /\{\s*(?:["']|[\w$]{1,40}\s*:)/y
  begin.lastIndex = at
  return begin.test(text)
}

/** Whether an object is an element of a list of JSON, which may break off; prose has brackets and commas, too. */
export function isInList(text: string, { start, end }: Span): boolean {
  const before = text.slice(0, start).trimEnd()
  const followsElement = before.endsWith(',') && /[}\]"]$/.test(before.slice(0, -1).trimEnd().slice(-1))
  return before.endsWith('[') || followsElement || text.slice(end).trimStart().startsWith(']')
}

/**
 * Whether an object of the answer also stands in the material under review, so that the reviewer may only quote it.
 * Ignores white space, the prefixes of diffs and quotations, and the escapes of string literals.
 */
export function findQuotation(reviewed: readonly string[]): (json: string, value: JsonRecord | null) => boolean {
  const variants = [...new Set(reviewed.filter(mayHoldVerdict).flatMap(variantsOf))]
  const packed = variants.map(withoutSpaces)
  const answers = new Set(variants.flatMap(answersIn))
  return (json, value) =>
    packed.some((text) => text.includes(withoutSpaces(json))) || (value !== null && answers.has(meaningOf(value)))
}

/** A verdict, or an escaped one. */
const mayHoldVerdict = (text: string): boolean => text.includes('verdict') || text.includes('\\u00')

const variantsOf = (text: string): string[] => {
  const unprefixed = text.replace(/^[-+>|#*/ \t]+/gm, '')
  return [text, unprefixed, unescaped(text), unescaped(unprefixed)]
}

const unescaped = (text: string): string => text.replace(/\\(?:[nrt]|(["'\\/]))/g, '$1')
const withoutSpaces = (text: string): string => text.replace(/\s+/g, '')

const answersIn = (text: string): string[] =>
  findObjects(text).whole.flatMap(({ start, end }) => {
    const value = parseRecord(text.slice(start, end))
    return value !== null && Object.hasOwn(value, 'verdict') ? [meaningOf(value)] : []
  })

/** Equal for answers that differ only in the order of keys or in unknown keys. */
const meaningOf = (value: JsonRecord): string =>
  JSON.stringify([cleanLine(value.verdict, 40), normaliseAnswer(value, 'APPROVED').answer])

/** Escapes are read: `"\u0076erdict"` is a verdict as well. */
export function hasDuplicateKey(json: string): boolean {
  const names = readJsonStrings(json).flatMap(({ isName, level, text }) => (isName ? [`${level} ${text}`] : []))
  return new Set(names).size < names.length
}

const [quote, backslash, lineFeed, opening, closing] = [34, 92, 10, 123, 125]
