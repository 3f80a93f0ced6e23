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

const maxLengths = {
  ...{ summary: 8000, question: 4000, context: 100_000, reason: 2000 },
  ...{ id: 60, section: 300, problem: 4000, evidence: 4000, fix: 4000 },
} as const

const maxFindings = 200

type Normalised = { readonly answer: ReviewerAnswer; readonly note: string | null }

/** The answer with known field names, severities and statuses, within bounds. */
export function normaliseAnswer(value: JsonRecord, verdict: Verdict): Normalised {
  const { findings, note } = findingsOf(value.findings)
  const answer: ReviewerAnswer = {
    verdict,
    summary: cleanText(pick(value, 'summary overview overall explanation'), maxLengths.summary),
    question: cleanText(pick(value, 'question questions'), maxLengths.question) || null,
    findings,
    previous_findings: earlierOf(value.previous_findings),
    context_summary: cleanText(pick(value, 'context_summary'), maxLengths.context) || null,
    complexity: complexityOf(value.complexity),
  }
  return { answer, note }
}

/** Beyond the maximum the least severe are dropped. */
function findingsOf(value: unknown): { readonly findings: readonly AnsweredFinding[]; readonly note: string | null } {
  const findings = Array.isArray(value) ? value.map(normaliseFinding).filter((finding) => finding !== null) : []
  if (findings.length <= maxFindings) return { findings, note: null }
  const ordered = [...findings].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  return {
    findings: ordered.slice(0, maxFindings),
    note: `Of ${findings.length} findings the ${maxFindings} most severe are kept.`,
  }
}

type Status = EarlierFinding['status']

/** Compared without case and punctuation, so that "Won't fix" is `wontfix`. */
const statusWords: { readonly [status in Status]: string } = {
  fixed: 'fixed resolved done addressed closed complete completed settled solved ok yes true',
  rejected: 'rejected declined wontfix willnotfix dismissed notapplicable na obsolete disputed',
  withdrawn: 'withdrawn retracted invalid falsepositive notafinding wrong mistaken',
  not_fixed: '',
}

const statusByWord = new Map(
  (Object.keys(statusWords) as Status[]).flatMap((status) =>
    statusWords[status].split(' ').map((word) => [word, status]),
  ),
)

/** An unknown status leaves the finding open. */
function statusOf(value: unknown): Status {
  const word = cleanLine(value, 40)
    .toLowerCase()
    .replace(/[^a-z]/g, '')
  return statusByWord.get(word) ?? 'not_fixed'
}

const earlierOf = (value: unknown): EarlierFinding[] =>
  (Array.isArray(value) ? value.slice(0, 1000) : []).filter(isRecord).flatMap((entry): EarlierFinding[] => {
    const id = cleanLine(pick(entry, 'id finding_id finding'), maxLengths.id)
    const status = statusOf(pick(entry, 'status state outcome resolution'))
    const reason = cleanText(pick(entry, 'reason explanation comment note rationale'), maxLengths.reason)
    return id === '' ? [] : [{ id, status, reason }]
  })

/** null unless complete: then the review has three passes. */
function complexityOf(value: unknown): ReviewerAnswer['complexity'] {
  if (!isRecord(value)) return null
  const { risk_area_count, files_affected } = value
  return isCount(risk_area_count) && isCount(files_affected) ? { risk_area_count, files_affected } : null
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The field names that models use, the right one first. */
const fieldNames = {
  id: 'id finding_id',
  severity: 'severity level priority',
  section: 'section location where code_location heading',
  file: 'file path filename file_path absolute_file_path',
  line: 'line line_number lineno start_line lines line_range start',
  title: 'title name summary',
  problem: 'problem description message issue body details detail what finding text',
  evidence: 'evidence current_code quote snippet code proof rationale',
  fix: 'fix suggestion recommendation suggested_fix suggested_code fixed_code how_to_fix remedy resolution',
} as const

function normaliseFinding(value: unknown): AnsweredFinding | null {
  if (typeof value === 'string') return fromText(value)
  if (!isRecord(value)) return null
  const problem = problemOf(value)
  const fix = cleanText(pick(value, fieldNames.fix), maxLengths.fix)
  if (problem === '' && fix === '') return null
  return {
    id: cleanLine(pick(value, fieldNames.id), maxLengths.id) || null,
    severity: severityOf(value),
    section: sectionOf(value),
    problem: problem || fix,
    evidence: cleanText(pick(value, fieldNames.evidence), maxLengths.evidence),
    fix,
  }
}

export function severityOf(value: unknown): Severity {
  if (typeof value === 'string') return severityInFront(value)
  return isRecord(value) ? (knownSeverity(pick(value, fieldNames.severity)) ?? 'major') : 'major'
}

/** "[critical] …", "Minor: …" */
const severityInFront = (text: string): Severity =>
  knownSeverity(/^[\s*_-]*(?:\[([^\]]{1,20})\]|\(([^)]{1,20})\)|(\w{1,20})[*_]*:)/.exec(text)?.slice(1).join('')) ??
  'major'

function fromText(text: string): AnsweredFinding | null {
  const problem = cleanText(text, maxLengths.problem)
  if (problem === '') return null
  return { id: null, severity: severityInFront(text), section: '', problem, evidence: '', fix: '' }
}

/** The title before the description, unless that repeats it. */
function problemOf(value: JsonRecord): string {
  const title = cleanText(pick(value, fieldNames.title), maxLengths.problem)
  const problem = cleanText(pick(value, fieldNames.problem), maxLengths.problem)
  if (title === '' || problem === '' || problem.startsWith(title)) return problem || title
  return cleanText(`${title}: ${problem}`, maxLengths.problem)
}

function sectionOf(value: JsonRecord): string {
  const section = pick(value, fieldNames.section)
  const place = isRecord(section) ? section : value
  const named = isRecord(section) ? '' : cleanLine(section, maxLengths.section)
  if (named !== '') return named
  const file = cleanLine(pick(place, fieldNames.file), maxLengths.section)
  const line = lineOf(pick(place, fieldNames.line))
  return cleanLine(line === '' || file === '' ? file : `${file}:${line}`, maxLengths.section)
}

const lineOf = (value: unknown): string => {
  const line = isRecord(value) ? pick(value, fieldNames.line) : Array.isArray(value) ? value[0] : value
  return /^\d+/.exec(cleanLine(line, 20))?.[0] ?? ''
}

const severityWords: { readonly [severity in Severity]: string } = {
  critical: 'critical crit blocker blocking blocks fatal showstopper catastrophic emergency p0 sev0 s0',
  major: 'major high severe serious significant important error bug must p1 sev1 s1',
  minor: 'minor medium moderate low warning warn should p2 sev2 s2 p3',
  advice: 'advice info informational information note nit nitpick trivial cosmetic style suggestion optional p4',
}

const wordsBySeverity = severities.map((severity) => ({ severity, words: new Set(severityWords[severity].split(' ')) }))

/** The most severe known word; an unknown severity is major. */
function knownSeverity(value: unknown): Severity | null {
  // Codex's own reviews number their priorities.
  const text = typeof value === 'number' ? `p${value}` : value
  if (typeof text !== 'string') return null
  const words = text
    .slice(0, 100)
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return wordsBySeverity.find(({ words: known }) => words.some((word) => known.has(word)))?.severity ?? null
}

function pick(record: JsonRecord, names: string): unknown {
  const key = names.split(' ').find((name) => Object.hasOwn(record, name) && !isEmpty(record[name]))
  return key === undefined ? undefined : record[key]
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''
