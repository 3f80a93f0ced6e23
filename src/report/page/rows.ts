import { matchLines } from '../../text/diff.ts'
import type { PageFinding } from '../page-data.ts'

/** Two texts as rows: what changed, with some lines around it, and each finding under its line. */

/** A line of two texts side by side, by its numbers; null: there is none on that side. */
export type Row = { readonly kind: 'same' | 'changed'; readonly before: number | null; readonly after: number | null }

/** What a row shows of its line. One under the other, a changed line is two rows, each of which knows of the other. */
type Side = 'both' | 'before' | 'after'

/** Side by side, one under the other, or a single text that there is nothing to compare with. */
export type Layout = 'split' | 'unified' | 'whole'

export type Notes = { readonly before: readonly PageFinding[]; readonly after: readonly PageFinding[] }

export type Item =
  | { readonly kind: 'row'; readonly row: Row; readonly side: Side }
  | ({ readonly kind: 'notes' } & Notes)
  | { readonly kind: 'folded'; readonly items: readonly Item[]; readonly lines: number }

const context = 3

export function arrangeRows(
  before: readonly string[] | null,
  after: readonly string[],
  notes: Notes,
  { layout, isWhole }: { readonly layout: Layout; readonly isWhole: boolean },
): { readonly items: readonly Item[]; readonly changed: number } {
  const rows = before === null ? after.map((_, index) => sameRow(null, index + 1)) : diffRows(before, after)
  const [left, right] = [byLine(notes.before), byLine(notes.after)]
  const notesAt = ({ before: old, after: now }: Row, side: Side): Notes => ({
    before: (side !== 'after' && left.get(old)) || [],
    after: (side !== 'before' && right.get(now)) || [],
  })
  const hasNotes = ({ before: old, after: now }: Row): boolean => left.has(old) || right.has(now)
  const itemsIn = (from: number, to: number): readonly Item[] =>
    inOrder(rows.slice(from, to), layout).flatMap(({ row, side }): readonly Item[] => {
      const beside = notesAt(row, side)
      const item: Item = { kind: 'row', row, side }
      return beside.before.length + beside.after.length > 0 ? [item, { kind: 'notes', ...beside }] : [item]
    })
  const isWorthSeeing = (row: Row): boolean => isWhole || before === null || row.kind === 'changed' || hasNotes(row)
  const items = foldRows(rows, isWorthSeeing, context).flatMap(({ kind, from, to }): readonly Item[] =>
    kind === 'shown' ? itemsIn(from, to) : [{ kind, items: itemsIn(from, to), lines: to - from }],
  )
  return { items, changed: rows.filter(({ kind }) => kind === 'changed').length }
}

const sameRow = (before: number | null, after: number): Row => ({ kind: 'same', before, after })

function byLine(findings: readonly PageFinding[]): ReadonlyMap<number | null, readonly PageFinding[]> {
  const lines = new Map<number | null, PageFinding[]>()
  for (const finding of findings)
    if (finding.line !== null) lines.set(finding.line, [...(lines.get(finding.line) ?? []), finding])
  return lines
}

/** What came stands beside what went in the same place. */
export function diffRows(before: readonly string[], after: readonly string[]): readonly Row[] {
  const rows: Row[] = []
  let [old, now] = [0, 0]
  for (const match of [...matchLines(before, after), { before: before.length, after: after.length, length: 0 }]) {
    while (old < match.before || now < match.after)
      rows.push({ kind: 'changed', before: old < match.before ? ++old : null, after: now < match.after ? ++now : null })
    for (let n = 0; n < match.length; n += 1) rows.push(sameRow(++old, ++now))
  }
  return rows
}

/** Rows that are shown, or that are folded away because nothing happened there. `to` is the one after the last. */
type Stretch = { kind: 'shown' | 'folded'; from: number; to: number }

/** What lies further than `context` rows from everything worth seeing is folded. */
export function foldRows(
  rows: readonly Row[],
  isWorthSeeing: (row: Row) => boolean,
  context: number,
): readonly Stretch[] {
  const near = new Set([-1, rows.length])
  for (const [index, row] of rows.entries())
    if (isWorthSeeing(row)) for (let at = index - context; at <= index + context; at += 1) near.add(at)
  const stretches: Stretch[] = []
  for (const at of rows.keys()) {
    // A fold of a single row would take as much space as the row.
    const kind = near.has(at) || (near.has(at - 1) && near.has(at + 1)) ? 'shown' : 'folded'
    const last = stretches.at(-1)
    if (last?.kind === kind) last.to = at + 1
    else stretches.push({ kind, from: at, to: at + 1 })
  }
  return stretches
}

type Sided = { readonly row: Row; readonly side: Side }

/** One under the other, all that went stands before what came. */
function inOrder(rows: readonly Row[], layout: Layout): readonly Sided[] {
  if (layout !== 'unified') return rows.map((row) => ({ row, side: 'both' }))
  const ordered: Sided[] = []
  let came: Sided[] = []
  for (const row of rows) {
    if (row.kind === 'same') {
      ordered.push(...came, { row, side: 'both' })
      came = []
      continue
    }
    if (row.before !== null) ordered.push({ row, side: 'before' })
    if (row.after !== null) came.push({ row, side: 'after' })
  }
  return [...ordered, ...came]
}

export type WordSpan = { readonly text: string; readonly isChanged: boolean }

/** Longer lines are not compared word by word. */
const maxWords = 800

/** With less in common than this, two lines are different ones, and marking words would only make noise. */
const minSimilarity = 0.35

/** Which words of a line changed; null where that says nothing. */
export function markWords(
  before: string,
  after: string,
): { readonly before: readonly WordSpan[]; readonly after: readonly WordSpan[] } | null {
  const [old, now] = [wordsIn(before), wordsIn(after)]
  if (old.length > maxWords || now.length > maxWords) return null
  const kept = { before: new Set<number>(), after: new Set<number>() }
  for (const match of matchLines(old, now))
    for (let n = 0; n < match.length; n += 1) {
      kept.before.add(match.before + n)
      kept.after.add(match.after + n)
    }
  const alike = lengthOf(old.filter((_, index) => kept.before.has(index)))
  const longest = Math.max(lengthOf(old), lengthOf(now))
  if (longest === 0 || alike / longest < minSimilarity) return null
  return { before: spansOf(old, kept.before), after: spansOf(now, kept.after) }
}

const wordsIn = (line: string): readonly string[] => line.match(/\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu) ?? []
const lengthOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.trim().length, 0)

function spansOf(words: readonly string[], kept: ReadonlySet<number>): readonly WordSpan[] {
  const spans: { text: string; isChanged: boolean }[] = []
  for (const [index, word] of words.entries()) {
    const last = spans.at(-1)
    // A blank between two changed words belongs to the change.
    const isBetween = last?.isChanged === true && word.trim() === '' && index + 1 < words.length && !kept.has(index + 1)
    const isChanged = !kept.has(index) || isBetween
    if (last?.isChanged === isChanged) last.text += word
    else spans.push({ text: word, isChanged })
  }
  return spans
}
