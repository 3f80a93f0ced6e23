import type { AnsweredFinding } from '../../schemas/review-result.ts'

export type ChecklistFinding = AnsweredFinding & { readonly id: null }

export const finding = (
  severity: ChecklistFinding['severity'],
  section: string,
  { problem, evidence, fix }: { problem: string; evidence: string; fix: string },
): ChecklistFinding => ({ id: null, severity, section, problem, evidence, fix })

export const atLine = (number: number, raw: string): string => `Line ${number}: ${quote(raw)}`

const longest = 120

/** Enough of a line to know it again. */
export function quote(raw: string): string {
  const text = raw
    .slice(0, 400)
    .replace(/[^\P{C}\t]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

/** The first of what was found, and how many more there are, so that a list stays readable. */
export function firstOf<T>(found: readonly T[], most: number): { shown: readonly T[]; more: readonly T[] } {
  return found.length <= most + 1
    ? { shown: found, more: [] }
    : { shown: found.slice(0, most), more: found.slice(most) }
}
