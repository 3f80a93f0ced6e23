import { describe, expect, it } from 'vitest'
import { type PlanReviewContext, settlePlanReview } from '../../../src/plan/findings.ts'
import type { Reported, Settled } from '../../../src/review/request.ts'
import type { EarlierFinding, Finding, Verdict } from '../../../src/schemas/review.ts'
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
const last = (findings: readonly Finding[], verdict: Verdict = 'CHANGES_REQUIRED', plan = old) => ({
  verdict,
  findings,
  plan,
})
type Review = PlanReviewContext & Reported
const reconcile = (given: Partial<Review>, stage: 'first' | 'final' = 'final'): Settled => {
  const review: Review = {
    backend: 'codex',
    verdict: 'CHANGES_REQUIRED',
    question: null,
    findings: [],
    statuses: [],
    earlier: [],
    before: last([finding('F1')]),
    round: 2,
    plan: now,
    byChecklist: false,
    ...given,
  }
  return settlePlanReview(review)(review, stage)
}

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
    ['in no place of the plan', { section: 'Overall' }, 'advice'],
    ['in a file that the plan does not name', { section: 'src/store.ts:4' }, 'advice'],
    ['in no place, about what came', { section: 'Overall', problem: 'One minute keeps nobody out.' }, 'major'],
    ['in no place, about what went', { section: 'General', problem: 'Ten minutes were right.' }, 'major'],
    ['in no place, about a file that changed', { section: '', problem: '`src/send.ts` has no caller.' }, 'major'],
  ])('%s', (_, given, severity) => {
    const { findings, late, notices } = reconcile({ before: last([]), findings: [finding('F2', given)] })
    const isLate = severity === 'advice'
    expect({ findings, late, notices }).toEqual({
      findings: [{ ...finding('F2', { ...given, severity }), ...(isLate ? { raised_as: 'major' } : {}) }],
      late: isLate ? ['F2'] : [],
      notices: isLate ? ['F2 (major) came late and does not block the plan: recorded as advice.'] : [],
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
    const reconciled = reconcile({ plan, before: last([]), findings: [finding('F2', given)] })
    expect(reconciled.findings.map((found) => found.severity)).toEqual([severity])
  })

  it.each<[string, string, string, Partial<Finding>, readonly string[]]>([
    ['line ends', old.replaceAll('\n', '\r\n'), now, { section: 'Goal' }, ['F2']],
    ['line ends, and what it is about', old.replaceAll('\n', '\r\n'), now, { section: 'Approach' }, []],
    ['white space', old.replaceAll('.\n', '.  \n'), now, { section: 'Goal' }, ['F2']],
    [
      'lines by line ends, quoted',
      old,
      now.replaceAll('\n', '\r\n'),
      { evidence: '"Invoices are sent once."' },
      ['F2'],
    ],
    [
      'a Chinese plan',
      '## 方案\n数据库中使用锁。\n\n十分钟后释放锁。\n',
      '## 方案\n数据库中使用锁。\n\n一分钟后释放锁。\n',
      { section: '方案', evidence: '数据库中使用锁。' },
      ['F2'],
    ],
    [
      'a Japanese plan, quoted',
      '## 方針\nデータベースでロックを取る。\n\n十分後に解放する。\n',
      '## 方針\nデータベースでロックを取る。\n\n一分後に解放する。\n',
      { section: '方針', evidence: '計画に「データベースでロックを取る」とある。' },
      ['F2'],
    ],
    [
      'a Japanese plan, at what changed',
      '## 方針\nデータベースでロックを取る。\n\n十分後に解放する。\n',
      '## 方針\nデータベースでロックを取る。\n\n一分後に解放する。\n',
      { section: '方針', evidence: '計画に『一分後に解放する』とある。' },
      [],
    ],
  ])('%s', (_, plan, changed, given, late) => {
    const before = last([], 'CHANGES_REQUIRED', plan)
    expect(reconcile({ before, plan: changed, findings: [finding('F2', given)] }).late).toEqual(late)
  })

  it('cannot be one of the first review', () => {
    expect(reconcile({ before: null, plan: old, findings: [finding('F1', { section: 'Goal' })] }).late).toEqual([])
  })

  it.each<[string, Finding['severity'], string, readonly string[]]>([
    ['a major one that is repeated stays major', 'major', 'Goal', []],
    ['a late one that is repeated stays advice', 'advice', 'Goal', ['F1']],
    ['a late one may become major when its text has changed', 'advice', 'Approach', []],
  ])('%s', (_, was, section, late) => {
    const repeated = finding('F1', { section })
    expect(reconcile({ before: last([{ ...repeated, severity: was }]), findings: [repeated] }).late).toEqual(late)
  })
})

