import type { AnsweredFinding } from '../../schemas/review.ts'

export type ChecklistFinding = AnsweredFinding & { readonly id: null }

export const finding = (
  severity: ChecklistFinding['severity'],
  section: string,
  { problem, evidence, fix }: { problem: string; evidence: string; fix: string },
): ChecklistFinding => ({ id: null, severity, section, problem, evidence, fix })

export const atLine = ({ number, raw }: { readonly number: number; readonly raw: string }): string =>
  `Line ${number}: ${quote(raw)}`
const maxQuoteLength = 120

/** Enough of a line to recognise it. */
export function quote(raw: string): string {
  const text = raw
    .slice(0, 400)
    .replace(/[^\P{C}\t]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
  return text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength - 1)}…` : text
}

/** The first ones, and one for all the others, so that a list stays readable. */
export function limitFindings(
  found: readonly ChecklistFinding[],
  limit: number,
  problemOfRest: (count: number) => string,
  placeOf = ({ evidence }: ChecklistFinding): string => /^Line \d+/.exec(evidence)?.[0] ?? '',
): readonly ChecklistFinding[] {
  const rest = found.slice(limit)
  const [first] = rest
  if (first === undefined || rest.length === 1) return found
  const { severity } = rest.find((one) => one.severity === 'major') ?? first
  const places = rest.slice(0, 20).map(placeOf).join(', ')
  const evidence = rest.length > 20 ? `${places} and further.` : `${places}.`
  return [...found.slice(0, limit), { ...first, severity, problem: problemOfRest(rest.length), evidence }]
}
