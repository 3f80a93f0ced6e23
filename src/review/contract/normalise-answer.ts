import {
  type AnsweredFinding,
  type EarlierFinding,
  type ReviewerAnswer,
  severities,
  type Verdict,
} from '../../schemas/review-result.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import { normaliseFinding } from './normalise-finding.ts'
import { isRecord, type JsonRecord, pick } from './record.ts'

const longest = { summary: 8000, question: 4000, context: 100_000, id: 60, reason: 2000 } as const
const mostFindings = 200

export type Normalised = { readonly answer: ReviewerAnswer; readonly note: string | null }

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
