import type { BackendName, EarlierFinding, Finding, ReviewerAnswer, ThreadAfter } from '../schemas/review.ts'
import { damagedLedger, isBlocking, isGraver, isUsers, matchEarlierId, numberFindings, wordsIn } from './findings.ts'
import type { PassAnswer, PassQuestion } from './passes.ts'
import { freshQuestion } from './prompts.ts'
import type { Reported, ReviewRequest, Settle, Settled } from './request.ts'

type SettleEffects = {
  readonly ask: (question: PassQuestion) => Promise<PassAnswer>
  /** The same of another reader, by its name; null: it is not there. */
  readonly askReader: (name: string) => SettleEffects['ask'] | null
  readonly notice: (text: string) => void
  /** Of the last pass on the thread of this review; null: there is none, or it holds nothing of it. */
  readonly thread: () => ThreadAfter | null
  readonly hasTime: () => boolean
}

type ToSettle = Pick<ReviewRequest, 'earlier' | 'lastId' | 'contested' | 'settle'> & {
  readonly answer: ReviewerAnswer
  readonly backend: BackendName
  readonly row: string
}

/** `summary`: of the second answer, where that has changed the verdict. */
export type SettledReview = Settled & { readonly lastId: number; readonly summary: string | null }

/**
 * What counts of an answer. What the author has contested twice is decided by a fresh reader; what the reviewer left
 * unanswered, and changes that it requires without a finding that may require them, are asked about once.
 */
export async function settleAnswer(review: ToSettle, effects: SettleEffects): Promise<SettledReview> {
  const { answer, backend, earlier } = review
  const statuses = answer.previous_findings
  const numbered = numberFindings({ answered: answer.findings, earlier, statuses, lastId: review.lastId })
  const { verdict, question } = answer
  const findings = withSources(numbered.findings, earlier)
  const own = { backend, verdict, question, findings, statuses, earlier }
  const reported = await confirmClosed(await arbitrate(own, review, effects), earlier, review.row, effects)
  const first = review.settle(reported, 'first')
  if (first.unanswered.length === 0 && !first.isUnfounded) return { ...first, lastId: numbered.lastId, summary: null }
  if (backend === 'checklist' || !effects.hasTime())
    return { ...review.settle(reported, 'final'), lastId: numbered.lastId, summary: null }

  // To confirm a verdict the text is enough; a thread would be sent once more with all its rounds.
  const thread = first.unanswered.length === 0 ? null : effects.thread()
  const asked = await effects.ask({
    ...freshQuestion,
    does: 'settle',
    asked: { ids: first.unanswered, isUnfounded: first.isUnfounded },
    ...(thread === null
      ? { handedOn: JSON.stringify({ verdict, findings: reported.findings, statuses }) }
      : { thread: { kind: 'resume', id: thread.id, used: thread.used }, continues: true }),
  })
  if (asked.kind !== 'valid') {
    effects.notice(`The reviewer was asked what it had left open, and did not say (${asked.why})`)
    return { ...review.settle(reported, 'final'), lastId: numbered.lastId, summary: null }
  }
  const merged = mergeAnswers(reported, asked.answer, first, { ...review, lastId: numbered.lastId })
  const late = earlier.filter(({ id }) => first.unanswered.includes(id))
  const settled = review.settle(await confirmClosed(merged.reported, late, review.row, effects), 'final')
  const summary = settled.verdict === reported.verdict ? null : asked.answer.summary
  return { ...settled, lastId: merged.lastId, summary }
}

/** The second answer is about what was asked; what else it names is settled as any finding is. */
function mergeAnswers(
  reported: Reported,
  answer: ReviewerAnswer,
  { unanswered, isUnfounded }: Settled,
  { earlier, lastId }: Pick<ToSettle, 'earlier' | 'lastId'>,
): { readonly reported: Reported; readonly lastId: number } {
  const statuses = [
    ...reported.statuses.filter(({ id }) => !unanswered.includes(id)),
    ...statusesOf(answer, unanswered),
  ]
  const known = [...earlier, ...reported.findings]
  const numbered = numberFindings({ answered: answer.findings, earlier: known, statuses, lastId })
  const added = new Set(numbered.findings.map(({ id }) => id))
  const findings = [
    ...reported.findings.filter(({ id }) => !added.has(id)),
    ...withSources(numbered.findings, [...reported.findings, ...earlier]),
  ]
  const takesVerdict = isUnfounded || (reported.verdict === 'APPROVED' && answer.verdict !== 'APPROVED')
  const { verdict, question } = takesVerdict ? answer : reported
  return { reported: { ...reported, verdict, question, findings, statuses }, lastId: numbered.lastId }
}

