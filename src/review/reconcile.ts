import type { EarlierFinding, Finding, ReviewResult, Verdict } from '../schemas/review.ts'
import { isBlocking, matchEarlierId, wordsIn } from './findings.ts'
import type { Settle } from './request.ts'

type ToReconcile = {
  readonly verdict: Verdict
  /** With their ids. */
  readonly findings: readonly Finding[]
  /** What the reviewer says about the earlier findings. */
  readonly statuses: readonly EarlierFinding[]
  /** Open after the review before. */
  readonly earlier: readonly Finding[]
  /** Ids of findings that are recorded as advice. */
  readonly late: readonly string[]
  readonly whenSilent: WhenSilent
}

/**
 * The status of an earlier finding that the reviewer does not mention: `fixed` after the same checks, which did not find
 * it again; `fixed-if-approved` after a model, which may have forgotten it, unless it approves the whole.
 */
export type WhenSilent = 'fixed' | 'fixed-if-approved'

/** The answer as it is. */
export const settleAsReported: Settle = ({ statuses, ...reported }) => ({
  ...reported,
  previous: statuses,
  late: [],
  notices: [],
  unanswered: [],
  isUnfounded: false,
})

export type Reconciled = {
  readonly verdict: Verdict
  /** All that are open: the reviewer's, then earlier ones that it did not repeat. */
  readonly findings: readonly Finding[]
  readonly previous: readonly EarlierFinding[]
  /** Where the verdict differs from the reviewer's, and why. */
  readonly notices: readonly string[]
}

/**
 * What counts after a review, in the light of the one before: an earlier finding stays open until the reviewer calls it
 * fixed or gives a reason for dropping it, and an approval stands only while no blocking finding is open. Nothing becomes
 * an approval here.
 */
export function reconcileFindings({ earlier, ...review }: ToReconcile): Reconciled {
  const previous = earlier.map(({ id }) => findingStatus(id, review))
  const reported = review.findings.map(
    (finding): Finding => (review.late.includes(finding.id) ? { ...finding, severity: 'advice' } : finding),
  )
  const repeated = new Set(reported.map(({ id }) => id))
  const open = new Set(previous.filter(({ status }) => status === 'not_fixed').map(({ id }) => id))
  const findings = [...reported, ...earlier.filter(({ id }) => open.has(id) && !repeated.has(id))]
  const blocking = findings.filter(isBlocking).map(({ id }) => id)
  if (review.verdict !== 'APPROVED' || blocking.length === 0)
    return { verdict: review.verdict, findings, previous, notices: [] }
  const notice = `The reviewer approved while ${blocking.join(', ')} ${blocking.length === 1 ? 'is' : 'are'} open: not approved.`
  return { verdict: 'CHANGES_REQUIRED', findings, previous, notices: [notice] }
}

/** One that is reported again is open whatever its status says; of several statuses the worst counts. */
function findingStatus(
  id: string,
  { verdict, findings, statuses, whenSilent }: Omit<ToReconcile, 'earlier' | 'late'>,
): EarlierFinding {
  const own = statuses.filter((entry) => matchEarlierId(entry.id, new Set([id])) !== null)
  const [open, rejected, fixed] = (['not_fixed', 'rejected', 'fixed'] as const).map((status) =>
    own.find((entry) => entry.status === status),
  )
  const statusOf = (status: EarlierFinding['status'], reason: string): EarlierFinding => ({ id, status, reason })
  const why = open?.reason.trim() ?? ''
  if (findings.some((finding) => finding.id === id)) return statusOf('not_fixed', why || 'It is reported again.')
  if (open !== undefined) return statusOf('not_fixed', why)
  if (rejected !== undefined)
    return wordsIn(rejected.reason).length >= minReasonWords
      ? statusOf('rejected', rejected.reason.trim())
      : statusOf('not_fixed', 'The reviewer dropped it without a reason.')
  if (fixed !== undefined) return statusOf('fixed', fixed.reason.trim())
  if (whenSilent === 'fixed') return statusOf('fixed', 'It is not found any more.')
  return verdict === 'APPROVED'
    ? statusOf('fixed', 'The reviewer approved, and says nothing more about it.')
    : statusOf('not_fixed', 'The reviewer did not say what became of it.')
}

/** "ok" is no reason for dropping a finding. */
const minReasonWords = 3

/** For `plan-gate review --previous`. */
export function applyOpenFindings(result: ReviewResult, earlier: readonly Finding[]): ReviewResult {
  // No reviewer was asked.
  if (result.pass_metadata === undefined) return result
  const { verdict, findings, previous_findings: statuses = [], notices = [] } = result
  const reconciled = reconcileFindings({
    verdict,
    findings,
    statuses,
    earlier,
    late: [],
    whenSilent: 'fixed-if-approved',
  })
  return {
    ...result,
    verdict: reconciled.verdict,
    is_optimal: reconciled.verdict === 'APPROVED',
    findings: reconciled.findings,
    previous_findings: reconciled.previous,
    notices: [...notices, ...reconciled.notices],
  }
}
