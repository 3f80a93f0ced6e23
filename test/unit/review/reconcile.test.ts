import { describe, expect, it } from 'vitest'
import { reconcileFindings, settleReview } from '../../../src/review/settle.ts'
import type { EarlierFinding, Verdict } from '../../../src/schemas/review.ts'
import { finding } from '../../support/plan/findings.ts'

type Review = Parameters<typeof reconcileFindings>[0] & Parameters<typeof reconcileFindings>[1]
const reconcile = (review: Review) => reconcileFindings(review, review)
type Row = {
  name: string
  given?: Partial<Review>
  verdict?: Verdict
  /** The ids of the findings that are open afterwards, and of those that are unanswered. */
  open: readonly string[]
  unanswered?: readonly string[]
  /** `id status: reason` of each earlier finding. */
  previous?: readonly string[]
  notices?: readonly string[]
}

const status = (id: string, status: EarlierFinding['status'], reason = 'It says so in Goal.'): EarlierFinding => ({
  id,
  status,
  reason,
})
const [major, minor] = [finding('F1'), finding('F2', { severity: 'minor' })]
/** The review before found one major finding; this one requires changes and mentions nothing. */
const review: Review = {
  backend: 'codex',
  verdict: 'CHANGES_REQUIRED',
  question: null,
  findings: [],
  statuses: [],
  earlier: [major],
  late: [],
  byChecklist: false,
}

