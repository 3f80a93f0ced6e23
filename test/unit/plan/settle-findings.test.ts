import { describe, expect, it } from 'vitest'
import { reconcileFindings, type Settled, type ToSettle } from '../../../src/plan/findings.ts'
import type { EarlierFinding, Finding, Verdict } from '../../../src/schemas/review.ts'
import { diffLines } from '../../../src/text/line-diff.ts'
import { finding } from '../../support/plan/findings.ts'

const old = `## Goal
Invoices are sent once.

## Approach
A lock is taken in the database.

It is released after ten minutes.

## Changes
- \`src/send.ts\` (changed): takes the lock.
- \`src/clean.ts\` (new): releases what is old.
- \`src/send.test.ts\` (new): two runs at once.
`
const now = old.replace('after ten minutes', 'after one minute').replace('takes the lock', 'takes and keeps the lock')

const status = (id: string, state: EarlierFinding['status'], reason = 'It says so in Approach.'): EarlierFinding => ({
  id,
  status: state,
  reason,
})
const last = (findings: readonly Finding[], verdict: Verdict = 'CHANGES_REQUIRED') => ({ verdict, findings })
const settle = (given: Partial<ToSettle>): Settled =>
  reconcileFindings({
    verdict: 'CHANGES_REQUIRED',
    question: null,
    findings: [],
    statuses: [],
    before: last([finding('F1')]),
    plan: now,
    changes: diffLines(old, now),
    whenSilent: 'open',
    ...given,
  })

describe('an earlier finding', () => {
  it.each<[string, Partial<ToSettle>, EarlierFinding, readonly string[]]>([
    ['fixed', { statuses: [status('F1', 'fixed', ' ')] }, status('F1', 'fixed', ''), []],
    ['fixed, by an id in other letters', { statuses: [status('[f1]', 'fixed')] }, status('F1', 'fixed'), []],
    ['rejected with a reason', { statuses: [status('F1', 'rejected')] }, status('F1', 'rejected'), []],
    [
      'rejected without one',
      { statuses: [status('F1', 'rejected', 'ok.')] },
      status('F1', 'not_fixed', 'The reviewer dropped it without a reason.'),
      ['F1'],
    ],
    [
      'not fixed and not repeated',
      { statuses: [status('F1', 'not_fixed', 'No.')] },
      status('F1', 'not_fixed', 'No.'),
      ['F1'],
    ],
    [
      'not fixed and repeated',
      { statuses: [status('F1', 'not_fixed', 'No.')], findings: [finding('F1')] },
      status('F1', 'not_fixed', 'No.'),
      ['F1'],
    ],
    [
      'said to be fixed, and repeated',
      { statuses: [status('F1', 'fixed')], findings: [finding('F1')] },
      status('F1', 'not_fixed', 'It is reported again.'),
      ['F1'],
    ],
    [
      'said to be both',
      { statuses: [status('F1', 'fixed'), status('F1', 'not_fixed', 'No.')] },
      status('F1', 'not_fixed', 'No.'),
      ['F1'],
    ],
    ['not spoken of', {}, status('F1', 'not_fixed', 'The reviewer did not say what became of it.'), ['F1']],
    [
      'not spoken of by checks that were made again',
      { whenSilent: 'settled' },
      status('F1', 'fixed', 'It is not found any more.'),
      [],
    ],
  ])('%s', (_, given, fate, open) => {
    const settled = settle(given)
    expect({ previous: settled.previous, open: settled.findings.map(({ id }) => id) }).toEqual({
      previous: [fate],
      open,
    })
  })

  it('is carried on as it was, after what the reviewer says now', () => {
    const kept = finding('F1', { severity: 'critical', problem: 'As before.' })
    const news = finding('F2', { section: 'nowhere' })
    expect(settle({ before: last([kept]), findings: [news] }).findings).toEqual([news, kept])
  })

  it('is not made up from a status', () => {
    expect(settle({ before: null, statuses: [status('F7', 'not_fixed')] })).toMatchObject({
      previous: [],
      findings: [],
    })
  })
})

