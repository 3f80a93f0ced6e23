import type { LedgerEvent } from '../schemas/records.ts'
import { type AnsweredFinding, type EarlierFinding, type Finding, severities } from '../schemas/review.ts'

export type ToNumber = {
  readonly answered: readonly AnsweredFinding[]
  /** Open after the last review. */
  readonly earlier: readonly Finding[]
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

/** `1 critical, 2 major`; 'no findings' where there are none. */
export function countSeverities(findings: readonly Pick<Finding, 'severity'>[]): string {
  const counts = severities.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity}`]
  })
  return counts.join(', ') || 'no findings'
}

export const bySeverity = <F extends Pick<Finding, 'severity'>>(findings: readonly F[]): readonly F[] =>
  severities.flatMap((severity) => findings.filter((finding) => finding.severity === severity))

/** `U1`: the user's own, which no reviewer can reject or withdraw. */
export const isUsers = ({ id }: Pick<Finding, 'id'>): boolean => /^U\d{1,9}$/.test(id)

export const isBlocking = ({ severity }: Pick<Finding, 'severity'>): boolean =>
  severity === 'critical' || severity === 'major'

/**
 * The similarity of two descriptions of a problem, from 0 to 1, by their shared words; 0 for two that name different
 * files, functions or numbers.
 */
export function similarity(a: string, b: string): number {
  const [one, other] = [readWords(a), readWords(b)]
  const smaller = Math.min(one.names.size, other.names.size)
  if (smaller > 0 && shared(one.names, other.names) / smaller <= 0.5) return 0
  const all = one.words.size + other.words.size
  return all === 0 ? Number(a.trim() === b.trim()) : (2 * shared(one.words, other.words)) / all
}

export const isGraver = (one: Pick<Finding, 'severity'>, other: Pick<Finding, 'severity'>): boolean =>
  severities.indexOf(one.severity) < severities.indexOf(other.severity)

/** Each character of a script without spaces counts as a word. */
export const wordsIn = (text: string): readonly string[] =>
  text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu) ?? []

/** Longer descriptions identify the problem no better. */
const maxComparedLength = 3000

function readWords(text: string): { words: ReadonlySet<string>; names: ReadonlySet<string> } {
  const start = text.slice(0, maxComparedLength).replace(/:\d+\b/g, '')
  const words = wordsIn(start).filter((word) => word.length > 2 || /\d|[^\p{Script=Latin}]/u.test(word))
  return { words: new Set(words), names: new Set(namesIn(start)) }
}

/** Words that look like code: with a path, an underscore, a digit or a capital in the middle. */
const namesIn = (text: string): readonly string[] =>
  text
    .split(/[\s`"'(),;\u201c\u201d]+/)
    .map((word) => word.replace(/[.:!?]+$/, ''))
    .filter((word) => /\w[/_.]\w|\d|[a-z][A-Z]/.test(word))
    .map((word) => word.replace(/^\.\//, '').toLowerCase())

/**
 * Whether a description is about the changed lines: it has a name of theirs, or words that the other lines lack. A word of
 * a script without spaces is one character here, and says less.
 */
export function isAboutLines(description: string, changed: readonly string[], others: readonly string[]): boolean {
  const { words, names } = readWords(description)
  if (changed.some((line) => namesIn(line).some((name) => names.has(name)))) return true
  const known = new Set(others.flatMap(wordsIn))
  const moved = new Set(changed.flatMap(wordsIn).filter((word) => words.has(word) && !known.has(word)))
  const weight = [...moved].reduce((sum, word) => sum + (word.length > 4 ? 2 : Number(word.length === 1)), 0)
  return weight >= 2
}

const shared = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  let count = 0
  for (const word of a) if (b.has(word)) count += 1
  return count
}

/** The known id that a reviewer means; null for none. Models write ` f3` and `[F3]` for F3. */
export function matchEarlierId(written: string | null, known: ReadonlySet<string>): string | null {
  const id = /^\W{0,3}([FU]\d{1,9})\W{0,3}$/i.exec(written ?? '')?.[1]?.toUpperCase() ?? null
  return id !== null && known.has(id) ? id : null
}

/** Without marks, leading numbers and case: `## 2. Changes:` is `changes`. */
export const plainTitle = (title: string): string =>
  title
    .slice(0, 500)
    .toLowerCase()
    .replace(/[`*_"'\u201c\u201d]/g, '')
    .replace(/^[\s#\u00a7]+/, '')
    .replace(/^\d{1,3}(?:[.)]\d{1,3})*[.)]?\s+/, '')
    .replace(/^section\s+/, '')
    .replace(/[\s:.,]+$/, '')
    .replace(/\s+/g, ' ')

/** `start` ends at the end of a word. */
export const beginsWith = (text: string, start: string): boolean =>
  text.startsWith(start) && /^[^\p{L}\p{N}]/u.test(text.slice(start.length))

/** Ignores line numbers, since the line may have moved. */
export function isSameLocation(a: string, b: string): boolean {
  const [one, other] = [plainTitle(withoutLine(a)), plainTitle(withoutLine(b))]
  return one === other || beginsWith(one, other) || beginsWith(other, one)
}

const withoutLine = (section: string): string => section.slice(0, 500).replace(/:\d+(?:[-:,]\d+)*\s*$/, '')

type Looked = {
  readonly route?: string | null
  readonly model?: string | null
  readonly passes?: number
  readonly verification?: string | null
  readonly repository?: boolean
  /** Those who have read it as well. */
  readonly readers?: readonly string[]
}

/** `codex (gpt-5.2) and claude, 3 passes, verified, with the repository`. Older records say less. */
export function describeReviewer({ route, model, passes, verification, repository, readers = [] }: Looked): string {
  const isVerified = verification === 'passed'
  return [
    listOf([`${route ?? 'unknown'}${model ? ` (${model})` : ''}`, ...readers]),
    ...(passes === undefined ? [] : [passes === 1 ? 'a single pass' : `${passes} passes`]),
    ...(isVerified ? ['verified'] : passes === undefined && verification == null ? [] : ['not verified']),
    ...(repository === undefined ? [] : [repository ? 'with the repository' : 'without the repository']),
  ].join(', ')
}

const listOf = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** Who has concluded something beside the row that led. */
export const otherReaders = ({
  route,
  readers = [],
}: {
  readonly route: string
  readonly readers?: readonly { readonly name: string; readonly verdict: string | null }[]
}): readonly string[] => readers.flatMap(({ name, verdict }) => (verdict === null || name === route ? [] : [name]))

/** `, found by claude and codex`; '' where a single reader has looked. */
export const foundBy = ({ sources = [] }: { readonly sources?: readonly string[] }): string =>
  sources.length === 0 ? '' : `, found by ${listOf(sources)}`

/** `$0.04`, or `less than $0.01`. */
export const formatDollars = (dollars: number): string =>
  dollars > 0 && dollars < 0.01 ? 'less than $0.01' : `$${dollars.toFixed(2)}`

export type UserComment = {
  readonly id: string
  readonly section: string
  /** `docs/plan.md:12`, or `revision 2, line 12`; '' for the plan as a whole. */
  readonly place: string
  readonly quote: string
  readonly text: string
}

/** `revision`: the last one that had been reviewed then; 0: none. */
export type UserFinding = { readonly revision: number; readonly finding: Finding }

export function userFindingsIn(event: LedgerEvent): readonly UserFinding[] {
  const source = event.only_user === true ? damagedLedger : 'the user'
  return commentsIn(event).map((comment) => ({
    revision: Number(event.revision) || 0,
    finding: toFinding(comment, source),
  }))
}

export const commentsIn = (event: LedgerEvent): readonly UserComment[] =>
  event.type === 'changes-requested' && Array.isArray(event.findings) ? event.findings.filter(isComment) : []

/** Who found what only the user can settle. */
export const damagedLedger = 'the damaged ledger'

/** The ledger can be edited. */
const isComment = (value: Partial<UserComment> | null): value is UserComment =>
  [value?.section, value?.place, value?.quote, value?.text].every((each) => typeof each === 'string') &&
  isUsers({ id: String(value?.id) })

/** It holds the plan until the reviewer says that it is fixed, or the user takes it back. */
const toFinding = ({ id, section, place, quote, text }: UserComment, source: string): Finding => ({
  id,
  severity: 'major',
  section,
  problem: text,
  evidence: quote === '' ? place : `${place} “${quote}”`.trim(),
  fix: '',
  sources: [source],
})
