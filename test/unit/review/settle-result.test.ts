import { describe, expect, it } from 'vitest'
import { applyOpenFindings } from '../../../src/review/review.ts'
import type { EarlierFinding, Finding, ReviewResult, Verdict } from '../../../src/schemas/review.ts'
import { finding } from '../../support/plan/findings.ts'

const result = (
  verdict: Verdict,
  findings: readonly Finding[] = [],
  previous: readonly EarlierFinding[] = [],
): ReviewResult => ({
  verdict,
  is_optimal: verdict === 'APPROVED',
  summary: 'It was read.',
  findings,
  previous_findings: previous,
  notices: [],
  pass_metadata: {
    passes_completed: 1,
    total_duration_ms: 1,
    reasoning_mode: 'single-pass',
    route: 'codex',
    complexity: null,
  },
})

const is = (id: string, status: EarlierFinding['status'], reason = 'It is seen.'): EarlierFinding => ({
  id,
  status,
  reason,
})
const [major, minor] = [finding('F1'), finding('F2', { severity: 'minor' })]

type Row = {
  name: string
  given: ReviewResult
  earlier?: readonly Finding[]
  verdict: Verdict
  open: readonly string[]
  fates?: readonly string[]
  notices?: readonly string[]
}

describe('settleResult', () => {
  it.each<Row>([
    { name: 'a first review', given: result('APPROVED'), earlier: [], verdict: 'APPROVED', open: [], fates: [] },
    {
      name: 'all of it mended',
      given: result('APPROVED', [], [is('F1', 'fixed'), is('[f2]', 'rejected')]),
      verdict: 'APPROVED',
      open: [],
      fates: ['F1 fixed: It is seen.', 'F2 rejected: It is seen.'],
    },
    {
      name: 'an approval that is silent about them',
      given: result('APPROVED'),
      verdict: 'APPROVED',
      open: [],
      fates: [1, 2].map((n) => `F${n} fixed: The reviewer approved, and says nothing more about it.`),
    },
    {
      name: 'changes required, and silent about them',
      given: result('CHANGES_REQUIRED', [finding('F3')]),
      verdict: 'CHANGES_REQUIRED',
      open: ['F3', 'F1', 'F2'],
      fates: [1, 2].map((n) => `F${n} not_fixed: The reviewer did not say what became of it.`),
    },
    {
      name: 'one that is reported again, whatever its status says',
      given: result('CHANGES_REQUIRED', [major], [is('F1', 'fixed', ''), is('F2', 'fixed')]),
      verdict: 'CHANGES_REQUIRED',
      open: ['F1'],
      fates: ['F1 not_fixed: It is reported again.', 'F2 fixed: It is seen.'],
    },
    {
      name: 'an approval with a major one open',
      given: result('APPROVED', [], [is('F1', 'not_fixed'), is('F2', 'fixed')]),
      verdict: 'CHANGES_REQUIRED',
      open: ['F1'],
      fates: ['F1 not_fixed: It is seen.', 'F2 fixed: It is seen.'],
      notices: ['The reviewer approved while F1 is open: not approved.'],
    },
    {
      name: 'an approval with major ones of its own',
      given: result('APPROVED', [finding('F3'), finding('F4')]),
      earlier: [],
      verdict: 'CHANGES_REQUIRED',
      open: ['F3', 'F4'],
      notices: ['The reviewer approved while F3, F4 are open: not approved.'],
    },
    {
      name: 'an approval with a minor one open',
      given: result('APPROVED', [], [is('F1', 'fixed'), is('F2', 'not_fixed')]),
      verdict: 'APPROVED',
      open: ['F2'],
    },
    {
      name: 'two words about one: the worse counts',
      given: result('CHANGES_REQUIRED', [], [is('F1', 'fixed'), is('F1', 'not_fixed', 'No.'), is('F2', 'fixed')]),
      verdict: 'CHANGES_REQUIRED',
      open: ['F1'],
      fates: ['F1 not_fixed: No.', 'F2 fixed: It is seen.'],
    },
    {
      name: 'ids that nobody gave out',
      given: result('APPROVED', [], [is('F9', 'not_fixed'), is('F1', 'fixed'), is('F2', 'fixed')]),
      verdict: 'APPROVED',
      open: [],
      fates: ['F1 fixed: It is seen.', 'F2 fixed: It is seen.'],
    },
    {
      name: 'a decision that is needed',
      given: result('DECISION_NEEDED', [], [is('F1', 'not_fixed'), is('F2', 'fixed')]),
      verdict: 'DECISION_NEEDED',
      open: ['F1'],
    },
  ])('$name', ({ given, earlier = [major, minor], verdict, open, fates, notices = [] }) => {
    const settled = applyOpenFindings(given, earlier)
    expect(settled).toMatchObject({ verdict, is_optimal: verdict === 'APPROVED', notices })
    expect(settled.findings.map(({ id }) => id)).toEqual(open)
    if (fates !== undefined)
      expect(settled.previous_findings?.map(({ id, status, reason }) => `${id} ${status}: ${reason}`)).toEqual(fates)
  })

  it('where nobody was asked, nothing is said about anything', () => {
    const { pass_metadata, ...known } = result('SKIPPED')
    expect(applyOpenFindings(known, [major])).toEqual(known)
  })
})
