import { countLines, pluralize, safeCut } from '../../text/clean.ts'
import type { CountTokens } from '../tokens.ts'

/** `dropped`: a sentence for the notice; null where nothing is missing. */
export type Fitted = { readonly text: string; readonly dropped: string | null }

/** How one kind of text is cut. The result may exceed the budget a little; `fitText` retries with less. */
export type Fit = (text: string, budget: number, count: CountTokens) => Fitted

/** Keeps the beginning and the end, in whole lines where possible. */
export function fitLines(text: string, budget: number, count: CountTokens): Fitted {
  const available = budget - markTokens
  if (available < markTokens) {
    const end = cutHead(text, budget, count)
    return { text: text.slice(0, end), dropped: `All but the beginning was left out: ${amountOf(text.slice(end))}.` }
  }
  const end = cutHead(text, Math.floor(available * 0.6), count)
  const start = Math.max(end, cutTail(text, Math.floor(available * 0.4), count))
  const amount = amountOf(text.slice(end, start))
  const [head, tail] = [text.slice(0, end), text.slice(start)]
  const eol = lineEndOf(text)
  const before = head === '' || head.endsWith('\n') ? '' : eol
  return { text: `${head}${before}${leftOut(amount)}${eol}${tail}`, dropped: `The middle was left out: ${amount}.` }
}

/** At most, of the mark and the line ends around it. */
const markTokens = 20

/** The end of the longest beginning within the budget, moved back to the end of a line if one is near. */
export function cutHead(text: string, budget: number, count: CountTokens): number {
  const [fitting, limit] = countSteps(text.length, budget, (from, to) =>
    count(text.slice(safeCut(text, from), safeCut(text, to))),
  )
  const left = budget - fitting.tokens
  const longest = largest(
    fitting.length,
    limit,
    (end) => count(text.slice(safeCut(text, fitting.length), safeCut(text, end))) <= left,
  )
  let end = snapBack(text, longest)
  while (end > 0 && count(text.slice(0, end)) > budget) end = safeCut(text, end - 1 - Math.ceil(end * 0.02))
  return end
}

/** The start of the longest end within the budget, moved on to the start of a line if one is near. */
function cutTail(text: string, budget: number, count: CountTokens): number {
  const size = text.length
  const part = (from: number, to: number): string => text.slice(safeCut(text, size - to), safeCut(text, size - from))
  const [fitting, limit] = countSteps(size, budget, (from, to) => count(part(from, to)))
  const left = budget - fitting.tokens
  const longest = largest(fitting.length, limit, (length) => count(part(fitting.length, length)) <= left)
  let start = snapForward(text, size - longest)
  while (start < size && count(text.slice(start)) > budget)
    start = safeCut(text, start + 1 + Math.ceil((size - start) * 0.02))
  return start
}

const step = 4096

/** Stops at the first step beyond the budget, so that the rest of a long text is never counted. */
function countSteps(
  size: number,
  budget: number,
  count: (from: number, to: number) => number,
): readonly [{ readonly length: number; readonly tokens: number }, limit: number] {
  let length = 0
  let tokens = 0
  while (length < size) {
    const next = Math.min(size, length + step)
    const cost = count(length, next)
    if (tokens + cost > budget) return [{ length, tokens }, next]
    tokens += cost
    length = next
  }
  return [{ length, tokens }, size]
}

function largest(from: number, to: number, fits: (length: number) => boolean): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

/** How far a cut may move to the edge of a line. */
const snapDistance = (length: number): number => Math.max(400, Math.ceil(length * 0.1))

function snapBack(text: string, end: number): number {
  if (end >= text.length) return text.length
  const window = text.slice(Math.max(0, end - snapDistance(end)), end)
  const lineEnd = window.lastIndexOf('\n')
  if (lineEnd !== -1) return end - window.length + lineEnd + 1
  const space = window.lastIndexOf(' ')
  return safeCut(text, space > window.length - 100 ? end - window.length + space + 1 : end)
}

function snapForward(text: string, start: number): number {
  if (start <= 0) return 0
  const window = text.slice(start, start + snapDistance(text.length - start))
  if (text[start - 1] === '\n') return start
  const lineEnd = window.indexOf('\n')
  return lineEnd === -1 ? safeCut(text, start + 1) : start + lineEnd + 1
}

/** The mark in place of omitted text. */
export const leftOut = (what: string): string => `[… ${what} left out …]`

/** In lines, or in characters for a part of one line. */
export function amountOf(text: string): string {
  const lines = countLines(text)
  return lines > 1 ? pluralize(lines, 'line') : pluralize(text.length, 'character')
}

export const lineEndOf = (text: string): string => (/\r?\n/.exec(text.slice(0, 20_000))?.[0] === '\r\n' ? '\r\n' : '\n')

/** "3 of 9 sections left out and the section "Goals" shortened." */
export function asSentence(parts: readonly string[]): string {
  const joined = parts.join(' and ')
  return `${joined.slice(0, 1).toUpperCase()}${joined.slice(1)}.`
}
