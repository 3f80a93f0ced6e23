import { type Finding, severities } from '../schemas/review.ts'

/** `1 critical, 2 major`; 'no findings' where there are none. */
export function countSeverities(findings: readonly Pick<Finding, 'severity'>[]): string {
  const counts = severities.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity}`]
  })
  return counts.join(', ') || 'no findings'
}

/** The most severe first; otherwise in their order. */
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