/** With the ids as they are known: models write ` f3` for F3. */
const statusesOf = ({ previous_findings }: ReviewerAnswer, ids: readonly string[]): readonly EarlierFinding[] =>
  previous_findings.flatMap((entry) => {
    const id = matchEarlierId(entry.id, new Set(ids))
    return id === null ? [] : [{ ...entry, id }]
  })

/** It stays the finding of those who have reported it, whoever repeats it. */
const withSources = (findings: readonly Finding[], known: readonly Finding[]): readonly Finding[] =>
  findings.map((finding) => {
    const sources = known.find(({ id }) => id === finding.id)?.sources
    return sources === undefined ? finding : { ...finding, sources }
  })

/**
 * What another reader has found is closed by that reader, asked afresh. Where it cannot be asked, what is fixed counts as
 * fixed, and what is only declined or called wrong stays open.
 */
async function confirmClosed(
  reported: Reported,
  earlier: readonly Finding[],
  row: string,
  { askReader, notice }: SettleEffects,
): Promise<Reported> {
  const isClosed = ({ id }: Finding): boolean =>
    reported.statuses.some((entry) => matchEarlierId(entry.id, new Set([id])) !== null && entry.status !== 'not_fixed')
  const foreign = earlier.filter(
    (finding) =>
      isBlocking(finding) && !isUsers(finding) && finding.sources?.includes(row) === false && isClosed(finding),
  )
  const readers = [...new Set(foreign.flatMap(({ sources = [] }) => sources.slice(0, 1)))]
  const decisions = await Promise.all(
    readers.map(async (name) => {
      const ids = foreign.filter(({ sources }) => sources?.[0] === name).map(({ id }) => id)
      const asked = await askReader(name)?.({
        ...freshQuestion,
        ...{ does: 'settle', asked: { ids, isUnfounded: false } },
      })
      if (asked?.kind === 'valid') {
        const said = statusesOf(asked.answer, ids)
        const again = new Set(asked.answer.findings.map((finding) => matchEarlierId(finding.id, new Set(ids))))
        const silent = `${name}, who reported it, did not take it back.`
        return ids.map(
          (id): EarlierFinding =>
            (again.has(id) ? undefined : said.find((entry) => entry.id === id)) ?? {
              id,
              status: 'not_fixed',
              reason: silent,
            },
        )
      }
      notice(
        `${name} was not there to say what became of ${ids.join(', ')}${asked === undefined ? '' : ` (${asked.why})`}`,
      )
      return reported.statuses.flatMap((entry): EarlierFinding[] => {
        const id = matchEarlierId(entry.id, new Set(ids))
        if (id === null || entry.status === 'fixed') return []
        return [{ id, status: 'not_fixed', reason: `Only ${name}, who reported it, can take it back.` }]
      })
    }),
  )
  const decided = decisions.flat()
  const isDecided = ({ id }: EarlierFinding): boolean =>
    matchEarlierId(id, new Set(decided.map((decision) => decision.id))) !== null
  return { ...reported, statuses: [...reported.statuses.filter((status) => !isDecided(status)), ...decided] }
}

/** A fresh reader decides what the author has contested twice and the reviewer keeps open. */
async function arbitrate(
  reported: Reported,
  { contested, earlier, backend }: Pick<ToSettle, 'contested' | 'earlier' | 'backend'>,
  { ask, notice, hasTime }: SettleEffects,
): Promise<Reported> {
  const kept = earlier.flatMap((finding) => (contested.includes(finding.id) ? keptOpen(finding, reported) : []))
  if (kept.length === 0 || backend === 'checklist' || !hasTime()) return reported
  const decided = await ask({
    ...freshQuestion,
    does: 'arbitrate',
    asked: { ids: kept.map(({ id }) => id), isUnfounded: false },
    handedOn: JSON.stringify(kept),
  })
  if (decided.kind !== 'valid') {
    notice(`No fresh reader decided what is contested (${decided.why})`)
    return reported
  }
  const decisions = statusesOf(
    decided.answer,
    kept.map(({ id }) => id),
  )
  const closed = new Set(decisions.filter(({ status }) => status !== 'not_fixed').map(({ id }) => id))
  const isDecided = ({ id }: { readonly id: string }): boolean => decisions.some((decision) => decision.id === id)
  return {
    ...reported,
    findings: reported.findings.filter(({ id }) => !closed.has(id)),
    statuses: [...reported.statuses.filter((status) => !isDecided(status)), ...decisions],
  }
}

/** As it is reported now. A graver one under its id is not what the author has contested. */
function keptOpen(finding: Finding, { findings, statuses }: Reported): readonly Finding[] {
  const again = findings.find(({ id }) => id === finding.id)
  const isOpen = statuses.some(({ id, status }) => id === finding.id && status === 'not_fixed')
  return [again ?? finding].filter(
    (one) => isBlocking(one) && !isGraver(one, finding) && (again !== undefined || isOpen),
  )
}

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
