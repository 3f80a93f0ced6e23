/** Where the beginning ends that has at most so many tokens; at the end of a line if there is one not far before. */
export function cutHead(text: string, budget: number, count: CountTokens): number {
  const [sure, limit] = stride(text.length, budget, (from, to) =>
    count(text.slice(safeCut(text, from), safeCut(text, to))),
  )
  const left = budget - sure.tokens
  const most = largest(
    sure.length,
    limit,
    (end) => count(text.slice(safeCut(text, sure.length), safeCut(text, end))) <= left,
  )
  let end = snapBack(text, most)
  while (end > 0 && count(text.slice(0, end)) > budget) end = safeCut(text, end - 1 - Math.ceil(end * 0.02))
  return end
}

/** Where the end begins that has at most so many tokens; at the beginning of a line if there is one not far behind. */
export function cutTail(text: string, budget: number, count: CountTokens): number {
  const size = text.length
  const part = (from: number, to: number): string => text.slice(safeCut(text, size - to), safeCut(text, size - from))
  const [sure, limit] = stride(size, budget, (from, to) => count(part(from, to)))
  const left = budget - sure.tokens
  const most = largest(sure.length, limit, (length) => count(part(sure.length, length)) <= left)
  let start = snapForward(text, size - most)
  while (start < size && count(text.slice(start)) > budget)
    start = safeCut(text, start + 1 + Math.ceil((size - start) * 0.02))
  return start
}

const step = 4096

/** Step by step, so that what is far beyond the budget is never counted. */
function stride(
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

/** How much of a cut is given up for the sake of whole lines. */
const reach = (length: number): number => Math.max(400, Math.ceil(length * 0.1))

function snapBack(text: string, end: number): number {
  if (end >= text.length) return text.length
  const window = text.slice(Math.max(0, end - reach(end)), end)
  const lineEnd = window.lastIndexOf('\n')
  if (lineEnd !== -1) return end - window.length + lineEnd + 1
  const space = window.lastIndexOf(' ')
  return safeCut(text, space > window.length - 100 ? end - window.length + space + 1 : end)
}

function snapForward(text: string, start: number): number {
  if (start <= 0) return 0
  const window = text.slice(start, start + reach(text.length - start))
  if (text[start - 1] === '\n') return start
  const lineEnd = window.indexOf('\n')
  return lineEnd === -1 ? safeCut(text, start + 1) : start + lineEnd + 1
}

/** The place itself, or the one before, where it would part a pair of surrogates or a line feed from its return. */
export function safeCut(text: string, at: number): number {
  if (at <= 0) return 0
  if (at >= text.length) return text.length
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  const parts = (isHigh(before) && isLow(after)) || (before === 13 && after === 10)
  return parts ? at - 1 : at
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** `dropped`: one sentence for the notice; null where nothing of it is missing. */
export type Fitted = { readonly text: string; readonly dropped: string | null }

export type CountTokens = (text: string) => number

/** How one kind of text is made to fit. It aims at the budget; `fitText` sees to it that it is kept. */
export type Fit = (text: string, budget: number, count: CountTokens) => Fitted