describe('a finding that comes late', () => {
  it.each<[string, Partial<Finding>, Finding['severity']]>([
    ['in a section that has not changed', { section: 'Goal' }, 'advice'],
    ['in a section that has', { section: 'Approach' }, 'major'],
    ['critical, in a section that has not', { section: 'Goal', severity: 'critical' }, 'critical'],
    ['minor, in a section that has not', { section: 'Goal', severity: 'minor' }, 'minor'],
    ['in a paragraph that has not changed', { evidence: '"A lock is taken in the database"' }, 'advice'],
    ['in a paragraph that has', { evidence: '"It is released after one minute"' }, 'major'],
    ['about both', { evidence: '"A lock is taken in the database" but "It is released after one minute"' }, 'major'],
    ['at an item that has not changed', { section: 'src/send.test.ts:3' }, 'advice'],
    ['at an item that has', { section: 'Changes: src/send.ts' }, 'major'],
    ['at a line that has not changed', { section: 'docs/plan.md:2' }, 'advice'],
    ['in a place that cannot be found', { section: 'Security' }, 'major'],
  ])('%s', (_, given, severity) => {
    const { findings, late, notices } = settle({ before: last([]), findings: [finding('F2', given)] })
    const isLate = severity === 'advice'
    expect({ findings, late, notices }).toEqual({
      findings: [finding('F2', { ...given, severity })],
      late: isLate ? ['F2'] : [],
      notices: isLate
        ? ['F2 is new and concerns text that has not changed since the last review: recorded as advice.']
        : [],
    })
  })

  it.each<[string, string, Partial<Finding>, Finding['severity']]>([
    ['what went was part of the section', '\nIt is released after ten minutes.\n', {}, 'major'],
    [
      'what went was part of another section',
      '\nIt is released after ten minutes.\n',
      { section: 'Changes' },
      'advice',
    ],
    [
      'what went was the next item',
      '- `src/clean.ts` (new): releases what is old.\n',
      { section: 'src/send.ts' },
      'major',
    ],
    [
      'what went was the last of the section before',
      '- `src/send.test.ts` (new): two runs at once.\n',
      { section: 'Approach' },
      'advice',
    ],
  ])('something only went, and %s', (_, gone, given, severity) => {
    const plan = old.replace(gone, '')
    const settled = settle({
      plan,
      changes: diffLines(old, plan),
      before: last([]),
      findings: [finding('F2', given)],
    })
    expect(settled.findings.map((found) => found.severity)).toEqual([severity])
  })

  it('cannot be one of the first review', () => {
    expect(
      settle({ before: null, changes: [], plan: old, findings: [finding('F1', { section: 'Goal' })] }).late,
    ).toEqual([])
  })

  it.each<[string, Finding['severity'], string, readonly string[]]>([
    ['a major one that is repeated stays major', 'major', 'Goal', []],
    ['a late one that is repeated stays advice', 'advice', 'Goal', ['F1']],
    ['a late one may become major when its text has changed', 'advice', 'Approach', []],
  ])('%s', (_, was, section, late) => {
    const repeated = finding('F1', { section })
    expect(settle({ before: last([{ ...repeated, severity: was }]), findings: [repeated] }).late).toEqual(late)
  })
})

describe('the verdict', () => {
  const minor = finding('F2', { severity: 'minor' })
  const late = finding('F3', { section: 'Goal' })
  it.each<[string, Partial<ToSettle>, Verdict]>([
    ['approved, nothing open', { verdict: 'APPROVED', before: null }, 'APPROVED'],
    ['approved, all fixed', { verdict: 'APPROVED', statuses: [status('F1', 'fixed')] }, 'APPROVED'],
    ['approved, with advice', { verdict: 'APPROVED', before: null, findings: [minor] }, 'APPROVED'],
    ['approved, with a late finding', { verdict: 'APPROVED', before: last([]), findings: [late] }, 'APPROVED'],
    [
      'approved, with a major finding',
      { verdict: 'APPROVED', before: null, findings: [finding('F1')] },
      'CHANGES_REQUIRED',
    ],
    [
      'approved, an earlier one not fixed',
      { verdict: 'APPROVED', statuses: [status('F1', 'not_fixed')] },
      'CHANGES_REQUIRED',
    ],
    ['approved, an earlier one forgotten', { verdict: 'APPROVED' }, 'CHANGES_REQUIRED'],
    ['approved, an earlier minor one not fixed', { verdict: 'APPROVED', before: last([minor]) }, 'APPROVED'],
    ['changes required', { findings: [finding('F1')] }, 'CHANGES_REQUIRED'],
    [
      'only late findings, after a review that named nothing',
      { before: last([]), findings: [late] },
      'DECISION_NEEDED',
    ],
    [
      'only late findings, after some that block',
      { statuses: [status('F1', 'fixed')], findings: [late] },
      'CHANGES_REQUIRED',
    ],
    [
      'only late findings, twice',
      { before: last([{ ...late, severity: 'advice' }]), findings: [late] },
      'DECISION_NEEDED',
    ],
    [
      'only late findings, after the user was asked',
      { before: last([{ ...late, severity: 'advice' }], 'DECISION_NEEDED'), findings: [late] },
      'CHANGES_REQUIRED',
    ],
    ['only minor ones, in the first review', { before: null, findings: [minor] }, 'CHANGES_REQUIRED'],
    ['only minor ones, twice', { before: last([minor]), findings: [minor] }, 'DECISION_NEEDED'],
    [
      'a decision, with late findings only',
      { verdict: 'DECISION_NEEDED', before: last([]), findings: [late] },
      'DECISION_NEEDED',
    ],
    ['a decision, with earlier ones open', { verdict: 'DECISION_NEEDED' }, 'DECISION_NEEDED'],
    ['skipped', { verdict: 'SKIPPED' }, 'SKIPPED'],
  ])('%s → %s', (_, given, verdict) => {
    expect(settle(given).verdict).toBe(verdict)
  })

  it('says when the reviewer is overruled', () => {
    expect(settle({ verdict: 'APPROVED' }).notices).toEqual(['The reviewer approved while F1 is open: not approved.'])
  })

  it('keeps the question of the reviewer, and asks one of its own where that has none', () => {
    expect(settle({ verdict: 'DECISION_NEEDED', question: 'Which?' }).question).toBe('Which?')
    expect(settle({ before: last([minor]), findings: [minor] }).question).toContain('minor or came late: F2.')
    expect(settle({ findings: [finding('F1')], question: 'Stray?' }).question).toBeNull()
  })

  it('keeps what was open when a review is skipped', () => {
    expect(settle({ verdict: 'SKIPPED' })).toMatchObject({ findings: [finding('F1')], previous: [] })
  })
})
