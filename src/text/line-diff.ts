import { numberLines, splitLines } from './clean.ts'

type Options = {
  /** Unchanged lines around a change. */
  readonly context: number
  /** Beyond this the diff is truncated, with a note in the last line. */
  readonly maxLines: number
  readonly names?: { readonly before: string; readonly after: string }
}

/** As `git diff` prints it and `git apply` takes it, unless truncated; '' for equal texts. */
export function unifiedDiff(before: string, after: string, options: Options): string {
  const { context, maxLines, names = { before: 'before', after: 'after' } } = options
  const changes = diffLines(before, after)
  if (changes.length === 0) return ''
  const old = splitLines(before)
  const hunks = groupIntoHunks(changes, context).flatMap((hunk) => hunkLines(hunk, old, context))
  return truncate([`--- ${names.before}\n`, `+++ ${names.after}\n`, ...hunks], maxLines).join('')
}

/** Changes whose context overlaps share a hunk. */
function groupIntoHunks(changes: readonly LineChange[], context: number): readonly (readonly LineChange[])[] {
  const hunks: LineChange[][] = []
  for (const change of changes) {
    const last = hunks.at(-1)
    const end = last?.at(-1)
    if (last && end && change.before - (end.before + end.removed.length) <= 2 * context) last.push(change)
    else hunks.push([change])
  }
  return hunks
}

function hunkLines(hunk: readonly LineChange[], old: readonly string[], context: number): readonly string[] {
  const [first, last] = [hunk[0], hunk.at(-1)]
  if (!first || !last) return []
  const from = Math.max(1, first.before - context)
  const to = Math.min(old.length, last.before + last.removed.length - 1 + context)
  let at = from
  const lines = hunk.flatMap((change) => {
    const same = old.slice(at - 1, change.before - 1)
    at = change.before + change.removed.length
    return [...marked(' ', same), ...marked('-', change.removed), ...marked('+', change.added)]
  })
  const countOld = to - from + 1
  const countNow = countOld + sum(hunk.map(({ added, removed }) => added.length - removed.length))
  const fromNow = first.after - (first.before - from)
  return [
    `@@ -${range(from, countOld)} +${range(fromNow, countNow)} @@\n`,
    ...lines,
    ...marked(' ', old.slice(at - 1, to)),
  ]
}

const marked = (mark: string, lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) =>
    line.endsWith('\n') ? [`${mark}${line}`] : [`${mark}${line}\n`, '\\ No newline at end of file\n'],
  )

/** An empty range is named by the line before it. */
const range = (from: number, count: number): string => `${count === 0 ? from - 1 : from},${count}`
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

function truncate(lines: readonly string[], maxLines: number): readonly string[] {
  if (lines.length <= maxLines) return lines
  const kept = Math.max(0, maxLines - 1)
  return [...lines.slice(0, kept), `[${lines.length - kept} more lines of this difference are left out]\n`]
}

/** Removed and added lines between two unchanged ones. */
export type LineChange = {
  /** The number of the first removed line, from 1; with none removed, of the line that the added ones precede. */
  readonly before: number
  readonly removed: readonly string[]
  /** The same for the added lines. */
  readonly after: number
  readonly added: readonly string[]
}

export type LineDiff = readonly LineChange[]

/** In the order of the text; empty for equal texts. Lines include their line ends, so `\r\n` and `\n` differ. */
export function diffLines(before: string, after: string): LineDiff {
  if (before === after) return []
  const [old, now] = [splitLines(before), splitLines(after)]
  const changes: LineChange[] = []
  let [atOld, atNow] = [0, 0]
  for (const match of [...matchLines(old, now), { before: old.length, after: now.length, length: 0 }]) {
    const removed = old.slice(atOld, match.before)
    const added = now.slice(atNow, match.after)
    if (removed.length + added.length > 0) changes.push({ before: atOld + 1, removed, after: atNow + 1, added })
    atOld = match.before + match.length
    atNow = match.after + match.length
  }
  return changes
}

