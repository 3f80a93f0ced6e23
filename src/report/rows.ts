import { matchLines } from '../text/line-diff.ts'
import { diffRows, foldRows, type PageFinding, type Row } from './page-data.ts'

/** What a row shows of its line. One under the other, a changed line is two rows, each of which knows of the other. */
type Side = 'both' | 'before' | 'after'

/** Side by side, one under the other, or a single text that there is nothing to compare with. */
export type Layout = 'split' | 'unified' | 'whole'

export type Item =
  | { readonly kind: 'row'; readonly row: Row; readonly side: Side }
  | { readonly kind: 'notes'; readonly before: readonly PageFinding[]; readonly after: readonly PageFinding[] }
  | { readonly kind: 'folded'; readonly items: readonly Item[]; readonly lines: number }

type Notes = { readonly before: readonly PageFinding[]; readonly after: readonly PageFinding[] }
type Arranged = { readonly items: readonly Item[]; readonly changed: number }

const context = 3

/** What is shown from top to bottom: changed lines with some around them, and each finding under its line. */
export function arrangeRows(
  before: readonly string[] | null,
  after: readonly string[],
  notes: Notes,
  options: { readonly layout: Layout; readonly isWhole: boolean },
): Arranged {
  const rows = before === null ? after.map((_, index) => onlyAfter(index + 1)) : diffRows(before, after)
  const [left, right] = [byLine(notes.before), byLine(notes.after)]
  const notesAt = ({ before: old, after: now }: Row): Notes => ({
    before: old === null ? [] : (left.get(old) ?? []),
    after: now === null ? [] : (right.get(now) ?? []),
  })
  const hasNotes = (row: Row): boolean => {
    const { before: old, after: now } = notesAt(row)
    return old.length + now.length > 0
  }
  const isShownWhole = options.isWhole || before === null
  const stretches = isShownWhole
    ? [{ kind: 'shown' as const, from: 0, to: rows.length }]
    : foldRows(rows, (row) => row.kind === 'changed' || hasNotes(row), context)
  const itemsIn = (from: number, to: number): readonly Item[] =>
    inOrder(rows.slice(from, to), options.layout).flatMap(({ row, side }): readonly Item[] => {
      const { before: old, after: now } = notesAt(row)
      const beside = { before: side === 'after' ? [] : old, after: side === 'before' ? [] : now }
      const item: Item = { kind: 'row', row, side }
      return beside.before.length + beside.after.length > 0 ? [item, { kind: 'notes', ...beside }] : [item]
    })
  const items = stretches.flatMap(({ kind, from, to }): readonly Item[] =>
    kind === 'shown' ? itemsIn(from, to) : [{ kind: 'folded', items: itemsIn(from, to), lines: to - from }],
  )
  return { items, changed: rows.filter(({ kind }) => kind === 'changed').length }
}

const onlyAfter = (line: number): Row => ({ kind: 'same', before: null, after: line })

function byLine(findings: readonly PageFinding[]): ReadonlyMap<number, readonly PageFinding[]> {
  const lines = new Map<number, PageFinding[]>()
  for (const finding of findings)
    if (finding.line !== null) lines.set(finding.line, [...(lines.get(finding.line) ?? []), finding])
  return lines
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
  const keptOld = new Set<number>()
  const keptNow = new Set<number>()
  let alike = 0
  for (const match of matchLines(old, now))
    for (let n = 0; n < match.length; n += 1) {
      keptOld.add(match.before + n)
      keptNow.add(match.after + n)
      alike += (old[match.before + n] ?? '').trim().length
    }
  const longest = Math.max(lengthOf(old), lengthOf(now))
  if (longest === 0 || alike / longest < minSimilarity) return null
  return { before: spansOf(old, keptOld), after: spansOf(now, keptNow) }
}

const wordsIn = (line: string): readonly string[] => line.match(/\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu) ?? []
const lengthOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.trim().length, 0)

function spansOf(words: readonly string[], kept: ReadonlySet<number>): readonly WordSpan[] {
  const spans: { text: string; isChanged: boolean }[] = []
  for (const [index, word] of words.entries()) {
    const isChanged = !kept.has(index)
    const last = spans.at(-1)
    // A blank between two changed words belongs to the change.
    if (
      last?.isChanged === isChanged ||
      (last?.isChanged && word.trim() === '' && index + 1 < words.length && !kept.has(index + 1))
    )
      last.text += word
    else spans.push({ text: word, isChanged })
  }
  return spans
}
