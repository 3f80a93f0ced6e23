import { type AnsweredFinding, type EarlierFinding, type Finding, severities } from '../schemas/review.ts'
import { isSameLocation, isUsers, matchEarlierId, similarity } from './findings.ts'

export type ToNumber = {
  readonly answered: readonly AnsweredFinding[]
  /** Open after the last review. */
  readonly earlier: readonly Finding[]
  /** What the reviewer says about them. */
  readonly statuses: readonly EarlierFinding[]
  /** The highest number of this cycle. */
  readonly lastId: number
}

type Numbered = { readonly findings: readonly Finding[]; readonly lastId: number }

/**
 * `F1`, `F2`, …: stable while a finding is open, and never reused in a cycle. The reviewer may name an earlier finding;
 * otherwise the same problem in the same location keeps its id. An id that the reviewer made up is ignored.
 */
export function numberFindings({ answered, earlier, statuses, lastId }: ToNumber): Numbered {
  const known = new Set(earlier.map(({ id }) => id))
  const distinct = withoutDuplicates(answered.map((finding) => ({ ...finding, id: matchEarlierId(finding.id, known) })))
  const taken = new Set(distinct.map(({ id }) => id))
  let last = Math.max(lastId, ...earlier.map(({ id }) => numberIn(id)))
  const findings = distinct.map((finding) => {
    // What the user wrote is never taken for what the reviewer has found.
    const free = earlier.filter((other) => !taken.has(other.id) && !isUsers(other))
    const id = finding.id ?? similarEarlierId(finding, free, statuses) ?? `F${last + 1}`
    taken.add(id)
    last = Math.max(last, numberIn(id))
    return { ...finding, id }
  })
  return { findings, lastId: last }
}

/** The similarity from which two problems in the same location are one. */
const thresholds = {
  /** Within one answer, where the reviewer reported two. */
  duplicate: 0.8,
  /** Earlier and now: models rephrase. */
  open: 0.6,
  /** Earlier and now, where the reviewer calls the earlier one fixed or rejected. */
  closed: 0.85,
} as const

/** Bounds the time that a hostile answer can take. */
const maxCompared = 50

/** Those of the second reader that the first one did not report. */
export const uniteFindings = (
  first: readonly AnsweredFinding[],
  second: readonly AnsweredFinding[],
): readonly AnsweredFinding[] => withoutDuplicates([...first, ...second])

function withoutDuplicates(answered: readonly AnsweredFinding[]): readonly AnsweredFinding[] {
  const kept: AnsweredFinding[] = []
  for (const finding of answered) {
    const duplicate = kept.slice(0, maxCompared).findIndex((other) => isDuplicate(other, finding))
    const first = kept[duplicate]
    // One id for two problems stays with the first.
    const other = kept.some(({ id }) => id === finding.id) ? { ...finding, id: null } : finding
    if (first === undefined) kept.push(other)
    else kept[duplicate] = merged(first, other)
  }
  return kept
}

const isDuplicate = (a: AnsweredFinding, b: AnsweredFinding): boolean =>
  (a.id === null || b.id === null || a.id === b.id) &&
  isSameLocation(a.section, b.section) &&
  similarity(a.problem, b.problem) >= thresholds[areOfOne(a, b) ? 'duplicate' : 'open']

/** Of one answer: two readers word the same problem differently, and one reader words two problems alike. */
const areOfOne = ({ sources: a }: AnsweredFinding, { sources: b }: AnsweredFinding): boolean =>
  a === undefined || b === undefined || a.some((source) => b.includes(source))

/** The one of them that is meant, as models rephrase; undefined for none. */
export const sameFinding = (finding: AnsweredFinding, among: readonly AnsweredFinding[]): AnsweredFinding | undefined =>
  among.find(({ id }) => id !== null && id === finding.id) ??
  among
    .slice(0, maxCompared)
    .find(
      ({ section, problem }) =>
        isSameLocation(section, finding.section) && similarity(problem, finding.problem) >= thresholds.open,
    )

const merged = (first: AnsweredFinding, second: AnsweredFinding): AnsweredFinding => ({
  ...first,
  ...sourcesOf([first, second]),
  id: first.id ?? second.id,
  severity:
    severities.find((severity) => severity === first.severity || severity === second.severity) ?? first.severity,
})

function sourcesOf(findings: readonly AnsweredFinding[]): Pick<AnsweredFinding, 'sources'> {
  const sources = [...new Set(findings.flatMap(({ sources = [] }) => sources))]
  return sources.length === 0 ? {} : { sources }
}

function similarEarlierId(
  finding: AnsweredFinding,
  free: readonly Finding[],
  statuses: readonly EarlierFinding[],
): string | undefined {
  const candidates = free
    .slice(0, maxCompared)
    .filter(({ section }) => isSameLocation(section, finding.section))
    .map(({ id, problem }) => ({ id, score: similarity(problem, finding.problem) }))
    .filter((other) => other.score >= thresholds[isClosed(other.id, statuses) ? 'closed' : 'open'])
  return candidates.sort((a, b) => b.score - a.score)[0]?.id
}

const isClosed = (id: string, statuses: readonly EarlierFinding[]): boolean =>
  statuses.some((entry) => entry.id === id && entry.status !== 'not_fixed')

const numberIn = (id: string): number => Number(/^F(\d{1,9})$/.exec(id)?.[1] ?? 0)
