import { type Found, markOf, marksIn, type Range } from './found.ts'

export type Blanked = { readonly text: string; readonly kinds: readonly string[] }

type Hole = { readonly start: number; readonly end: number; readonly rank: number; readonly isFirst: boolean }

/** Puts marks in the place of what was found, one for each part. `kinds` has an entry for each secret. */
export function blankOut(text: string, found: readonly Found[]): Blanked {
  const marks = marksIn(text)
  const holes = merged(
    found.flatMap(({ parts }, rank) =>
      parts.flatMap((part, index) => outside(part, marks).map((range) => ({ ...range, rank, isFirst: index === 0 }))),
    ),
  )
  const pieces: string[] = []
  const kinds: string[] = []
  let at = 0
  for (const { start, end, rank, isFirst } of holes) {
    const kind = found[rank]?.kind ?? 'secret'
    pieces.push(text.slice(at, start), markOf(kind))
    if (isFirst) kinds.push(kind)
    at = end
  }
  return { text: pieces.length === 0 ? text : pieces.join('') + text.slice(at), kinds }
}

function merged(holes: Hole[]): readonly Hole[] {
  const result: Hole[] = []
  for (const hole of holes.toSorted((one, other) => one.start - other.start || one.rank - other.rank)) {
    const last = result.at(-1)
    if (last === undefined || hole.start >= last.end) result.push(hole)
    else
      result[result.length - 1] = {
        start: last.start,
        end: Math.max(last.end, hole.end),
        rank: Math.min(last.rank, hole.rank),
        isFirst: last.isFirst || hole.isFirst,
      }
  }
  return result
}

/** What of a range is not a mark already. */
function outside(range: Range, marks: readonly Range[]): readonly Range[] {
  const left: Range[] = []
  let start = range.start
  for (let index = firstAfter(marks, range.start); index < marks.length; index += 1) {
    const mark = marks[index]
    if (mark === undefined || mark.start >= range.end) break
    if (mark.start > start) left.push({ start, end: mark.start })
    start = mark.end
  }
  if (start < range.end) left.push({ start, end: range.end })
  return left
}

/** The first mark that ends behind this place. */
function firstAfter(marks: readonly Range[], place: number): number {
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks[middle]?.end ?? 0) > place) high = middle
    else low = middle + 1
  }
  return low
}
