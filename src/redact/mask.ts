import type { Range } from './detect.ts'

/** A secret of a text, in several ranges where it was split. */
export type Secret = { readonly kind: string; readonly parts: readonly Range[] }

/** A text without its secrets; `kinds` has an entry for each. */
export type RedactedText = { readonly text: string; readonly kinds: readonly string[] }

/** Replaces a secret. Square brackets and lower case keep it from looking like one. */
export const markOf = (kind: string): string => `[REDACTED:${kind}]`

const markForm = /\[REDACTED:[a-z-]{1,40}\]/g

export const marksIn = (text: string): readonly Range[] =>
  Array.from(text.matchAll(markForm), ({ index, 0: mark }) => ({ start: index, end: index + mark.length }))

type Hole = Range & { readonly rank: number; readonly isFirst: boolean }

/** Replaces each part by a mark, but no mark by another. */
export function maskSecrets(text: string, secrets: readonly Secret[]): RedactedText {
  if (secrets.length === 0) return { text, kinds: [] }
  const holes = secrets.flatMap(({ parts }, rank) =>
    parts.map((part, index): Hole => ({ ...part, rank, isFirst: index === 0 })),
  )
  const pieces: string[] = []
  const kinds: string[] = []
  const marks = marksIn(text)
  let [at, nextMark] = [0, 0]
  for (const hole of merged(holes)) {
    let { start } = hole
    let isFirst = hole.isFirst
    const mask = (end: number) => {
      if (start >= end) return
      const kind = secrets[hole.rank]?.kind ?? 'secret'
      pieces.push(text.slice(at, start), markOf(kind))
      if (isFirst) kinds.push(kind)
      isFirst = false
      at = end
    }
    for (let mark = marks[nextMark]; mark && mark.start < hole.end; mark = marks[nextMark]) {
      if (mark.end > start) {
        mask(mark.start)
        start = mark.end
      }
      if (mark.end > hole.end) break
      nextMark += 1
    }
    mask(hole.end)
  }
  return { text: pieces.join('') + text.slice(at), kinds }
}

/** Those that overlap become one, with the lower rank's name. */
function merged(holes: readonly Hole[]): readonly Hole[] {
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
