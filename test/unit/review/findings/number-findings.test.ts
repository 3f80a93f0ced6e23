import { describe, expect, it } from 'vitest'
import { numberFindings, type ToNumber } from '../../../../src/review/findings.ts'
import type { AnsweredFinding, EarlierFinding, Severity } from '../../../../src/schemas/review.ts'
import { finding } from '../../../support/plan/findings.ts'

const lock = 'The lock is never released when the process crashes, so the next run waits for ever.'
const lockAgain = 'When the process crashes the lock is never released, and each later run waits for ever.'
const retries = 'Retries are not bounded, so a failing server is called for ever.'

const says = (id: string | null, problem: string, more: Partial<AnsweredFinding> = {}): AnsweredFinding => ({
  ...finding('', { problem }),
  ...more,
  id,
})
const status = (id: string, state: EarlierFinding['status']): EarlierFinding => ({ id, status: state, reason: 'seen' })

const earlier = [finding('F2', { problem: lock }), finding('F4', { section: 'Risks', problem: retries })]

describe('numberFindings', () => {
  it.each<[string, Partial<ToNumber>, readonly string[], number]>([
    [
      'the first ones of a cycle',
      { answered: [says(null, lock), says(null, retries)], earlier: [], lastId: 0 },
      ['F1', 'F2'],
      2,
    ],
    ['none', { answered: [] }, [], 4],
    ['one that is named', { answered: [says('F2', 'Something quite different.')] }, ['F2'], 4],
    ['one that is named in passing', { answered: [says('[f2]', lock)] }, ['F2'], 4],
    ['a made-up id', { answered: [says('F9', 'Something new.'), says('SEC-1', 'Another.')] }, ['F5', 'F6'], 6],
    ['the id of one that is closed', { answered: [says('F1', 'Something new.')] }, ['F5'], 5],
    ['the same words without its id', { answered: [says(null, lock)] }, ['F2'], 4],
    ['the same in other words', { answered: [says(null, lockAgain)] }, ['F2'], 4],
    ['the same under a made-up id', { answered: [says('X1', lockAgain)] }, ['F2'], 4],
    ['the same in another place', { answered: [says(null, lockAgain, { section: 'Goal' })] }, ['F5'], 5],
    [
      'the same place, named in more detail',
      { answered: [says(null, lockAgain, { section: '## Approach, step 2' })] },
      ['F2'],
      4,
    ],
    ['another in the same place', { answered: [says(null, retries)] }, ['F5'], 5],
    [
      'other words for what is said to be fixed',
      { answered: [says(null, lockAgain)], statuses: [status('F2', 'fixed')] },
      ['F5'],
      5,
    ],
    [
      'the same words for what is said to be fixed',
      { answered: [says(null, lock)], statuses: [status('F2', 'fixed')] },
      ['F2'],
      4,
    ],
    ['one that another has named already', { answered: [says(null, lockAgain), says('F2', retries)] }, ['F5', 'F2'], 5],
    ['one id for two problems', { answered: [says('F2', lock), says('F2', retries)] }, ['F2', 'F5'], 5],
    ['a twin', { answered: [says(null, retries), says(null, retries)] }, ['F5'], 5],
    ['a twin of one that is named', { answered: [says(null, lock), says('F2', lock)] }, ['F2'], 4],
    ['a counter that was lost', { answered: [says(null, 'New.')], lastId: 0 }, ['F5'], 5],
    ['a counter that is ahead', { answered: [says(null, 'New.')], lastId: 9 }, ['F10'], 10],
  ])('%s', (_, given, ids, lastId) => {
    const numbered = numberFindings({ answered: [], earlier, statuses: [], lastId: 4, ...given })
    expect({ ids: numbered.findings.map(({ id }) => id), lastId: numbered.lastId }).toEqual({ ids, lastId })
  })

  it.each<[Severity, Severity, Severity]>([
    ['minor', 'critical', 'critical'],
    ['major', 'advice', 'major'],
  ])('a twin keeps the graver of %s and %s', (first, second, expected) => {
    const answered = [
      says(null, lock, { severity: first, fix: 'One.' }),
      says(null, lock, { severity: second, fix: 'Two.' }),
    ]
    expect(numberFindings({ answered, earlier: [], statuses: [], lastId: 0 })).toEqual({
      findings: [finding('F1', { problem: lock, severity: expected, fix: 'One.' })],
      lastId: 1,
    })
  })

  it('takes the one that is most alike', () => {
    const two = [finding('F1', { problem: `${lock} And the log says nothing.` }), finding('F2', { problem: lock })]
    const answered = [says(null, lock)]
    expect(numberFindings({ answered, earlier: two, statuses: [], lastId: 2 }).findings.map(({ id }) => id)).toEqual([
      'F2',
    ])
  })
})
