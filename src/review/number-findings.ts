import { type AnsweredFinding, type EarlierFinding, type Finding, severities } from '../schemas/review.ts'
import { isSameLocation, matchEarlierId, similarity } from './findings.ts'

export type ToNumber = {
  readonly answered: readonly AnsweredFinding[]
  /** Those that were open after the last review. */
  readonly earlier: readonly Finding[]
  /** What the reviewer says has become of them. */
  readonly statuses: readonly EarlierFinding[]
  /** The highest number that this cycle has given out. */
  readonly lastId: number
}

type Numbered = { readonly findings: readonly Finding[]; readonly lastId: number }

/**
 * `F1`, `F2`, …: the same for as long as a finding lives, and never again for another one of the cycle. The reviewer may
 * name an earlier finding; where it does not, the same problem in the same place keeps its id. An id that it made up
 * counts for nothing.
 */
export function numberFindings({ answered, earlier, statuses, lastId }: ToNumber): Numbered {
  const known = new Set(earlier.map(({ id }) => id))
  const distinct = withoutTwins(answered.map((finding) => ({ ...finding, id: matchEarlierId(finding.id, known) })))
  const taken = new Set(distinct.map(({ id }) => id))
  let last = Math.max(lastId, ...earlier.map(({ id }) => numberIn(id)))
  const findings = distinct.map((finding) => {
    const free = earlier.filter(({ id }) => !taken.has(id))
    const id = finding.id ?? sameAgain(finding, free, statuses) ?? `F${last + 1}`
    taken.add(id)
    last = Math.max(last, numberIn(id))
    return { ...finding, id }
  })
  return { findings, lastId: last }
}

/** Words that two problems in the same place must share, as `likeness` counts them, to be one. */
const thresholds = {
  /** Within one answer, where the reviewer meant them to be two. */
  twin: 0.8,
  /** Earlier and now: it is put in other words the second time. */
  open: 0.6,
  /** The same, but the reviewer says that the earlier one is settled. */
  settled: 0.85,
} as const

/** No reviewer has more to say that is worth comparing, and a hostile one must not take the time of the hook. */
const mostCompared = 50

function withoutTwins(answered: readonly AnsweredFinding[]): readonly AnsweredFinding[] {
  const kept: AnsweredFinding[] = []
  for (const finding of answered) {
    const twin = kept.slice(0, mostCompared).findIndex((other) => isTwin(other, finding))
    const first = kept[twin]
    // One id for two problems: it stays with the one that came first.
    const other = kept.some(({ id }) => id === finding.id) ? { ...finding, id: null } : finding
    if (first === undefined) kept.push(other)
    else kept[twin] = merged(first, other)
  }
  return kept
}

const isTwin = (a: AnsweredFinding, b: AnsweredFinding): boolean =>
  (a.id === null || b.id === null || a.id === b.id) &&
  isSameLocation(a.section, b.section) &&
  similarity(a.problem, b.problem) >= thresholds.twin

const merged = (first: AnsweredFinding, second: AnsweredFinding): AnsweredFinding => ({
  ...first,
  id: first.id ?? second.id,
  severity:
    severities.find((severity) => severity === first.severity || severity === second.severity) ?? first.severity,
})

function sameAgain(
  finding: AnsweredFinding,
  free: readonly Finding[],
  statuses: readonly EarlierFinding[],
): string | undefined {
  const alike = free
    .slice(0, mostCompared)
    .filter(({ section }) => isSameLocation(section, finding.section))
    .map(({ id, problem }) => ({ id, likeness: similarity(problem, finding.problem) }))
    .filter((other) => other.likeness >= thresholds[isSettled(other.id, statuses) ? 'settled' : 'open'])
  return alike.sort((a, b) => b.likeness - a.likeness)[0]?.id
}

const isSettled = (id: string, statuses: readonly EarlierFinding[]): boolean =>
  statuses.some((entry) => entry.id === id && entry.status !== 'not_fixed')

const numberIn = (id: string): number => Number(/^F(\d{1,9})$/.exec(id)?.[1] ?? 0)
