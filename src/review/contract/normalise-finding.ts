import type { AnsweredFinding, Severity } from '../../schemas/review-result.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import { knownSeverity, readSeverity } from './read-severity.ts'
import { isRecord, type JsonRecord, pick } from './record.ts'

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

const longest = { id: 60, section: 300, problem: 4000, evidence: 4000, fix: 4000 } as const

/** A finding in whatever form it came; null where there is nothing in it. */
export function normaliseFinding(value: unknown): AnsweredFinding | null {
  if (typeof value === 'string') return fromText(value)
  if (!isRecord(value)) return null
  const problem = problemOf(value)
  const fix = cleanText(pick(value, names.fix), longest.fix)
  if (problem === '' && fix === '') return null
  return {
    id: cleanLine(pick(value, names.id), longest.id) || null,
    severity: severityOf(value),
    section: sectionOf(value),
    problem: problem || fix,
    evidence: cleanText(pick(value, names.evidence), longest.evidence),
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
  const problem = cleanText(text, longest.problem)
  if (problem === '') return null
  return { id: null, severity: severityInFront(text), section: '', problem, evidence: '', fix: '' }
}

/** A title alone is too little where there is a description as well. */
function problemOf(value: JsonRecord): string {
  const title = cleanText(pick(value, names.title), longest.problem)
  const problem = cleanText(pick(value, names.problem), longest.problem)
  if (title === '' || problem === '' || problem.startsWith(title)) return problem || title
  return cleanText(`${title}: ${problem}`, longest.problem)
}

function sectionOf(value: JsonRecord): string {
  const section = pick(value, names.section)
  const place = isRecord(section) ? section : value
  const named = isRecord(section) ? '' : cleanLine(section, longest.section)
  if (named !== '') return named
  const file = cleanLine(pick(place, names.file), longest.section)
  const line = lineOf(pick(place, names.line))
  return cleanLine(line === '' || file === '' ? file : `${file}:${line}`, longest.section)
}

/** A number, or where a range begins. */
const lineOf = (value: unknown): string => {
  const line = isRecord(value) ? pick(value, names.line) : Array.isArray(value) ? value[0] : value
  return /^\d+/.exec(cleanLine(line, 20))?.[0] ?? ''
}
