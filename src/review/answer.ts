import {
  type AnsweredFinding,
  type EarlierFinding,
  type ReviewerAnswer,
  type Severity,
  severities,
  type Verdict,
  verdicts,
} from '../schemas/review.ts'
import { cleanLine, cleanText } from '../text/clean.ts'
import { findObjects, findQuotation, hasDuplicateKey, parseRecord, type Span } from './find-objects.ts'

export type ProseVerdict = 'PASS' | 'FAIL' | 'UNCERTAIN'

/**
 * The verdict of a review in prose, from its first five lines. "Verdict: PASS" counts before a line that begins with
 * the word, and that before the word in capitals further on; where the clearest ones differ, nothing is certain.
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

const any = '(pass|fail|uncertain)(?!\\w|-\\w)'

const capitals = '(PASS|FAIL|UNCERTAIN)(?!\\w|-\\w)'

const declared = [
  new RegExp(
    `\\b(?:verdict|result|status|outcome|assessment|conclusion|decision)(?: is)?(?: a)? ?[:=–—-]? ?${any}`,
    'gi',
  ),
]

const leading = [
  new RegExp(`^${capitals}`, 'g'),
  // With a sign behind it, since "Pass the token on" tells the author what to do.
  /^(Pass|Fail|Uncertain)(?=[:.!,]| [–—-] )/g,
  new RegExp(`^${any}[.!:]?$`, 'gi'),
]

/** Said of the whole: "All tests PASS" is not. */
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

/** A choice that the reviewer did not make, or a condition that is not met yet. */
const openEnd =
  /^ ?(?:\/|,? ?or\b|,? ?(?:pass|fail|uncertain)\b)|^,? (?:only )?(?:if|once|unless|when|after|provided)\b/i

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

export const [quote, backslash, lineFeed, opening, closing] = [34, 92, 10, 123, 125]

const longest = { summary: 8000, question: 4000, context: 100_000, id: 60, reason: 2000 } as const

const mostFindings = 200

type Normalised = { readonly answer: ReviewerAnswer; readonly note: string | null }

/** What a reviewer said, in our words and within bounds. That it keeps the contract is looked at elsewhere. */
export function normaliseAnswer(value: JsonRecord, verdict: Verdict): Normalised {
  const { findings, note } = findingsOf(value.findings)
  const answer: ReviewerAnswer = {
    verdict,
    summary: cleanText(pick(value, ['summary', 'overview', 'overall', 'explanation']), longest.summary),
    question: cleanText(pick(value, ['question', 'questions']), longest.question) || null,
    findings,
    previous_findings: earlierOf(value.previous_findings),
    context_summary: cleanText(pick(value, ['context_summary']), longest.context) || null,
    complexity: complexityOf(value.complexity),
  }
  return { answer, note }
}

/** Where there are too many, the most severe ones are kept. */
function findingsOf(value: unknown): { readonly findings: readonly AnsweredFinding[]; readonly note: string | null } {
  const given = Array.isArray(value) ? value.map(normaliseFinding).filter((finding) => finding !== null) : []
  if (given.length <= mostFindings) return { findings: given, note: null }
  const ordered = [...given].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  return {
    findings: ordered.slice(0, mostFindings),
    note: `Of ${given.length} findings the ${mostFindings} most severe are kept.`,
  }
}

type Status = EarlierFinding['status']

/** Compared without case and signs, so that "Won't fix" is `wontfix`. */
const statuses: { readonly [status in Status]: string } = {
  fixed: 'fixed resolved done addressed closed complete completed settled solved ok yes true',
  rejected:
    'rejected declined wontfix willnotfix dismissed invalid withdrawn falsepositive notapplicable na obsolete disputed',
  not_fixed: '',
}

const byWord = new Map(
  (Object.keys(statuses) as Status[]).flatMap((status) => statuses[status].split(' ').map((word) => [word, status])),
)

