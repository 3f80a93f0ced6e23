import { pluralize } from '../../text/clean.ts'
import { headingText, scanMarkdown } from '../../text/markdown.ts'
import { type CountTokens, countUpTo } from '../tokens.ts'
import { amountOf, asSentence, type Fitted, fitLines, leftOut, lineEndOf } from './lines.ts'

/**
 * Keeps whole sections, the most important ones first, in the order of the document. Of the others the heading stays, so
 * that the reviewer does not report them as missing.
 */
export function fitDocument(text: string, budget: number, count: CountTokens): Fitted {
  const sections = readSections(text)
  if (sections.length < 2) return fitLines(text, budget, count)
  const { outlines, reserved } = outlineWithin(sections, text, budget / 2, count)
  const { whole, cut } = chooseSections({ sections, text, outlines, available: budget - reserved - endTokens, count })
  const eol = lineEndOf(text)
  const parts = sections.map((section, index) => {
    if (whole.has(index)) return text.slice(section.start, section.end)
    if (cut?.index === index) return text.slice(section.start, section.bodyStart) + closed(cut.body, eol)
    return outlines[index]?.text ?? ''
  })
  const unnamed = sections.filter((_, index) => parts[index] === '').length
  if (unnamed > 0) parts.push(`${leftOut(pluralize(unnamed, 'section'))}${eol}`)
  return { text: parts.join(''), dropped: describeDropped(sections, whole, cut?.index ?? null) }
}

/** A heading and the text under it up to the next heading; the text before the first one has none. */
type DocumentSection = {
  readonly heading: string
  readonly title: string
  readonly level: number
  readonly start: number
  readonly bodyStart: number
  readonly end: number
  readonly rank: Rank
}

/** In the order of the document; without the deeper headings where there are thousands. */
function readSections(text: string): readonly DocumentSection[] {
  const headings = headingsIn(text)
  const documentTitles = headings.filter(({ level }) => level === 1).length
  const open: { level: number; rank: Rank }[] = []
  const sections = headings.map((heading, index): DocumentSection => {
    while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop()
    const rank = rankOfTitle(heading.title, open.at(-1)?.rank ?? 2)
    // The title of the document names all of it, and so ranks none of its parts.
    open.push({ level: heading.level, rank: heading.level === 1 && documentTitles === 1 ? 2 : rank })
    return { ...heading, rank, end: headings[index + 1]?.start ?? text.length }
  })
  const first = headings[0]?.start ?? text.length
  if (first === 0) return sections
  return [{ heading: '', title: '', level: 1, start: 0, bodyStart: 0, end: first, rank: 2 }, ...sections]
}

const maxSections = 20_000

function headingsIn(text: string): readonly Omit<DocumentSection, 'rank' | 'end'>[] {
  const headings: Omit<DocumentSection, 'rank' | 'end'>[] = []
  for (const line of scanMarkdown(text)) {
    const title = line.level === 0 ? '' : headingText(line)
    if (title === '') continue
    const { level, start, end } = line
    headings.push({ heading: `${'#'.repeat(level)} ${title}`, title, level, start, bodyStart: end })
  }
  return (
    [6, 2, 1]
      .map((deepest) => headings.filter(({ level }) => level <= deepest))
      .find(({ length }) => length <= maxSections) ?? []
  )
}

/** 0 is the most important. */
type Rank = 0 | 1 | 2 | 3

/** By the words of a heading; the first row that matches holds. */
const titleRanks: readonly { readonly rank: Rank; readonly title: RegExp }[] = [
  {
    rank: 3,
    title: /\b(appendix|appendices|references?|bibliography|glossary|change ?log|history|further reading|see also)\b/i,
  },
  {
    rank: 0,
    title: /\b(requirements?|acceptance|criteria|goals?|objectives?|scope|constraints?|user stor(y|ies)|problem)\b/i,
  },
  {
    rank: 1,
    title: /\b(architecture|design|approach|changes?|solution|implementation|interfaces?|components?|steps?|tasks?)\b/i,
  },
]

