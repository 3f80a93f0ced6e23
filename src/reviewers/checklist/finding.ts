import type { AnsweredFinding } from '../../schemas/review.ts'

export type ChecklistFinding = AnsweredFinding & { readonly id: null }

export const finding = (
  severity: ChecklistFinding['severity'],
  section: string,
  { problem, evidence, fix }: { problem: string; evidence: string; fix: string },
): ChecklistFinding => ({ id: null, severity, section, problem, evidence, fix })

export const atLine = (number: number, raw: string): string => `Line ${number}: ${quote(raw)}`
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

/** A finding for each of the first items and one for all the others, so that a list stays readable. */
export const limitFindings = <T>(
  items: readonly T[],
  limit: number,
  findingOf: (item: T) => ChecklistFinding,
  findingOfRest: (rest: readonly T[], first: T) => ChecklistFinding,
): ChecklistFinding[] => {
  const first = items[limit]
  return items.length <= limit + 1 || first === undefined
    ? items.map(findingOf)
    : [...items.slice(0, limit).map(findingOf), findingOfRest(items.slice(limit), first)]
}

export const listLines = (lines: readonly { readonly number: number }[]): string =>
  `Lines ${lines
    .slice(0, 40)
    .map(({ number }) => number)
    .join(', ')}${lines.length > 40 ? ' and further' : ''}.`

/** A reviewer that gets too much reads the beginning, and does not mention the rest. */
export function checkSize(text: string, maxBytes: number, name: string): ChecklistFinding[] {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return []
  const line = Buffer.from(text).subarray(0, maxBytes).toString('utf8').split('\n').length
  return [
    finding('major', 'Size', {
      problem: `The ${name} has ${bytes.toLocaleString('en-US')} bytes; at most ${maxBytes.toLocaleString('en-US')} are reviewed.`,
      evidence: `Line ${line} is where the limit is reached.`,
      fix: 'Move listings and logs out of it, or split the work in two.',
    }),
  ]
}
