import { type ReviewerAnswer, type Verdict, verdicts } from '../schemas/review.ts'
import { cleanLine } from '../text/clean.ts'
import { type JsonRecord, parseRecord, readJsonStrings } from '../text/json.ts'
import { normaliseAnswer, severityOf } from './normalise-answer.ts'

export type ProseVerdict = 'PASS' | 'FAIL' | 'UNCERTAIN'

/**
 * The verdict of a review in prose, from its first five lines. "Verdict: PASS" takes precedence over a line that begins
 * with the word, and that over the word in capitals further on; where the clearest ones differ, it is UNCERTAIN.
 */
export function parseVerdict(text: string): ProseVerdict {
  const lines = text
    .slice(0, 50_000)
    .trim()
    .split(/\r\n?|\n/, 5)
    .map(plain)
  for (const patterns of [declared, leading, mentioned]) {
    const found = new Set(lines.flatMap((line) => patterns.flatMap((pattern) => verdictsIn(line, pattern))))
    const [only] = found
    if (only !== undefined) return found.size === 1 ? only : 'UNCERTAIN'
  }
  return 'UNCERTAIN'
}

/** A line without what Markdown, tables, JSON and emoji put around its words. */
const plain = (line: string): string =>
  line
    .slice(0, 2000)
    .replace(/[*`~"“”{}[\]()|#>]|(?<!\w)['’_]+|['’_]+(?!\w)|\p{Extended_Pictographic}|\ufe0f/gu, ' ')
    .replace(/^\s*(?:[-+•–—]|\d{1,3}[.)])\s/, ' ')
    .replace(/\s+/g, ' ')
    .trim()

const anyCase = '(pass|fail|uncertain)(?!\\w|-\\w)'
const capitals = '(PASS|FAIL|UNCERTAIN)(?!\\w|-\\w)'

const declared = [
  new RegExp(
    `\\b(?:verdict|result|status|outcome|assessment|conclusion|decision)(?: is)?(?: a)? ?[:=–—-]? ?${anyCase}`,
    'gi',
  ),
]

const leading = [
  new RegExp(`^${capitals}`, 'g'),
  // With punctuation, since "Pass the token on" is an instruction to the author.
  /^(Pass|Fail|Uncertain)(?=[:.!,]| [–—-] )/g,
  new RegExp(`^${anyCase}[.!:]?$`, 'gi'),
]

/** About the whole review, unlike "All tests PASS". */
const mentioned = [new RegExp(`(?:\\b(?:is|as|an?|overall)|[:;,.=→–—-]) ${capitals}`, 'g')]

function verdictsIn(line: string, pattern: RegExp): ProseVerdict[] {
  return [...line.matchAll(pattern)].flatMap((match): ProseVerdict[] => {
    const before = line.slice(0, match.index + match[0].search(/\S+$/))
    const after = line.slice(match.index + match[0].length)
    if (negation.test(before) || openEnd.test(after)) return []
    return verdictNames.filter((name) => name === match[1]?.toUpperCase())
  })
}

const verdictNames = ['PASS', 'FAIL', 'UNCERTAIN'] as const
const negation = /\b(?:no|not|never|without|cannot|\w+n['’]t|neither|nor|hardly)(?: \w+){0,2} ?$/i

/** An open choice, or a condition that is not met yet. */
const openEnd =
  /^ ?(?:\/|,? ?or\b|,? ?(?:pass|fail|uncertain)\b)|^,? (?:only )?(?:if|once|unless|when|after|provided)\b/i

export type ReadAnswer =
  | { readonly kind: 'valid'; readonly answer: ReviewerAnswer; readonly note: string | null }
  | { readonly kind: 'malformed'; readonly why: string }

/**
 * The JSON answer in the text of a reviewer. An object that also stands in `reviewed`, the material under review, is a
 * quotation and not its verdict. An ambiguous text has no answer: another review costs less than a false approval.
 */
export function readAnswer(text: string, { reviewed }: { readonly reviewed: readonly string[] }): ReadAnswer {
  const trimmed = text.replace(/^\ufeff/, '').trim()
  if (trimmed.length < minLength) return malformed(trimmed === '' ? 'The answer is empty.' : 'The answer is too short.')
  const found = findCandidates(trimmed)
  if (found.candidates.length > maxCandidates) return malformed('The answer has too many verdicts.')
  const isQuotation = findQuotation(reviewed)
  const broken = found.broken.filter(({ json }) => !isQuotation(json, null))
  if (broken.length > 0) return malformed('The answer has an object with a verdict that is not valid JSON.')
  const own = found.candidates.filter(({ json, value }) => !isQuotation(json, value))
  const last = own.at(-1)
  if (last === undefined)
    return malformed(
      found.candidates.length > 0
        ? 'The only verdict in the answer is a quotation of what was reviewed.'
        : 'The answer has no JSON object with a verdict.',
    )
  const read = readCandidates(last, own, found.whole)
  if (read.kind === 'malformed') return read
  // Beside an approval, what is quoted counts as well.
  const { verdict } = read.answer
  const around = textAround(trimmed, verdict === 'APPROVED' ? own : [...found.candidates, ...found.broken])
  if (contradicts(verdict, around)) return malformed('The text around the answer has another verdict than the answer.')
  // What a model goes on to think about was a draft, whatever its tags are called; a fence may still close.
  return verdict === 'APPROVED' && /[^\s`~>*_|]/.test(trimmed.slice(last.end))
    ? malformed('The answer goes on after its approval.')
    : read
}

