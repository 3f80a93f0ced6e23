import { pluralize, safeCut } from '../../text/clean.ts'
import { parseJson } from '../../text/json.ts'
import { type CountTokens, fitsBudget } from '../tokens.ts'
import { amountOf, type Fitted, fitLines, leftOut } from './lines.ts'

/** JSON stays JSON: white space goes first, then texts and lists become shorter, each with a mark. */
export function fitJson(text: string, budget: number, count: CountTokens): Fitted {
  if (isTooDeep(text))
    return { text: JSON.stringify([leftOut(amountOf(text))]), dropped: 'It is nested too deeply, and all left out.' }
  const value = parseJson(text)
  if (value === undefined) return fitLines(text, budget, count)
  const write = (limits: Limits): Shortened => shortenAll(value, limits)
  const fits = (limits: Limits): boolean => fitsBudget(write(limits).text, budget, count)
  // The depth is limited because `JSON.stringify` is recursive.
  const { text: written, cuts } = write(
    loosest(stepsFrom({ text: text.length, items: text.length, keys: text.length, depth: 500 }), fits),
  )
  return {
    text: written,
    dropped: cuts === 0 ? null : `The longest texts and lists were shortened, in ${pluralize(cuts, 'place')}.`,
  }
}

type Limits = { readonly text: number; readonly items: number; readonly keys: number; readonly depth: number }

/** First the longest texts become shorter, then the lists, then the levels. */
const stepsFrom = (unlimited: Limits): readonly Limits[] => [
  unlimited,
  ...[8000, 4000, 2000, 1000, 600, 400, 250].map((text) => ({ ...unlimited, text })),
  ...[1000, 300, 100, 50, 25, 12, 6].map((items) => ({ text: 250, items, keys: 1000, depth: 100 })),
  { text: 150, items: 5, keys: 100, depth: 30 },
  { text: 100, items: 4, keys: 50, depth: 12 },
  { text: 80, items: 3, keys: 25, depth: 8 },
  { text: 60, items: 2, keys: 15, depth: 5 },
  { text: 40, items: 1, keys: 10, depth: 3 },
  { text: 30, items: 1, keys: 5, depth: 2 },
  { text: 20, items: 1, keys: 3, depth: 1 },
  { text: 10, items: 0, keys: 0, depth: 0 },
]

/** For a budget that nothing else fits. */
export const smallestJson = (text: string): string => {
  if (isTooDeep(text)) return '[]'
  const value = parseJson(text)
  if (value === undefined) return ''
  if (Array.isArray(value)) return '[]'
  return typeof value === 'object' ? '{}' : '""'
}

/** Parsing millions of levels takes hundreds of megabytes. */
function isTooDeep(json: string): boolean {
  let depth = 0
  let inText = false
  for (let at = 0; at < json.length && depth <= 10_000; at++) {
    const code = json.charCodeAt(at)
    if (inText && code === 92) at++
    else if (code === 34) inText = !inText
    else if (!inText && (code === 91 || code === 123)) depth++
    else if (!inText && (code === 93 || code === 125)) depth--
  }
  return depth > 10_000
}

function loosest(steps: readonly Limits[], fits: (limits: Limits) => boolean): Limits {
  const stepAt = (index: number): Limits => steps[index] ?? { text: 0, items: 0, keys: 0, depth: 0 }
  let [low, high] = [0, steps.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(stepAt(middle))) high = middle
    else low = middle + 1
  }
  if (low === 0) return stepAt(0)
  // Much more often fits between a step that fits and the one before it.
  let [loose, tight] = [stepAt(low - 1), stepAt(low)]
  for (let tries = 0; tries < 8; tries++) {
    const middle = between(loose, tight)
    if (fits(middle)) tight = middle
    else loose = middle
  }
  return tight
}

const between = (a: Limits, b: Limits): Limits => ({
  text: mean(a.text, b.text),
  items: mean(a.items, b.items),
  keys: mean(a.keys, b.keys),
  depth: mean(a.depth, b.depth),
})
const mean = (a: number, b: number): number => Math.floor(Math.sqrt(a * b))

type Shortened = { readonly text: string; readonly cuts: number }

function shortenAll(value: unknown, limits: Limits): Shortened {
  let cuts = 0
  const cut = (amount: number, thing: string): string => {
    cuts += 1
    return leftOut(pluralize(amount, thing))
  }
  const shorten = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return shortenText(value, limits.text, cut)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const kept = value.slice(0, depth < limits.depth ? limits.items : 0).map((item) => shorten(item, depth + 1))
      const gone = value.length - kept.length
      return gone === 0 ? kept : [...kept, cut(gone, 'item')]
    }
    const entries = Object.entries(value)
    const kept = entries.slice(0, depth < limits.depth ? limits.keys : 0)
    const gone = entries.length - kept.length
    const shorter = kept.map(([key, inner]) => [key, shorten(inner, depth + 1)] as const)
    return Object.fromEntries(gone === 0 ? shorter : [...shorter, ['…', cut(gone, 'key')]])
  }
  return { text: JSON.stringify(shorten(value, 0)), cuts }
}

function shortenText(text: string, limit: number, cut: (amount: number, thing: string) => string): string {
  // The mark itself has some length.
  if (text.length <= limit + 40) return text
  const end = safeCut(text, limit)
  return text.slice(0, end) + cut(text.length - end, 'character')
}