describe('reconcileFindings', () => {
  it.each<Row>([
    {
      name: 'fixed, without a reason',
      given: { statuses: [status('F1', 'fixed', 'Is done.')] },
      open: ['F1'],
      previous: ['F1 not_fixed: The reviewer closed it without a reason.'],
      unanswered: ['F1'],
    },
    {
      name: 'a minor one fixed, without a reason',
      given: { earlier: [minor], statuses: [status('F2', 'fixed', ' ')] },
      open: [],
      previous: ['F2 fixed: '],
    },
    {
      name: 'withdrawn',
      given: { statuses: [status('F1', 'withdrawn')] },
      open: [],
      previous: ['F1 withdrawn: It says so in Goal.'],
    },
    {
      name: 'withdrawn without a reason',
      given: { statuses: [status('F1', 'withdrawn', '')] },
      open: ['F1'],
      unanswered: ['F1'],
    },
    {
      name: 'fixed, by an id in other letters',
      given: { statuses: [status('[f1]', 'fixed')] },
      open: [],
      previous: ['F1 fixed: It says so in Goal.'],
    },
    {
      name: 'rejected with a reason',
      given: { statuses: [status('F1', 'rejected')] },
      open: [],
      previous: ['F1 rejected: It says so in Goal.'],
    },
    {
      name: 'rejected without one',
      given: { statuses: [status('F1', 'rejected', 'ok.')] },
      open: ['F1'],
      previous: ['F1 not_fixed: The reviewer closed it without a reason.'],
      unanswered: ['F1'],
    },
    {
      name: 'not fixed and not repeated',
      given: { statuses: [status('F1', 'not_fixed', 'No.')] },
      open: ['F1'],
      previous: ['F1 not_fixed: No.'],
    },
    {
      name: 'not fixed and repeated',
      given: { statuses: [status('F1', 'not_fixed', 'No.')], findings: [major] },
      open: ['F1'],
      previous: ['F1 not_fixed: No.'],
    },
    {
      name: 'said to be fixed, and repeated',
      given: { statuses: [status('F1', 'fixed')], findings: [major] },
      open: ['F1'],
      previous: ['F1 not_fixed: It is reported again.'],
    },
    {
      name: 'said to be both',
      given: { statuses: [status('F1', 'fixed'), status('F1', 'not_fixed', 'No.')] },
      open: ['F1'],
      previous: ['F1 not_fixed: No.'],
    },
    {
      name: 'not mentioned by a model',
      open: ['F1'],
      previous: ['F1 not_fixed: The reviewer did not say what became of it.'],
      unanswered: ['F1'],
    },
    {
      name: 'not mentioned by a model that needs a decision',
      given: { verdict: 'DECISION_NEEDED' },
      open: ['F1'],
      unanswered: ['F1'],
    },
    {
      name: 'not mentioned by a model that approves',
      given: { verdict: 'APPROVED', earlier: [major, minor] },
      verdict: 'CHANGES_REQUIRED',
      open: ['F1'],
      previous: [
        'F1 not_fixed: The reviewer did not say what became of it.',
        'F2 fixed: The reviewer approved, and says nothing more about it.',
      ],
      unanswered: ['F1'],
      notices: ['The reviewer approved while F1 is open: not approved.'],
    },
    {
      name: 'of the checklist, and not mentioned by a model',
      given: { byChecklist: true },
      open: ['F1'],
      unanswered: ['F1'],
    },
    {
      name: 'not found by the same checks',
      given: { byChecklist: true, backend: 'checklist' },
      open: [],
      previous: ['F1 fixed: It is not found any more.'],
    },
    {
      name: 'not found by the same checks, which say that it is not fixed',
      given: { byChecklist: true, backend: 'checklist', statuses: [status('F1', 'not_fixed', 'No.')] },
      open: ['F1'],
      previous: ['F1 not_fixed: No.'],
    },
    {
      name: 'an unknown id in a status',
      given: { earlier: [], statuses: [status('F7', 'not_fixed')] },
      open: [],
      previous: [],
    },
    {
      name: 'earlier ones after the reviewer’s own',
      given: { earlier: [major, minor], findings: [finding('F3'), minor] },
      open: ['F3', 'F2', 'F1'],
      unanswered: ['F1'],
    },
    { name: 'an approval, nothing open', given: { verdict: 'APPROVED', earlier: [] }, open: [] },
    {
      name: 'an approval with a minor one open',
      given: { verdict: 'APPROVED', earlier: [minor], statuses: [status('F2', 'not_fixed')] },
      open: ['F2'],
    },
    {
      name: 'an approval with an earlier major one open',
      given: { verdict: 'APPROVED', statuses: [status('F1', 'not_fixed')] },
      verdict: 'CHANGES_REQUIRED',
      open: ['F1'],
      notices: ['The reviewer approved while F1 is open: not approved.'],
    },
    {
      name: 'an approval with major and critical ones of its own',
      given: {
        verdict: 'APPROVED',
        earlier: [],
        findings: [finding('F3'), finding('F4', { severity: 'critical' }), minor],
      },
      verdict: 'CHANGES_REQUIRED',
      open: ['F3', 'F4', 'F2'],
      notices: ['The reviewer approved while F3, F4 are open: not approved.'],
    },
    {
      name: 'an approval whose major finding is late',
      given: { verdict: 'APPROVED', earlier: [], findings: [finding('F3')], late: ['F3'] },
      open: ['F3'],
    },
    {
      name: 'a decision, with earlier ones open',
      given: { verdict: 'DECISION_NEEDED', statuses: [status('F1', 'not_fixed')] },
      open: ['F1'],
    },
  ])('$name', ({ given = {}, verdict = given.verdict ?? 'CHANGES_REQUIRED', open, ...expected }) => {
    const { previous, unanswered = [], notices = [] } = expected
    const reconciled = reconcile({ ...review, ...given })
    expect(reconciled).toMatchObject({ verdict, notices, unanswered })
    expect(reconciled.findings.map(({ id }) => id)).toEqual(open)
    if (previous !== undefined)
      expect(reconciled.previous.map(({ id, status, reason }) => `${id} ${status}: ${reason}`)).toEqual(previous)
  })

  it('keeps findings as they are, except late ones, which become advice', () => {
    const earlier = [finding('F1', { severity: 'critical', problem: 'As before.' })]
    const findings = [finding('F2', { section: 'nowhere' }), finding('F3')]
    expect(reconcile({ ...review, earlier, findings, late: ['F3'] }).findings).toEqual([
      findings[0],
      { ...findings[1], severity: 'advice', raised_as: 'major' },
      earlier[0],
    ])
  })
})

describe('a review of code or a document', () => {
  it('is approved only when each blocking finding of the review before is answered', () => {
    const earlier = [major, minor]
    const reported = { ...review, earlier, verdict: 'APPROVED' as const, statuses: [status('F1', 'not_fixed')] }
    expect(settleReview(false)(reported, 'final')).toMatchObject({
      verdict: 'CHANGES_REQUIRED',
      findings: [major],
      notices: ['The reviewer approved while F1 is open: not approved.'],
    })
    const silent = { ...reported, statuses: [] }
    expect(settleReview(false)(silent, 'first')).toMatchObject({ unanswered: ['F1'] })
    expect(settleReview(false)({ ...silent, earlier: [minor] }, 'first')).toMatchObject({
      verdict: 'APPROVED',
      unanswered: [],
    })
  })
})