function rankOfTitle(title: string, above: Rank): Rank {
  const own = titleRanks.find((row) => row.title.test(title))?.rank
  if (own === undefined || own === 3 || above === 3) return own === 3 ? 3 : above
  return own < above ? own : above
}

/** At most, of the last line, which counts the missing headings. */
const endTokens = 15
const closed = (body: string, eol: string): string => (body.endsWith('\n') ? body : `${body}${eol}`)

type Outline = { readonly text: string; readonly tokens: number }

/** In place of each omitted section. Where the headings alone are too many, the deeper ones go. */
function outlineWithin(sections: readonly DocumentSection[], text: string, limit: number, count: CountTokens) {
  const eol = lineEndOf(text)
  const all = sections.map((section): Outline => {
    const body = text.slice(section.bodyStart, section.end)
    const mark = body.trim() === '' ? '' : `${leftOut(amountOf(body.trim()))}${eol}${eol}`
    const line = section.heading === '' ? '' : `${section.heading}${eol}`
    return { text: line + mark, tokens: count(line + mark) }
  })
  const none: Outline = { text: '', tokens: 0 }
  for (const deepest of [6, 3, 2, 1]) {
    const outlines = all.map((outline, index) => ((sections[index]?.level ?? 1) <= deepest ? outline : none))
    const reserved = outlines.reduce((sum, { tokens }) => sum + tokens, 0)
    if (reserved <= limit) return { outlines, reserved }
  }
  return { outlines: all.map(() => none), reserved: 0 }
}

type SectionChoice = {
  readonly sections: readonly DocumentSection[]
  readonly text: string
  readonly outlines: readonly Outline[]
  readonly available: number
  readonly count: CountTokens
}
type ChosenSections = { whole: Set<number>; cut: { index: number; body: string } | null }

/** Of one rank the shorter go first, so that most of them stay whole; the first that does not fit is cut. */
function chooseSections({ sections, text, outlines, available, count }: SectionChoice): ChosenSections {
  const whole = new Set<number>()
  let left = available
  for (const { section, index } of byImportance(sections)) {
    const saved = outlines[index]?.tokens ?? 0
    const content = text.slice(section.start, section.end)
    const cost = countUpTo(content, left + saved, count)
    if (cost <= left + saved) {
      whole.add(index)
      left -= cost - saved
      continue
    }
    if (left + saved < minCutTokens) return { whole, cut: null }
    const { text: body } = fitLines(
      text.slice(section.bodyStart, section.end),
      left + saved - count(`${section.heading}\n`),
      count,
    )
    return { whole, cut: { index, body } }
  }
  return { whole, cut: null }
}

/** Less of a section is of no use. */
const minCutTokens = 80

const byImportance = (sections: readonly DocumentSection[]): { section: DocumentSection; index: number }[] =>
  sections
    .map((section, index) => ({ section, index }))
    .sort(
      ({ section: a, index: i }, { section: b, index: j }) =>
        a.rank - b.rank || a.end - a.start - (b.end - b.start) || i - j,
    )

function describeDropped(sections: readonly DocumentSection[], whole: ReadonlySet<number>, cut: number | null): string {
  const omitted = sections.filter((_, index) => !whole.has(index) && index !== cut)
  const names = omitted.slice(0, 3).map(({ title }) => `"${title.slice(0, 60) || 'the beginning'}"`)
  const which = omitted.length > 3 ? `${names.join(', ')} and ${omitted.length - 3} more` : names.join(', ')
  const parts = [
    ...(omitted.length > 0
      ? [`${omitted.length} of ${pluralize(sections.length, 'section')} left out (${which})`]
      : []),
    ...(cut === null ? [] : [`the section "${sections[cut]?.title.slice(0, 60)}" shortened`]),
  ]
  return asSentence(parts)
}
