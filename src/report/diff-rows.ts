import { matchLines } from '../plan/match-lines.ts'

/** A line of two texts side by side, by its numbers; null: there is none on that side. */
export type Row = {
  readonly kind: 'same' | 'changed'
  readonly before: number | null
  readonly after: number | null
}

/** Two texts, line by line. What came stands beside what went in the same place. */
export function diffRows(before: readonly string[], after: readonly string[]): readonly Row[] {
  const rows: Row[] = []
  let [old, now] = [0, 0]
  for (const match of [...matchLines(before, after), { before: before.length, after: after.length, length: 0 }]) {
    while (old < match.before || now < match.after) {
      rows.push({
        kind: 'changed',
        before: old < match.before ? old + 1 : null,
        after: now < match.after ? now + 1 : null,
      })
      old = Math.min(old + 1, match.before)
      now = Math.min(now + 1, match.after)
    }
    for (let n = 0; n < match.length; n += 1) {
      old += 1
      now += 1
      rows.push({ kind: 'same', before: old, after: now })
    }
  }
  return rows
}

/** Rows that are shown, or that are folded away because nothing happened there. `to` is the one after the last. */
export type Stretch = { readonly kind: 'shown' | 'folded'; readonly from: number; readonly to: number }

/** What lies further than `context` rows from everything worth seeing is folded. */
export function foldRows(
  rows: readonly Row[],
  isWorthSeeing: (row: Row) => boolean,
  context: number,
): readonly Stretch[] {
  const stretches: { kind: 'shown' | 'folded'; from: number; to: number }[] = []
  const add = (kind: 'shown' | 'folded', from: number, to: number): void => {
    const last = stretches.at(-1)
    if (last?.kind === kind) last.to = to
    else if (from < to) stretches.push({ kind, from, to })
  }
  let done = 0
  for (const [index, row] of rows.entries()) {
    if (!isWorthSeeing(row)) continue
    const from = Math.max(done, index - context)
    // A fold of a single row would take as much room as the row.
    add(from - done > 1 ? 'folded' : 'shown', done, from)
    done = Math.max(done, Math.min(rows.length, index + context + 1))
    add('shown', from, done)
  }
  add(rows.length - done > 1 ? 'folded' : 'shown', done, rows.length)
  return stretches
}