it('one of two sections with the same name may be the changed one', () => {
  const plan = `${now}\n## Approach\nIt is sent twice.\n`
  expect(reconcile({ plan, findings: [finding('F2', { section: 'Approach', evidence: 'Twice.' })] }).late).toEqual([])
})

describe('from the third round on', () => {
  it.each<[string, Partial<Finding>, readonly string[]]>([
    ['a new major one is late wherever it is', { section: 'Approach' }, ['F2']],
    ['a new critical one is not', { section: 'Approach', severity: 'critical' }, []],
    ['one that has blocked before is not', { id: 'F1', section: 'Goal' }, []],
  ])('%s', (_, given, late) => {
    expect(reconcile({ round: 3, findings: [finding('F2', given)] }).late).toEqual(late)
  })

  it('a new major one in a plan that was written anew is not late', () => {
    const plan =
      '## Approach\nInvoices go into a queue.\n\nOne worker sends them.\n\n## Changes\n- `src/queue.ts` (new)\n'
    expect(reconcile({ round: 3, plan, findings: [finding('F2')] }).late).toEqual([])
  })
})

describe('the verdict', () => {
  const minor = finding('F2', { severity: 'minor' })
  const late = finding('F3', { section: 'Goal' })
  it.each<[string, Partial<Review>, Verdict]>([
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
  ])('%s → %s', (_, given, verdict) => {
    expect(reconcile(given).verdict).toBe(verdict)
  })

  it.each<[string, Partial<Review>, boolean]>([
    ['a major one', { findings: [finding('F2', { section: 'Approach' })] }, false],
    ['an earlier one', {}, false],
    ['a minor one, in the first review', { before: null, findings: [minor] }, true],
    ['a late one', { before: last([]), findings: [late] }, true],
    ['nothing, but a decision is needed', { before: null, verdict: 'DECISION_NEEDED' }, false],
    ['nothing, and it approves', { before: null, verdict: 'APPROVED' }, false],
  ])('is asked about before the second time where what is open is %s', (_, given, isUnfounded) => {
    expect(reconcile(given, 'first')).toMatchObject({ isUnfounded, verdict: given.verdict ?? 'CHANGES_REQUIRED' })
  })

  it('waits for the statuses that are missing, and is no approval without them', () => {
    const [first, final] = (['first', 'final'] as const).map((stage) => reconcile({ verdict: 'APPROVED' }, stage))
    expect(first?.unanswered).toEqual(['F1'])
    expect(final).toMatchObject({ verdict: 'CHANGES_REQUIRED', findings: [finding('F1')] })
  })

  it('says when the reviewer is overruled', () => {
    const statuses = [status('F1', 'not_fixed')]
    expect(reconcile({ verdict: 'APPROVED', statuses }).notices).toEqual([
      'The reviewer approved while F1 is open: not approved.',
    ])
  })

  it('keeps the question of the reviewer, and asks one of its own where that has none', () => {
    expect(reconcile({ verdict: 'DECISION_NEEDED', question: 'Which?' }).question).toBe('Which?')
    expect(reconcile({ before: last([minor]), findings: [minor] }).question).toContain('minor or came late: F2.')
    expect(reconcile({ findings: [finding('F1')], question: 'Stray?' }).question).toBeNull()
  })
})