/** `length` equal lines from these positions on, counted from 0. */
type Match = { readonly before: number; readonly after: number; readonly length: number }

/**
 * The common lines of two texts, in order: lines that occur once in both are anchors (as in a patience diff), and between
 * them Myers' shortest edit. Beyond a bound of edits the lines between two anchors count as replaced, so the time is
 * bounded.
 */
export function matchLines(before: readonly string[], after: readonly string[]): readonly Match[] {
  const [a, b] = asNumbers(before, after)
  return joined(pairsIn(a, b))
}

type Pair = readonly [before: number, after: number]
type Numbers = Int32Array
type Range = { readonly a: number; readonly aEnd: number; readonly b: number; readonly bEnd: number }

/** The same number for the same line. */
function asNumbers(before: readonly string[], after: readonly string[]): readonly [Numbers, Numbers] {
  const { numberOf } = numberLines()
  return [Int32Array.from(before, numberOf), Int32Array.from(after, numberOf)]
}

function* pairsIn(a: Numbers, b: Numbers): Generator<Pair> {
  const inner = trimmed(a, b, { a: 0, aEnd: a.length, b: 0, bEnd: b.length })
  yield* pairsOf(0, 0, inner.a)
  let [fromA, fromB] = [inner.a, inner.b]
  for (const [atA, atB] of anchors(a, b, inner)) {
    yield* matchGap(a, b, { a: fromA, aEnd: atA, b: fromB, bEnd: atB })
    yield [atA, atB]
    fromA = atA + 1
    fromB = atB + 1
  }
  yield* matchGap(a, b, { a: fromA, aEnd: inner.aEnd, b: fromB, bEnd: inner.bEnd })
  yield* pairsOf(inner.aEnd, inner.bEnd, a.length - inner.aEnd)
}

function trimmed(a: Numbers, b: Numbers, range: Range): Range {
  let { a: from, b: fromB, aEnd, bEnd } = range
  while (from < aEnd && fromB < bEnd && a[from] === b[fromB]) {
    from += 1
    fromB += 1
  }
  while (aEnd > from && bEnd > fromB && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd -= 1
    bEnd -= 1
  }
  return { a: from, aEnd, b: fromB, bEnd }
}

function* pairsOf(before: number, after: number, length: number): Generator<Pair> {
  for (let n = 0; n < length; n += 1) yield [before + n, after + n]
}

/** The longest increasing sequence of lines that occur once in both texts. */
function anchors(a: Numbers, b: Numbers, range: Range): readonly Pair[] {
  const onceInA = once(a)
  const onceInB = once(b)
  const tops: number[] = []
  const piles: { pair: Pair; under: number }[] = []
  for (const [line, atA] of onceInA) {
    const atB = onceInB.get(line)
    if (atA === null || atB === undefined || atB === null) continue
    if (atA < range.a || atA >= range.aEnd || atB < range.b || atB >= range.bEnd) continue
    const pile = firstNotBelow(tops, piles, atB)
    piles.push({ pair: [atA, atB], under: tops[pile - 1] ?? -1 })
    tops[pile] = piles.length - 1
  }
  const found: Pair[] = []
  for (let at = piles[tops.at(-1) ?? -1]; at !== undefined; at = piles[at.under]) found.push(at.pair)
  return found.reverse()
}

/** The position of each line; null for one that occurs more than once. */
function once(lines: Numbers): Map<number, number | null> {
  const found = new Map<number, number | null>()
  for (const [at, line] of lines.entries()) found.set(line, found.has(line) ? null : at)
  return found
}

function firstNotBelow(tops: readonly number[], piles: readonly { pair: Pair }[], atB: number): number {
  let [low, high] = [0, tops.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((piles[tops[middle] ?? 0]?.pair[1] ?? 0) < atB) low = middle + 1
    else high = middle
  }
  return low
}

