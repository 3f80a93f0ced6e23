import type { EarlierFinding, Finding } from '../schemas/review.ts'
import { isBlocking, isUsers, matchEarlierId, wordsIn } from './findings.ts'
import type { Reported, Settle, Settled } from './request.ts'
import { damagedLedger } from './user-finding.ts'

type Earlier = {
  /** Open after the review before. */
  readonly earlier: readonly Finding[]
  /** The checklist found them. When it does not find them again, they are fixed; a model may have forgotten them. */
  readonly byChecklist: boolean
  /** Ids of findings that are recorded as advice. */
  readonly late?: readonly string[]
  /** Ids of earlier findings that are advice by the user's decision: they are closed no easier, since it can be taken back. */
  readonly waived?: readonly string[]
}

/** For a change to code or a document: the verdict stays the reviewer's, except for an approval with open findings. */
export const settleReview =
  (byChecklist: boolean): Settle =>
  (reported) => ({
    ...reconcileFindings(reported, { earlier: reported.earlier, byChecklist }),
    question: reported.question,
    isUnfounded: false,
  })

/**
 * What counts after a review, in the light of the one before: an earlier critical or major finding stays open until the
 * reviewer says with a reason what became of it, and an approval stands only while no such finding is open. Nothing
 * becomes an approval here.
 */
export function reconcileFindings(
  reported: Reported,
  { earlier, byChecklist, late = [], waived = [] }: Earlier,
): Omit<Settled, 'question' | 'isUnfounded'> {
  const isChecked = byChecklist && reported.backend === 'checklist'
  const settled = earlier.map((finding) => findingStatus(finding, reported, isChecked, waived.includes(finding.id)))
  const previous = settled.map(({ status }) => status)
  const unanswered = settled.flatMap(({ status, isAnswered }) => (isAnswered ? [] : [status.id]))
  // The user's own stays as they wrote it, however the reviewer words it.
  const asWritten = (finding: Finding): Finding =>
    (isUsers(finding) && earlier.find(({ id }) => id === finding.id)) || finding
  const own = reported.findings.map((finding) => (late.includes(finding.id) ? asAdvice(finding) : asWritten(finding)))
  const repeated = new Set(own.map(({ id }) => id))
  const open = new Set(previous.filter(({ status }) => status === 'not_fixed').map(({ id }) => id))
  const findings = [...own, ...earlier.filter(({ id }) => open.has(id) && !repeated.has(id))]
  const settledFindings = { findings, previous, late, unanswered }
  const blocking = findings.filter(isBlocking).map(({ id }) => id)
  if (reported.verdict !== 'APPROVED' || blocking.length === 0)
    return { ...settledFindings, verdict: reported.verdict, notices: [] }
  const notice = `The reviewer approved while ${blocking.join(', ')} ${blocking.length === 1 ? 'is' : 'are'} open: not approved.`
  return { ...settledFindings, verdict: 'CHANGES_REQUIRED', notices: [notice] }
}

const asAdvice = (finding: Finding): Finding => ({ ...finding, severity: 'advice', raised_as: finding.severity })

type FindingStatus = { readonly status: EarlierFinding; readonly isAnswered: boolean }

/** One that is reported again is open whatever its status says; of several statuses the worst counts. */
function findingStatus(
  finding: Finding,
  { backend, verdict, findings, statuses }: Reported,
  isChecked: boolean,
  isWaived: boolean,
): FindingStatus {
  const { id } = finding
  const own = statuses.filter((entry) => matchEarlierId(entry.id, new Set([id])) !== null)
  const answered = (status: EarlierFinding['status'], reason: string, isAnswered = true): FindingStatus => ({
    status: { id, status, reason },
    isAnswered,
  })
  const open = own.find(({ status }) => status === 'not_fixed')
  const why = open?.reason.trim() ?? ''
  const again = findings.find((other) => other.id === id)
  if (again !== undefined)
    return answered('not_fixed', why || (isUsers(finding) && again.problem.trim()) || 'It is reported again.')
  if (open !== undefined) return answered('not_fixed', why)
  const closed = closing.flatMap((status) => own.find((entry) => entry.status === status) ?? [])[0]
  if (isUsers(finding) && finding.sources?.includes(damagedLedger) === true)
    return answered('not_fixed', `Only the user can settle it (plan-gate waive ${id}).`)
  if (isUsers(finding) && backend === 'checklist')
    return answered('not_fixed', 'The checklist cannot judge it; the user can.')
  if (isUsers(finding) && closed !== undefined && closed.status !== 'fixed')
    return answered('not_fixed', `Only the user can take it back. The reviewer: ${closed.reason.trim()}`)
  const weighs = isBlocking(finding) || isWaived
  const needsReason = weighs || closed?.status === 'rejected' || closed?.status === 'withdrawn'
  if (closed !== undefined && (!needsReason || wordsIn(closed.reason).length >= minReasonWords))
    return answered(closed.status, closed.reason.trim())
  if (closed !== undefined)
    return answered('not_fixed', 'The reviewer closed it without a reason.', !isBlocking(finding))
  if (isChecked) return answered('fixed', 'It is not found any more.')
  if (verdict === 'APPROVED' && !weighs)
    return answered('fixed', 'The reviewer approved, and says nothing more about it.')
  return answered('not_fixed', 'The reviewer did not say what became of it.', !isBlocking(finding))
}

const closing = ['rejected', 'withdrawn', 'fixed'] as const

/** "ok" is no reason for closing a finding. */
const minReasonWords = 3