function textAround(text: string, spans: readonly Span[]): string {
  const sorted = spans.toSorted((one, other) => one.start - other.start)
  return [...sorted, { start: text.length, end: text.length }]
    .map(({ start }, index) => text.slice(sorted[index - 1]?.end ?? 0, start))
    .join('\n\n')
}

const minLength = 20

/** Each one is searched for in the material under review. */
const maxCandidates = 20
const malformed = (why: string): ReadAnswer => ({ kind: 'malformed', why })

type Fragment = Span & { readonly json: string }
type Candidate = Fragment & { readonly value: JsonRecord }

type Candidates = {
  readonly whole: boolean
  readonly candidates: readonly Candidate[]
  readonly broken: readonly Fragment[]
}

function findCandidates(text: string): Candidates {
  const value = parseRecord(text)
  if (value !== null) {
    const candidates = Object.hasOwn(value, 'verdict') ? [{ json: text, value, start: 0, end: text.length }] : []
    return { whole: true, candidates, broken: [] }
  }
  const { whole, unfinished } = findObjects(text)
  const candidates: Candidate[] = []
  const broken = unfinished.map((span) => fragmentOf(text, span)).filter(({ json }) => namesVerdict.test(json))
  for (const span of whole) {
    const fragment = fragmentOf(text, span)
    if (!mayNameVerdict(fragment.json)) continue
    const value = parseRecord(fragment.json)
    if (value === null && namesVerdict.test(fragment.json)) broken.push(fragment)
    if (value !== null && Object.hasOwn(value, 'verdict') && !isInList(text, span))
      candidates.push({ ...fragment, value })
    if (candidates.length + broken.length > maxCandidates) break
  }
  return { whole: false, candidates, broken }
}

const fragmentOf = (text: string, { start, end }: Span): Fragment => ({ start, end, json: text.slice(start, end) })
const mayNameVerdict = (json: string): boolean => json.includes('verdict') || json.includes('\\u')
const namesVerdict = /verdict\\?["']?\s*:/

function readCandidates(last: Candidate, own: readonly Candidate[], whole: boolean): ReadAnswer {
  for (const { json, value } of own) {
    if (hasDuplicateKey(json)) return malformed('The answer has one key twice, so it is ambiguous.')
    const checked = checkContract(value)
    if (checked.kind === 'broken') return malformed(`The answer does not keep to its form: ${checked.why}`)
    if (value.verdict !== last.value.verdict)
      return malformed('The answer has several verdicts, and they do not agree.')
    if (value !== last.value) continue
    const { answer, note } = normaliseAnswer(value, checked.verdict)
    const notes = [...(whole ? [] : ['The answer was embedded in other text.']), ...(note === null ? [] : [note])]
    return { kind: 'valid', answer, note: notes.length === 0 ? null : notes.join(' ') }
  }
  return malformed('The answer has no JSON object with a verdict.')
}

type ContractCheck =
  | { readonly kind: 'kept'; readonly verdict: Verdict }
  | { readonly kind: 'broken'; readonly why: string }

/** The contract of a review: fields may be missing, but must not contradict each other. */
function checkContract(value: JsonRecord): ContractCheck {
  const verdict = verdicts.find((known) => known === value.verdict)
  if (verdict === undefined)
    return broken(`its verdict is ${shown(value.verdict)}, which is none of ${verdicts.slice(0, 3).join(', ')}.`)
  // Only the configuration skips a review.
  if (verdict === 'SKIPPED') return broken('it skipped the review, which is not for the reviewer to decide.')
  if (Object.keys(value).length === 1) return broken('it has a verdict and nothing else.')
  if (Object.hasOwn(value, 'findings') && !Array.isArray(value.findings)) return broken('its findings are not a list.')
  const approved = verdict === 'APPROVED'
  const isOptimal = Object.hasOwn(value, 'is_optimal') ? value.is_optimal : null
  if (isOptimal !== null && isOptimal !== approved)
    return broken(`it says ${verdict}, and is_optimal is ${shown(isOptimal)}.`)
  const findings = Array.isArray(value.findings) ? (value.findings as readonly unknown[]) : []
  if (approved && findings.some((finding) => severityOf(finding) === 'critical'))
    return broken('it approves, and has a critical finding.')
  return { kind: 'kept', verdict }
}

const broken = (why: string): ContractCheck => ({ kind: 'broken', why })

const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  return typeof value === 'object' && value !== null ? 'no text' : String(value)
}

