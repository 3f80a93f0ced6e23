import { clipEnd } from '../review/clip-text.ts'
import type { Finding } from '../schemas/review-result.ts'
import { bySeverity } from './count-severities.ts'
import type { Neutralise, ToldReview } from './plan-news.ts'

export type TellOptions = {
  readonly neutralise: Neutralise
  /** How many characters there are for all of it. */
  readonly room: number
  /** Where the rest can be read. */
  readonly file: string
}

type Told = Pick<ToldReview, 'findings' | 'previous' | 'late'>

/** The gravest first; what there is no room for is named, with the place where it stands. */
export function tellFindings(review: Told, { neutralise, room, file }: TellOptions): readonly string[] {
  const findings = bySeverity(review.findings)
  const told: string[] = []
  let left = room - roomForTheRest
  for (const finding of findings) {
    const text = tellFinding(finding, review, neutralise)
    if (text.length + 2 > left) break
    told.push(text)
    left -= text.length + 2
  }
  const rest = findings.slice(told.length)
  if (rest.length === 0) return told
  const named = rest.map(({ id, severity }) => `${oneLine(id, 12, neutralise)} ${severity}`).join(', ')
  const are = rest.length === 1 ? '1 more finding is' : `${rest.length} more findings are`
  return [...told, `${are} in ${file}: ${clipEnd(named, 150)}. Read ${rest.length === 1 ? 'it' : 'them'} there.`]
}

const roomForTheRest = 300

function tellFinding(finding: Finding, { previous, late }: Told, neutralise: Neutralise): string {
  const { id, severity, section, problem, evidence, fix } = finding
  const again = previous.find((entry) => entry.id === id && entry.status === 'not_fixed')
  return [
    `${oneLine(id, 12, neutralise)} · ${severity} · ${oneLine(section, 200, neutralise) || 'no place named'}`,
    field('Problem', problem, 1000, neutralise),
    field('Evidence', evidence, 600, neutralise),
    field('Fix', fix, 600, neutralise),
    again === undefined ? '' : field('Still open since the last review', again.reason, 300, neutralise),
    late.includes(id) ? '  (New, in text that has not changed: recorded as advice.)' : '',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

const field = (label: string, text: string, limit: number, neutralise: Neutralise): string => {
  const told = indented(text, limit, neutralise)
  return told === '' ? '' : `  ${label}: ${told}`
}

/** Nothing that a reviewer says begins a line, where only plan-gate speaks. */
export const indented = (text: string, limit: number, neutralise: Neutralise): string =>
  clipEnd(linesOf(neutralise(text)).join('\n    '), limit)

export const oneLine = (text: string, limit: number, neutralise: Neutralise): string =>
  clipEnd(linesOf(neutralise(text)).join(' '), limit)

const linesOf = (text: string): readonly string[] =>
  text
    .split(/[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
