import { clipEnd, numberLines, splitLines } from '../text/clean.ts'
import type { CycleView, PlacedFinding } from './data.ts'
import { type LabelTone, outcomeTone, outcomeWords, severityTones, showHidden } from './html.ts'

/** What the page's scripts show, as data. All texts are harmless as text. */

export type PageData = { readonly plans: PackedTexts; readonly revisions: readonly PageRevision[] }

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

/** What the page of `report --serve` needs beside the report, to be decided about. */
export type PlanToDecide = {
  readonly hash: string | null
  readonly isApproved: boolean
  readonly now: readonly string[]
  /** The text that was reviewed last in this cycle, where that is another one. */
  readonly reviewed: { readonly revision: number; readonly lines: readonly string[] } | null
}

export type DecideData = PlanToDecide & {
  readonly token: string
  /** The command that serves the page once more. */
  readonly again: string
}

export function pageData(views: readonly CycleView[]): PageData {
  const all = views.flatMap(({ revisions }) => revisions)
  return {
    plans: packTexts(all.map(({ revision }) => revision.text ?? '')),
    revisions: all.map(({ revision, cycle, findings }) => ({
      cycle,
      name: `v${revision.revision}`,
      isThere: revision.text !== null,
      findings: findings.map(pageFinding),
    })),
  }
}

function pageFinding({ finding, trace, line, anchor }: PlacedFinding): PageFinding {
  const shown = (text: string): string => showHidden(clipEnd(text.trim(), 4_000))
  return {
    id: showHidden(clipEnd(finding.id, 20)),
    severity: finding.severity,
    severityTone: severityTones[finding.severity],
    problem: shown(finding.problem),
    fix: shown(finding.fix),
    outcome: outcomeWords(trace),
    outcomeTone: outcomeTone(trace),
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
  const packed = texts.map((text) => {
    const runs: number[] = []
    for (const number of splitLines(text).map(numberOf)) {
      const [first = 0, count = 0] = runs.slice(-2)
      if (count > 0 && first + count === number) runs[runs.length - 1] = count + 1
      else runs.push(number, 1)
    }
    return runs
  })
  return { lines: lines().map(shownLine), texts: packed }
}

export function unpackText({ lines, texts }: PackedTexts, index: number): readonly string[] {
  const runs = texts[index] ?? []
  return runs.flatMap((first, at) => (at % 2 === 0 ? lines.slice(first, first + (runs[at + 1] ?? 0)) : []))
}

/** Lines that differ only in how they end must look different, too. */
function shownLine(line: string): string {
  const end = /\r?\n$/.exec(line)?.[0] ?? ''
  const text = showHidden(line.slice(0, line.length - end.length)).replaceAll('\n', ' ')
  if (end === '') return `${text}⟨no line end⟩`
  return end === '\n' ? text : `${text}␍`
}
