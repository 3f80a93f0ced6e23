import {
  type AnsweredFinding,
  type EarlierFinding,
  type ReviewerAnswer,
  type Severity,
  severities,
  type Verdict,
} from '../schemas/review.ts'
import { cleanLine, cleanText } from '../text/clean.ts'
import { isRecord, type JsonRecord } from '../text/json.ts'

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

export function severityOf(value: unknown): Severity {
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

/** The value of the first of these keys that says anything. */
function pick(record: JsonRecord, keys: readonly string[]): unknown {
  const key = keys.find((name) => Object.hasOwn(record, name) && !isEmpty(record[name]))
  return key === undefined ? undefined : record[key]
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''
