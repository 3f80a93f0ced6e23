import type { Finding } from '../schemas/review.ts'
import { type LineRange, type Outline, readOutline, type Section } from '../text/markdown.ts'
import { beginsWith, plainTitle } from './findings.ts'

export type FindingLocation = { readonly section: Section | null; readonly lines: readonly number[] }
export type LocatedFinding = Pick<Finding, 'section' | 'evidence'>

/**
 * Reviewers name a location by a heading, `docs/plan.md:12`, a file of the code that the plan names, or a quotation in
 * the evidence. The most exact one counts.
 */
export function locateFinding(plan: PlanText, finding: LocatedFinding): FindingLocation | null {
  const { lines, sections } = plan.outline
  const named = namedLines(finding.section, lines.length)
  const section = namedSection(finding.section, plan.titles)
  const exact = named.length > 0 ? named : exactLines(finding, section, plan)
  if (exact.length > 0) return { section: section ?? sectionAt(sections, exact[0] ?? 0), lines: exact }
  return section === null ? null : { section, lines: [] }
}

/** `docs/plan.md:12`, `plan.md:12-14`, `line 12`, `lines 12 to 14`. */
const lineNames = [
  /^\W{0,3}(?:docs\/)?plan\.md\W{0,3}(?:, ?|: ?| )(?:lines? )?L?(\d{1,7})(?:(?: ?[-\u2013] ?| to )L?(\d{1,7}))?/i,
  /^\W{0,3}lines? (\d{1,7})(?:(?: ?[-\u2013] ?| to )(\d{1,7}))?/i,
]

/** Between the first and the last line; a reviewer that names more of the plan means no passage. */
const maxRange = 500

function namedLines(section: string, count: number): readonly number[] {
  const match = lineNames.map((name) => name.exec(section)).find((found) => found !== null)
  const from = Number(match?.[1] ?? 0)
  const to = Number(match?.[2] ?? from)
  if (from < 1 || to < from || to > count || to - from > maxRange) return []
  return Array.from({ length: to - from + 1 }, (_, n) => from + n)
}

/** `## Changes > Details` names the inner section, so the last part that is a heading counts. */
function namedSection(name: string, titles: PlanText['titles']): Section | null {
  const parts = name
    .slice(0, 500)
    .split(/\s*[>\u2192\u00bb;]\s*|\s\/\s/)
    .reverse()
  const wanted = [...parts.map(plainTitle), plainTitle(name)].filter((part) => part !== '')
  for (const part of wanted) {
    const same = titles.find(({ title }) => title === part)
    if (same) return same.section
  }
  const beginnings = titles
    .filter(({ title }) => title !== '' && wanted.some((part) => beginsWith(part, title) || beginsWith(title, part)))
    .sort((a, b) => b.title.length - a.title.length)
  return beginnings[0]?.section ?? null
}

function exactLines(finding: LocatedFinding, section: Section | null, plan: PlanText): readonly number[] {
  const quoted = quotations(finding.evidence).flatMap((quotation) => plan.find(quotation, section))
  if (quoted.length > 0) return distinct(quoted)
  const { lines } = plan.outline
  const range = section ?? { from: 1, to: lines.length }
  const paths = pathsIn(finding.section)
  const naming = lines.flatMap((line, index) =>
    index + 1 >= range.from && index + 1 <= range.to && paths.some((path) => namesPath(line, path)) ? [index + 1] : [],
  )
  return naming.slice(0, 50)
}

const distinct = (numbers: readonly number[]): readonly number[] => [...new Set(numbers)].sort((a, b) => a - b)

/** Passages that the evidence quotes; a single word or a path in backticks is a name. */
function quotations(evidence: string): readonly string[] {
  const text = evidence.slice(0, 4000)
  const spans = [...text.matchAll(quotation)].map(([span]) => span.slice(1, -1))
  const pieces = [...spans, text]
    .flatMap((span) => span.split(/\n|\u2026|\.\.\./))
    .map(comparableText)
    .filter(
      (piece) => (piece.length >= 12 && piece.split(' ').length >= 3) || (piece.match(spaceless)?.length ?? 0) >= 6,
    )
  return pieces.slice(0, 8)
}

/** `…`, "…", “…”, „…“, «…», »…«, ‹…›, ›…‹, 「…」, 『…』 */
const quotation = /`[^`]+`|"[^"]+"|[“„][^“”„]+[“”]|[«»][^«»]+[«»]|[‹›][^‹›]+[‹›]|「[^「」]+」|『[^『』]+』/g

const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu

const pathsIn = (section: string): readonly string[] =>
  (section.slice(0, 500).match(/[\w@.][\w@./-]*(?:\/[\w@.-]+|\.[a-z]{1,6}\b)/gi) ?? [])
    .map((path) => path.replace(/^\.\//, ''))
    .filter((path) => !/(?:^|\/)plan\.md$/.test(path))
    .slice(0, 5)

function namesPath(line: string, path: string): boolean {
  for (let at = line.indexOf(path); at >= 0; at = line.indexOf(path, at + 1)) {
    const [before, after] = [line.slice(at - 1, at), line.slice(at + path.length, at + path.length + 2)]
    const isPart =
      (at > 0 && /[\w/-]/.test(before) && line.slice(at - 2, at) !== './') || /^(?:[\w/-]|\.\w)/.test(after)
    if (!isPart) return true
  }
  return false
}

const sectionAt = (sections: readonly Section[], line: number): Section | null =>
  sections.findLast(({ from, to }) => from <= line && line <= to) ?? null

/** A plan with an index of its titles and words. */
export type PlanText = {
  readonly outline: Outline
  readonly titles: readonly { readonly section: Section; readonly title: string }[]
  /** The first and last line of a passage from `comparableText`, preferably within these lines; empty for none. */
  readonly find: (passage: string, within: LineRange | null) => readonly number[]
}

export function readPlanText(plan: string): PlanText {
  const outline = readOutline(plan)
  const titles = outline.sections.map((section) => ({ section, title: plainTitle(section.title) }))
  return { outline, titles, find: indexWords(outline.lines) }
}

/** For comparison: without case, emphasis, list markers, table marks and line ends. */
export const comparableText = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[`*_"“”„«»‹›「」『』]/g, '')
    .replace(/^\s*(?:>\s*|[-+]\s+|\d{1,3}[.)]\s+|\|\s*)+/, '')
    .replace(/\s+/g, ' ')
    .trim()

/** All lines as one text, since a quotation may span lines. */
function indexWords(lines: readonly string[]): PlanText['find'] {
  const starts: { at: number; line: number }[] = []
  let text = ''
  for (const [index, line] of lines.entries()) {
    const words = comparableText(line)
    if (words === '') continue
    starts.push({ at: text.length, line: index + 1 })
    text += `${words} `
  }
  const lineAt = (place: number): number => starts.findLast(({ at }) => at <= place)?.line ?? 0
  const startOf = (line: number): number => starts.find((start) => start.line >= line)?.at ?? text.length
  return (passage, within) => {
    const first = within === null ? -1 : text.indexOf(passage, startOf(within.from))
    const isWithin = first >= 0 && within !== null && lineAt(first) <= within.to
    const at = isWithin ? first : text.indexOf(passage)
    return at < 0 ? [] : [lineAt(at), lineAt(at + passage.length - 1)]
  }
}