/** A status that nobody knows settles nothing. */
function statusOf(value: unknown): Status {
  const word = cleanLine(value, 40)
    .toLowerCase()
    .replace(/[^a-z]/g, '')
  return byWord.get(word) ?? 'not_fixed'
}

const earlierOf = (value: unknown): EarlierFinding[] =>
  (Array.isArray(value) ? value.slice(0, 1000) : []).filter(isRecord).flatMap((entry): EarlierFinding[] => {
    const id = cleanLine(pick(entry, ['id', 'finding_id', 'finding']), longest.id)
    const status = statusOf(pick(entry, ['status', 'state', 'outcome', 'resolution']))
    const reason = cleanText(pick(entry, ['reason', 'explanation', 'comment', 'note', 'rationale']), longest.reason)
    return id === '' ? [] : [{ id, status, reason }]
  })

/** Half of it is as good as nothing: then both signals do not agree, and there are three passes. */
function complexityOf(value: unknown): ReviewerAnswer['complexity'] {
  if (!isRecord(value)) return null
  const { risk_area_count, files_affected } = value
  return isCount(risk_area_count) && isCount(files_affected) ? { risk_area_count, files_affected } : null
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The names under which models give what was asked for, the right one first. */
const names = {
  id: ['id', 'finding_id'],
  severity: ['severity', 'level', 'priority'],
  section: ['section', 'location', 'where', 'code_location', 'heading'],
  file: ['file', 'path', 'filename', 'file_path', 'absolute_file_path'],
  line: ['line', 'line_number', 'lineno', 'start_line', 'lines', 'line_range', 'start'],
  title: ['title', 'name', 'summary'],
  problem: ['problem', 'description', 'message', 'issue', 'body', 'details', 'detail', 'what', 'finding', 'text'],
  evidence: ['evidence', 'current_code', 'quote', 'snippet', 'code', 'proof', 'rationale'],
  fix: [
    'fix',
    'suggestion',
    'recommendation',
    'suggested_fix',
    'suggested_code',
    'fixed_code',
    'how_to_fix',
    'remedy',
    'resolution',
  ],
} as const

const longestNormaliseFinding = { id: 60, section: 300, problem: 4000, evidence: 4000, fix: 4000 } as const

/** A finding in whatever form it came; null where there is nothing in it. */
function normaliseFinding(value: unknown): AnsweredFinding | null {
  if (typeof value === 'string') return fromText(value)
  if (!isRecord(value)) return null
  const problem = problemOf(value)
  const fix = cleanText(pick(value, names.fix), longestNormaliseFinding.fix)
  if (problem === '' && fix === '') return null
  return {
    id: cleanLine(pick(value, names.id), longestNormaliseFinding.id) || null,
    severity: severityOf(value),
    section: sectionOf(value),
    problem: problem || fix,
    evidence: cleanText(pick(value, names.evidence), longestNormaliseFinding.evidence),
    fix,
  }
}

function severityOf(value: unknown): Severity {
  if (typeof value === 'string') return severityInFront(value)
  return isRecord(value) ? readSeverity(pick(value, names.severity)) : 'major'
}

/** "[critical] …", "Minor: …" */
const severityInFront = (text: string): Severity =>
  knownSeverity(/^[\s*_-]*(?:\[([^\]]{1,20})\]|\(([^)]{1,20})\)|(\w{1,20})[*_]*:)/.exec(text)?.slice(1).join('')) ??
  'major'

function fromText(text: string): AnsweredFinding | null {
  const problem = cleanText(text, longestNormaliseFinding.problem)
  if (problem === '') return null
  return { id: null, severity: severityInFront(text), section: '', problem, evidence: '', fix: '' }
}

/** A title alone is too little where there is a description as well. */
function problemOf(value: JsonRecord): string {
  const title = cleanText(pick(value, names.title), longestNormaliseFinding.problem)
  const problem = cleanText(pick(value, names.problem), longestNormaliseFinding.problem)
  if (title === '' || problem === '' || problem.startsWith(title)) return problem || title
  return cleanText(`${title}: ${problem}`, longestNormaliseFinding.problem)
}