/**
 * Whether the text around an answer names another verdict. Beside an approval every ambiguity counts, since a false
 * approval opens the gate, and a false contradiction costs another review.
 */
function contradicts(verdict: Verdict, around: string): boolean {
  const prose = plainProse(around)
  if (verdict === 'APPROVED') return refusals.some((pattern) => pattern.test(prose))
  const names = ['APPROVED', 'CHANGES REQUIRED', 'DECISION NEEDED'].filter((name) => name !== verdict.replace('_', ' '))
  return [new RegExp(`\\b(?:${names.join('|')})\\b`, 'g'), declaredApproval].some((pattern) =>
    [...prose.matchAll(pattern)].some(({ index, 0: { length } }) => isClaim(prose, index, index + length)),
  )
}

/** Without Markdown and quotes, `CHANGES_REQUIRED` as two words; a sentence may go on in its next line. */
const plainProse = (text: string): string =>
  text
    .replace(/\p{Cf}/gu, '')
    .replaceAll('’', "'")
    .replace(/[*`~"“”|#>_{}()[\]\\-]+|\p{Extended_Pictographic}|\ufe0f/gu, ' ')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')

const refusals = [
  /(?<!\bno (?:further |more |other )?)\bchanges (?:(?:is|are) )?(?:required|needed|necessary|requested)\b/i,
  /\b(?:needs?|requires?|request(?:ed|s|ing)?) (?!no )(?:\w+ )?changes\b/i,
  /\bdecision (?:is )?needed\b|\bskipped\b|\breject|\bdisapprov|\bunapproved\b|\bveto|\bwithh[eo]ld/i,
  /(?:\b(?:not|cannot|never|unable|neither|nor|without|hardly|once|if|unless|until)|n't),?(?:[ \n](?!(?:so|and|but|therefore|thus|hence|which)\b)[^\s.;:!?]+){0,8}[ \n](?:approv|accept|endors|ready\b|optimal\b|pass\b)/i,
  /\b(?:no approv|(?:would|could|might) (?:\w+ )?approv|i refuse)|\bnever(?: \w+){0,2} approv/i,
  /\bapprov\w*(?: [\w']+){0,3} (?:not|denied|withheld|refused|pending|once|if|only|unless|until|provided|subject|conditional\w*)\b/i,
  /\b(?:approv\w*|is optimal) ?[:=]? ?(?:is )?(?:false|denied|refused)\b|\bapprov\w* ?[:=] ?no\b/i,
  /\b(?:FAIL(?:S|ED)?|UNCERTAIN)\b/,
  /^(?:fail|uncertain|refused|declined)(?:[.:!,]|$| [–—])/im,
  /\b(?:verdict|result|status|outcome|assessment|conclusion|decision)(?: is)?(?: an?)?[ :=–—]{1,3}(?:fail|uncertain|no\b|negative|refus|revis|block)/i,
  /\bverdict ?[:=–—] ?(?!approv|pass\b)\p{L}/iu,
]

const declaredApproval = /\bverdict(?: is)?(?: an?)?[ :=–—]{1,3}(?:approved?|pass)\b/gi

function isClaim(prose: string, start: number, end: number): boolean {
  const isNegated = /\b(?:no|not|never|without|cannot|neither|nor|hardly|\w+n't)(?:[ \n]\w+){0,2}[ \n]?$/i
  const isOpen = /^ ?(?:\/|,? ?or\b)|^,? (?:only )?(?:if|once|unless|when|after|provided)\b/i
  return !isNegated.test(prose.slice(Math.max(0, start - 60), start)) && !isOpen.test(prose.slice(end, end + 20))
}

/** Offsets: from the opening brace to behind the closing one. */
type Span = { readonly start: number; readonly end: number }

/** `unfinished`: from an object that never ends to the end of its part. */
type Objects = { readonly whole: readonly Span[]; readonly unfinished: readonly Span[] }

/**
 * The objects in a text that may contain prose, in one pass: braces are matched by a stack, and strings count only
 * inside of braces, where they end with their line, as JSON's do.
 */
export function findObjects(text: string): Objects {
  const whole: Span[] = []
  const unfinished: Span[] = []
  for (const part of betweenFences(text)) {
    const found = scan(text, part)
    for (const span of found.whole) whole.push(span)
    unfinished.push(...found.unfinished)
  }
  return { whole, unfinished }
}

/** No object crosses the edge of a fenced block, so that a stray brace in the prose before it has no effect. */
function betweenFences(text: string): Span[] {
  const parts: Span[] = []
  let start = 0
  for (const { index, 0: line } of text.matchAll(/^[ \t>]*(?:`{3,}|~{3,})[^`{}\n]*$/gm)) {
    parts.push({ start, end: index })
    start = index + line.length
  }
  return [...parts, { start, end: text.length }]
}

/** Of `{"verdict":""}`. */
const minObjectLength = 14

function scan(text: string, { start, end }: Span): Objects {
  const whole: Span[] = []
  const open: number[] = []
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === quote && open.length > 0) at = endOfString(text, at, end)
    else if (code === opening) open.push(at)
    else if (code === closing) close(whole, open.pop(), at + 1)
  }
  // An unclosed brace in prose hides nothing; an object that breaks off hides the objects in it.
  const broken = open.find((at) => beginsObject(text, at))
  if (broken === undefined) return { whole, unfinished: [] }
  return { whole: whole.filter((span) => span.start < broken), unfinished: [{ start: broken, end }] }
}

function endOfString(text: string, from: number, end: number): number {
  for (let at = from + 1; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === quote || code === lineFeed) return at
    if (code === backslash && text.charCodeAt(at + 1) !== lineFeed) at++
  }
  return end
}

function close(whole: Span[], start: number | undefined, end: number): void {
  if (start === undefined) return
  while ((whole.at(-1)?.start ?? -1) > start) whole.pop()
  if (end - start >= minObjectLength) whole.push({ start, end })
}

const beginsObject = (text: string, at: number): boolean => {
  const begin = /\{\s*(?:["']|[\w$]{1,40}\s*:)/y
  begin.lastIndex = at
  return begin.test(text)
}

/** Whether an object is an element of a list of JSON, which may break off; prose has brackets and commas, too. */
function isInList(text: string, { start, end }: Span): boolean {
  const before = text.slice(0, start).trimEnd()
  const followsElement = before.endsWith(',') && /[}\]"]$/.test(before.slice(0, -1).trimEnd().slice(-1))
  return before.endsWith('[') || followsElement || text.slice(end).trimStart().startsWith(']')
}

/**
 * Whether an object of the answer also stands in the material under review, so that the reviewer may only quote it.
 * Ignores white space, the prefixes of diffs and quotations, and the escapes of string literals.
 */
function findQuotation(reviewed: readonly string[]): (json: string, value: JsonRecord | null) => boolean {
  const variants = [...new Set(reviewed.filter(mayHoldVerdict).flatMap(variantsOf))]
  const packed = variants.map(withoutSpaces)
  const answers = new Set(variants.flatMap(answersIn))
  return (json, value) =>
    packed.some((text) => text.includes(withoutSpaces(json))) || (value !== null && answers.has(meaningOf(value)))
}

/** A verdict, or an escaped one. */
const mayHoldVerdict = (text: string): boolean => text.includes('verdict') || text.includes('\\u00')

const variantsOf = (text: string): string[] => {
  const unprefixed = text.replace(/^[-+>|#*/ \t]+/gm, '')
  return [text, unprefixed, unescaped(text), unescaped(unprefixed)]
}

const unescaped = (text: string): string => text.replace(/\\(?:[nrt]|(["'\\/]))/g, '$1')
const withoutSpaces = (text: string): string => text.replace(/\s+/g, '')

const answersIn = (text: string): string[] =>
  findObjects(text).whole.flatMap(({ start, end }) => {
    const value = parseRecord(text.slice(start, end))
    return value !== null && Object.hasOwn(value, 'verdict') ? [meaningOf(value)] : []
  })

/** Equal for answers that differ only in the order of keys or in unknown keys. */
const meaningOf = (value: JsonRecord): string =>
  JSON.stringify([cleanLine(value.verdict, 40), normaliseAnswer(value, 'APPROVED').answer])

/** Escapes are read: `"\u0076erdict"` is a verdict as well. */
function hasDuplicateKey(json: string): boolean {
  const names = readJsonStrings(json).flatMap(({ isName, level, text }) => (isName ? [`${level} ${text}`] : []))
  return new Set(names).size < names.length
}

const [quote, backslash, lineFeed, opening, closing] = [34, 92, 10, 123, 125]
