import { fitLines } from './fit-lines.ts'
import type { Count, Fitted } from './fitted.ts'
import { countUpTo } from './is-within.ts'
import { amountOf, asSentence, counted, leftOut, lineEndOf } from './left-out.ts'
import { readSections, type Section } from './read-sections.ts'

/**
 * Whole sections, the most important ones first, in the order of the document. Of the others the heading stays, so
 * that the reader knows what there is and does not take it for missing.
 */
export function fitDocument(text: string, budget: number, count: Count): Fitted {
  const sections = readSections(text)
  if (sections.length < 2) return fitLines(text, budget, count)
  const { outlines, reserved } = outlineWithin(sections, text, budget / 2, count)
  const { whole, cut } = choose({ sections, text, outlines, room: budget - reserved - endRoom, count })
  const eol = lineEndOf(text)
  const parts = sections.map((section, index) => {
    if (whole.has(index)) return text.slice(section.start, section.end)
    if (cut?.index === index) return text.slice(section.start, section.bodyStart) + closed(cut.body, eol)
    return outlines[index]?.text ?? ''
  })
  const silent = sections.filter((_, index) => parts[index] === '').length
  if (silent > 0) parts.push(`${leftOut(counted(silent, 'section'))}${eol}`)
  return { text: parts.join(''), dropped: describe(sections, whole, cut?.index ?? null) }
}

/** What the line at the end costs that says how many headings are missing. */
const endRoom = 15

const closed = (body: string, eol: string): string => (body.endsWith('\n') ? body : `${body}${eol}`)

type Outline = { readonly text: string; readonly tokens: number }

/** What stands for each section when it is left out. Where the headings alone are too many, the deeper ones go. */
function outlineWithin(sections: readonly Section[], text: string, most: number, count: Count) {
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
    if (reserved <= most) return { outlines, reserved }
  }
  return { outlines: all.map(() => none), reserved: 0 }
}

type Choice = {
  readonly sections: readonly Section[]
  readonly text: string
  readonly outlines: readonly Outline[]
  readonly room: number
  readonly count: Count
}
type Chosen = { whole: Set<number>; cut: { index: number; body: string } | null }

/** Of one rank the shorter go first, so that most of them stay whole; the first that does not fit is cut. */
function choose({ sections, text, outlines, room, count }: Choice): Chosen {
  const whole = new Set<number>()
  let left = room
  for (const { section, index } of byImportance(sections)) {
    const instead = outlines[index]?.tokens ?? 0
    const content = text.slice(section.start, section.end)
    const cost = countUpTo(content, left + instead, count)
    if (cost <= left + instead) {
      whole.add(index)
      left -= cost - instead
      continue
    }
    if (left + instead < leastToCut) return { whole, cut: null }
    const { text: body } = fitLines(
      text.slice(section.bodyStart, section.end),
      left + instead - count(`${section.heading}\n`),
      count,
    )
    return { whole, cut: { index, body } }
  }
  return { whole, cut: null }
}

/** Less than this of a section tells nobody anything. */
const leastToCut = 80

const byImportance = (sections: readonly Section[]): { section: Section; index: number }[] =>
  sections
    .map((section, index) => ({ section, index }))
    .sort(
      ({ section: a, index: i }, { section: b, index: j }) =>
        a.rank - b.rank || a.end - a.start - (b.end - b.start) || i - j,
    )

function describe(sections: readonly Section[], whole: ReadonlySet<number>, cut: number | null): string {
  const gone = sections.filter((_, index) => !whole.has(index) && index !== cut)
  const names = gone.slice(0, 3).map(({ title }) => `"${title.slice(0, 60) || 'the beginning'}"`)
  const which = gone.length > 3 ? `${names.join(', ')} and ${gone.length - 3} more` : names.join(', ')
  const parts = [
    ...(gone.length > 0 ? [`${gone.length} of ${counted(sections.length, 'section')} left out (${which})`] : []),
    ...(cut === null ? [] : [`the section "${sections[cut]?.title.slice(0, 60)}" shortened`]),
  ]
  return asSentence(parts)
}