function sectionOf(value: JsonRecord): string {
  const section = pick(value, names.section)
  const place = isRecord(section) ? section : value
  const named = isRecord(section) ? '' : cleanLine(section, longestNormaliseFinding.section)
  if (named !== '') return named
  const file = cleanLine(pick(place, names.file), longestNormaliseFinding.section)
  const line = lineOf(pick(place, names.line))
  return cleanLine(line === '' || file === '' ? file : `${file}:${line}`, longestNormaliseFinding.section)
}

/** A number, or where a range begins. */
const lineOf = (value: unknown): string => {
  const line = isRecord(value) ? pick(value, names.line) : Array.isArray(value) ? value[0] : value
  return /^\d+/.exec(cleanLine(line, 20))?.[0] ?? ''
}

/** What models say instead. */
const words: { readonly [severity in Severity]: string } = {
  critical: 'critical crit blocker blocking blocks fatal showstopper catastrophic emergency p0 sev0 s0',
  major: 'major high severe serious significant important error bug must p1 sev1 s1',
  minor: 'minor medium moderate low warning warn should p2 sev2 s2 p3',
  advice: 'advice info informational information note nit nitpick trivial cosmetic style suggestion optional p4',
}

const bySeverity = severities.map((severity) => ({ severity, words: new Set(words[severity].split(' ')) }))

/** The most severe word in it; what nobody knows is taken seriously. */
function readSeverity(value: unknown): Severity {
  return knownSeverity(value) ?? 'major'
}

function knownSeverity(value: unknown): Severity | null {
  // Codex's own reviews number their priorities.
  const text = typeof value === 'number' ? `p${value}` : value
  if (typeof text !== 'string') return null
  const given = text
    .slice(0, 100)
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return bySeverity.find(({ words }) => given.some((word) => words.has(word)))?.severity ?? null
}

/** An object as JSON has it. Only its own keys are read, so `__proto__` and `constructor` are keys like any other. */
export type JsonRecord = { readonly [key: string]: unknown }

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of the first of these keys that says anything. */
function pick(record: JsonRecord, keys: readonly string[]): unknown {
  const key = keys.find((name) => Object.hasOwn(record, name) && !isEmpty(record[name]))
  return key === undefined ? undefined : record[key]
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''

type Judged = { readonly kind: 'kept'; readonly verdict: Verdict } | { readonly kind: 'broken'; readonly why: string }

/** Whether an object keeps the contract of a review. What it does not say it may leave out; what it says must agree. */
function judgeAnswer(value: JsonRecord): Judged {
  const verdict = verdicts.find((known) => known === value.verdict)
  if (verdict === undefined)
    return broken(`its verdict is ${shown(value.verdict)}, which is none of ${verdicts.slice(0, 3).join(', ')}.`)
  // We alone skip a review, where the configuration says so; a reviewer that looks at nothing has not answered.
  if (verdict === 'SKIPPED') return broken('it skipped the review, which is not for the reviewer to decide.')
  // What the contract's least length is for: a verdict without a word of review.
  if (Object.keys(value).length === 1) return broken('it is a verdict and nothing else.')
  if (Object.hasOwn(value, 'findings') && !Array.isArray(value.findings)) return broken('its findings are no list.')
  const approved = verdict === 'APPROVED'
  const isOptimal = Object.hasOwn(value, 'is_optimal') ? value.is_optimal : null
  if (isOptimal !== null && isOptimal !== approved)
    return broken(`it says ${verdict}, and is_optimal is ${shown(isOptimal)}.`)
  const findings = Array.isArray(value.findings) ? (value.findings as readonly unknown[]) : []
  if (approved && findings.some((finding) => severityOf(finding) === 'critical'))
    return broken('it approves, and has a critical finding.')
  return { kind: 'kept', verdict }
}

const broken = (why: string): Judged => ({ kind: 'broken', why })

const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  return typeof value === 'object' && value !== null ? 'no text' : String(value)
}
