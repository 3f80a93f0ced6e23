import { clipEnd, numberLines, splitLines } from '../text/clean.ts'
import { matchLines } from '../text/line-diff.ts'
import type { CycleView, PlacedFinding } from './data.ts'
import type { DecideData } from './decide-data.ts'
import { type LabelTone, outcomeTone, outcomeWords, severityTones, showHidden } from './html.ts'

/** A line of two texts side by side, by its numbers; null: there is none on that side. */
export type Row = { readonly kind: 'same' | 'changed'; readonly before: number | null; readonly after: number | null }

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
type Stretch = { readonly kind: 'shown' | 'folded'; readonly from: number; readonly to: number }

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
    // A fold of a single row would take as much space as the row.
    add(from - done > 1 ? 'folded' : 'shown', done, from)
    done = Math.max(done, Math.min(rows.length, index + context + 1))
    add('shown', from, done)
  }
  add(rows.length - done > 1 ? 'folded' : 'shown', done, rows.length)
  return stretches
}

/** What the page's script shows: the plans, and where in them each finding stands. All texts are harmless as text. */
export type PageData = {
  readonly plans: PackedTexts
  /** In the order of the texts. */
  readonly revisions: readonly PageRevision[]
}

export type PageRevision = {
  readonly cycle: number
  readonly name: string
  readonly isThere: boolean
  readonly findings: readonly PageFinding[]
}

export type PageFinding = {
  readonly id: string
  readonly severity: string
  readonly severityTone: LabelTone
  readonly problem: string
  readonly fix: string
  readonly outcome: string
  readonly outcomeTone: LabelTone
  readonly anchor: string
  readonly line: number | null
}

export function pageData(views: readonly CycleView[]): PageData {
  const all = views.flatMap((view) => view.revisions.map((revision) => ({ ...revision, view })))
  return {
    plans: packTexts(all.map(({ revision }) => revision.text ?? '')),
    revisions: all.map(({ revision, view, findings }) => ({
      cycle: view.cycle.cycle,
      name: `v${revision.revision}`,
      isThere: revision.text !== null,
      findings: findings.map((placed) => pageFinding(placed, view)),
    })),
  }
}

function pageFinding({ finding, line, anchor }: PlacedFinding, { traces }: CycleView): PageFinding {
  const trace = traces.find((each) => each.finding.id === finding.id)
  const shown = (text: string): string => showHidden(clipEnd(text.trim(), 4_000))
  return {
    id: showHidden(clipEnd(finding.id, 20)),
    severity: finding.severity,
    severityTone: severityTones[finding.severity],
    problem: shown(finding.problem),
    fix: shown(finding.fix),
    outcome: trace === undefined ? '' : outcomeWords(trace),
    outcomeTone: trace === undefined ? 'plain' : outcomeTone(trace),
    anchor,
    line,
  }
}

/** As the text of a script element, which nothing in it can end: there is no `<` left. */
export const asScriptText = (data: PageData | DecideData): string =>
  JSON.stringify(data).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/**
 * Texts that have most of their lines in common: each different line once, and each text as runs of them, `[first,
 * count, first, count, …]`. Fifty revisions of a plan take little more space than one of them.
 */
type PackedTexts = { readonly lines: readonly string[]; readonly texts: readonly (readonly number[])[] }

export function packTexts(texts: readonly string[]): PackedTexts {
  const { numberOf, lines } = numberLines()
  const runs = texts.map((text) => runsIn(splitLines(text).map(numberOf)))
  return { lines: lines().map(shownLine), texts: runs }
}

export function unpackText({ lines, texts }: PackedTexts, index: number): readonly string[] {
  const runs = texts[index] ?? []
  const unpacked: string[] = []
  for (let at = 0; at < runs.length; at += 2) {
    const first = runs[at] ?? 0
    for (let n = 0; n < (runs[at + 1] ?? 0); n += 1) unpacked.push(lines[first + n] ?? '')
  }
  return unpacked
}

function runsIn(numbers: readonly number[]): readonly number[] {
  const runs: number[] = []
  for (const number of numbers) {
    const last = runs.length - 2
    if (last >= 0 && (runs[last] ?? 0) + (runs[last + 1] ?? 0) === number) runs[last + 1] = (runs[last + 1] ?? 0) + 1
    else runs.push(number, 1)
  }
  return runs
}

/** Lines that differ only in how they end must look different, too. */
function shownLine(line: string): string {
  const end = /\r?\n$/.exec(line)?.[0] ?? ''
  const text = showHidden(line.slice(0, line.length - end.length)).replaceAll('\n', ' ')
  if (end === '') return `${text}⟨no line end⟩`
  return end === '\n' ? text : `${text}␍`
}
