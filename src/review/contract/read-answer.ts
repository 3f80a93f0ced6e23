import type { ReviewerAnswer } from '../../schemas/review-result.ts'
import { findObjects, type Span } from './find-objects.ts'
import { findQuotation, parseRecord } from './find-quotation.ts'
import { hasDuplicateKey } from './has-duplicate-key.ts'
import { judgeAnswer } from './judge-answer.ts'
import { normaliseAnswer } from './normalise-answer.ts'
import type { JsonRecord } from './record.ts'

export type ReadAnswer =
  | { readonly kind: 'valid'; readonly answer: ReviewerAnswer; readonly note: string | null }
  | { readonly kind: 'malformed'; readonly why: string }

/**
 * The answer of a reviewer in what it wrote. `reviewed` is what it was given to review, and not what a pass before it
 * said: an object that stands there is not its verdict. Where more than one reading is possible there is none, since a
 * review that is asked for again costs less than an approval that nobody gave.
 */
export function readAnswer(text: string, { reviewed }: { readonly reviewed: readonly string[] }): ReadAnswer {
  const trimmed = text.replace(/^\ufeff/, '').trim()
  if (trimmed.length < leastCharacters)
    return malformed(trimmed === '' ? 'The answer is empty.' : 'The answer is too short.')
  const found = findCandidates(trimmed)
  if (found.candidates.length > mostCandidates)
    return malformed('The answer has more verdicts than anybody could mean.')
  const isQuotation = findQuotation(reviewed)
  const broken = found.broken.filter((json) => !isQuotation(json, null))
  if (broken.length > 0) return malformed('The answer has an object with a verdict that is no valid JSON.')
  const own = found.candidates.filter(({ json, value }) => !isQuotation(json, value))
  const last = own.at(-1)
  if (last === undefined)
    return malformed(
      found.candidates.length > 0
        ? 'The only verdict in the answer is a quotation of what was reviewed.'
        : 'The answer has no JSON object with a verdict.',
    )
  return settle(last, own, found.whole)
}

const leastCharacters = 20
/** Each one is looked for in what was reviewed. */
const mostCandidates = 20

const malformed = (why: string): ReadAnswer => ({ kind: 'malformed', why })

type Candidate = { readonly json: string; readonly value: JsonRecord }
type Candidates = {
  /** Whether the answer is one object and nothing else. */
  readonly whole: boolean
  readonly candidates: readonly Candidate[]
  /** What tells a verdict and cannot be read. */
  readonly broken: readonly string[]
}

function findCandidates(text: string): Candidates {
  const value = parseRecord(text)
  if (value !== null) {
    const candidates = Object.hasOwn(value, 'verdict') ? [{ json: text, value }] : []
    return { whole: true, candidates, broken: [] }
  }
  const { whole, unfinished } = findObjects(text)
  const candidates: Candidate[] = []
  const broken = unfinished.map((span) => sliceOf(text, span)).filter((json) => tellsVerdict.test(json))
  for (const json of whole.map((span) => sliceOf(text, span)).filter(mayTellVerdict)) {
    const value = parseRecord(json)
    if (value === null && tellsVerdict.test(json)) broken.push(json)
    if (value !== null && Object.hasOwn(value, 'verdict')) candidates.push({ json, value })
    if (candidates.length + broken.length > mostCandidates) break
  }
  return { whole: false, candidates, broken }
}

const sliceOf = (text: string, { start, end }: Span): string => text.slice(start, end)

const mayTellVerdict = (json: string): boolean => json.includes('verdict') || json.includes('\\u')
const tellsVerdict = /verdict\\?["']?\s*:/

function settle(last: Candidate, own: readonly Candidate[], whole: boolean): ReadAnswer {
  for (const { json, value } of own) {
    if (hasDuplicateKey(json)) return malformed('The answer has one key twice, so nobody knows which one counts.')
    const judged = judgeAnswer(value)
    if (judged.kind === 'broken') return malformed(`The answer does not keep to its form: ${judged.why}`)
    if (value.verdict !== last.value.verdict)
      return malformed('The answer has several verdicts, and they do not agree.')
    if (value !== last.value) continue
    const { answer, note } = normaliseAnswer(value, judged.verdict)
    const notes = [...(whole ? [] : ['The answer stood in other text.']), ...(note === null ? [] : [note])]
    return { kind: 'valid', answer, note: notes.length === 0 ? null : notes.join(' ') }
  }
  return malformed('The answer has no JSON object with a verdict.')
}