/** Between two anchors: the work grows with the square of the edits. */
const maxEdits = 500

function* matchGap(a: Numbers, b: Numbers, gap: Range): Generator<Pair> {
  const inner = trimmed(a, b, gap)
  yield* pairsOf(gap.a, gap.b, inner.a - gap.a)
  // Lines that the other side lacks cannot match.
  const inA = new Set(a.subarray(inner.a, inner.aEnd))
  const inB = new Set(b.subarray(inner.b, inner.bEnd))
  const positionsA = positions(a, inner.a, inner.aEnd, inB)
  const positionsB = positions(b, inner.b, inner.bEnd, inA)
  yield* shortestEdit(a, b, positionsA, positionsB)
  yield* pairsOf(inner.aEnd, inner.bEnd, gap.aEnd - inner.aEnd)
}

function positions(lines: Numbers, from: number, to: number, wanted: ReadonlySet<number>): Numbers {
  const found: number[] = []
  for (let at = from; at < to; at += 1) if (wanted.has(lines[at] ?? 0)) found.push(at)
  return Int32Array.from(found)
}

/** Myers' greedy search; `positionsA` and `positionsB` are the positions that take part. */
function shortestEdit(a: Numbers, b: Numbers, positionsA: Numbers, positionsB: Numbers): readonly Pair[] {
  const linesA = positionsA.map((at) => a[at] ?? 0)
  const linesB = positionsB.map((at) => b[at] ?? 0)
  const [width, height] = [linesA.length, linesB.length]
  const limit = Math.min(width + height, maxEdits)
  const middle = limit + 1
  const furthest = new Int32Array(2 * middle + 1)
  const trace: Numbers[] = []
  for (let edits = 0; edits <= limit; edits += 1) {
    trace.push(furthest.slice(middle - edits - 1, middle + edits + 2))
    for (let k = -edits; k <= edits; k += 2) {
      let x = firstX(furthest, middle, k, edits)
      while (x < width && x - k < height && linesA[x] === linesB[x - k]) x += 1
      furthest[middle + k] = x
      if (x >= width && x - k >= height) return walkBack(trace, width, height, positionsA, positionsB)
    }
  }
  return []
}

/** The start of the path on diagonal `k`: below a removal, or beside an insertion. */
function firstX(furthest: Numbers, middle: number, k: number, edits: number): number {
  const index = middle + k
  return isInsertion(furthest, middle, k, edits) ? (furthest[index + 1] ?? 0) : (furthest[index - 1] ?? 0) + 1
}

const isInsertion = (furthest: Numbers, middle: number, k: number, edits: number): boolean =>
  k === -edits || (k !== edits && (furthest[middle + k - 1] ?? 0) < (furthest[middle + k + 1] ?? 0))

function walkBack(
  trace: readonly Numbers[],
  width: number,
  height: number,
  positionsA: Numbers,
  positionsB: Numbers,
): readonly Pair[] {
  const found: Pair[] = []
  let [x, y] = [width, height]
  for (const [edits, furthest] of [...trace.entries()].reverse()) {
    const middle = edits + 1
    const k = x - y
    const start = edits === 0 ? 0 : firstX(furthest, middle, k, edits)
    while (x > start && y > start - k) {
      x -= 1
      y -= 1
      found.push([positionsA[x] ?? 0, positionsB[y] ?? 0])
    }
    if (edits === 0) break
    if (isInsertion(furthest, middle, k, edits)) y -= 1
    else x -= 1
  }
  return found.reverse()
}

function joined(pairs: Iterable<Pair>): readonly Match[] {
  const runs: { before: number; after: number; length: number }[] = []
  for (const [before, after] of pairs) {
    const last = runs.at(-1)
    if (last && last.before + last.length === before && last.after + last.length === after) last.length += 1
    else runs.push({ before, after, length: 1 })
  }
  return runs
}
