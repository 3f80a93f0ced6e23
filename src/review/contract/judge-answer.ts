import { type Verdict, verdicts } from '../../schemas/review-result.ts'
import { severityOf } from './normalise-finding.ts'
import type { JsonRecord } from './record.ts'

export type Judged =
  | { readonly kind: 'kept'; readonly verdict: Verdict }
  | { readonly kind: 'broken'; readonly why: string }

/** Whether an object keeps the contract of a review. What it does not say it may leave out; what it says must agree. */
export function judgeAnswer(value: JsonRecord): Judged {
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
