import { describe, expect, it } from 'vitest'
import { findStuck, type Reviewed } from '../../../src/plan/findings.ts'
import type { EarlierFinding } from '../../../src/schemas/review.ts'
import { finding } from '../../support/plan/findings.ts'

const plan = (approach: string, more = ''): string =>
  `## Goal\nInvoices are sent once.\n\n## Approach\n${approach}\n\n## Risks\nNone.\n${more}`

const review = (revision: number, given: Partial<Reviewed>): Reviewed => ({
  revision,
  plan: plan(`Approach ${revision}.`),
  verdict: 'CHANGES_REQUIRED',
  findings: [],
  previous: [],
  ...given,
})
const was = (id: string, status: EarlierFinding['status'] = 'not_fixed'): EarlierFinding => ({
  id,
  status,
  reason: 'No.',
})
const [f1, f2, advice] = [finding('F1'), finding('F2'), finding('F3', { severity: 'advice' })]
const kinds = (history: readonly Reviewed[]): readonly string[] =>
  findStuck(history).map((words) =>
    words
      .replace(/^(F\d+) and (F\d+) undo each other in .*$/, 'undone $1+$2')
      .replace(/^(F\d+) \(.*\) came back unfixed .*$/, 'unfixed $1')
      .replace(/^.* is the same text as revision (\d+)\.$/, 'same-plan $1'),
  )

describe('findStuck', () => {
  it.each<[string, readonly Reviewed[], readonly string[]]>([
    ['no review', [], []],
    ['the first', [review(1, { findings: [f1] })], []],
    ['unfixed once', [review(1, { findings: [f1] }), review(2, { findings: [f1], previous: [was('F1')] })], []],
    [
      'unfixed twice',
      [
        review(1, { findings: [f1, f2] }),
        review(2, { findings: [f1, f2], previous: [was('F1'), was('F2')] }),
        review(3, { findings: [f1], previous: [was('F1'), was('F2', 'fixed')] }),
      ],
      ['unfixed F1'],
    ],
    [
      'advice that nobody follows',
      [
        review(1, { findings: [advice] }),
        review(2, { findings: [advice], previous: [was('F3')] }),
        review(3, { findings: [advice], previous: [was('F3')] }),
      ],
      [],
    ],
    [
      'unfixed twice, and fixed then',
      [
        review(1, { findings: [f1] }),
        review(2, { findings: [f1], previous: [was('F1')] }),
        review(3, { findings: [f1], previous: [was('F1')] }),
        review(4, { findings: [], previous: [was('F1', 'fixed')] }),
      ],
      [],
    ],
    [
      'the same plan as an older one',
      [review(1, { plan: plan('A.') }), review(2, { plan: plan('B.') }), review(3, { plan: plan('A.') })],
      ['same-plan 1'],
    ],
    [
      'a section that is back, with a finding about each of its forms',
      [
        review(1, { plan: plan('No lock.'), findings: [f1] }),
        review(2, { plan: plan('No lock.\n\nBut a lock.'), findings: [f2], previous: [was('F1', 'fixed')] }),
        review(3, { plan: plan('No lock.', '\n## More\nNew.\n') }),
      ],
      ['undone F1+F2'],
    ],
    [
      'a section that is back after two other forms',
      [
        review(1, { plan: plan('A.'), findings: [f1] }),
        review(2, { plan: plan('B.') }),
        review(3, { plan: plan('C.'), findings: [f2] }),
        review(4, { plan: plan('A.', 'x\n') }),
      ],
      ['undone F1+F2'],
    ],
    [
      'a section that is back, which nobody had found fault with',
      [
        review(1, { plan: plan('A.') }),
        review(2, { plan: plan('B.'), findings: [f2] }),
        review(3, { plan: plan('A.', 'x\n') }),
      ],
      [],
    ],
    [
      'a section that is back, with nothing against its other form',
      [
        review(1, { plan: plan('A.'), findings: [f1] }),
        review(2, { plan: plan('B.'), findings: [finding('F2', { section: 'Goal' })] }),
        review(3, { plan: plan('A.', 'x\n') }),
      ],
      [],
    ],
    [
      'a section that never changed',
      [
        review(1, { plan: plan('A.'), findings: [f1] }),
        review(2, { plan: plan('A.', 'x\n'), findings: [f2] }),
        review(3, { plan: plan('A.', 'y\n') }),
      ],
      [],
    ],
    [
      'the same finding about both forms',
      [
        review(1, { plan: plan('A.'), findings: [f1] }),
        review(2, { plan: plan('B.'), findings: [f1], previous: [was('F1')] }),
        review(3, { plan: plan('A.', 'x\n') }),
      ],
      [],
    ],
    [
      'a paragraph that is back in a section that has changed otherwise',
      [
        review(1, {
          plan: plan('A lock is kept in the database.\n\nOne.'),
          findings: [finding('F1', { evidence: '"A lock is kept in the database."' })],
        }),
        review(2, { plan: plan('A lock is kept in a file, by the name of the run.\n\nTwo.'), findings: [f2] }),
        review(3, { plan: plan('A lock is kept in the database.\n\nThree.') }),
      ],
      ['undone F1+F2'],
    ],
  ])('%s', (_, history, expected) => {
    expect(kinds(history)).toEqual(expected)
  })

  it('says it in words', () => {
    const history = [
      review(1, { plan: plan('A.'), findings: [f1] }),
      review(2, { plan: plan('B.'), findings: [f1, f2], previous: [was('F1')] }),
      review(3, { plan: plan('A.'), findings: [f1], previous: [was('F1'), was('F2', 'fixed')] }),
    ]
    expect(findStuck(history)).toEqual([
      'Revision 3 of the plan is the same text as revision 1.',
      'F1 (Approach) came back unfixed 2 times, last in revision 3.',
      'F1 and F2 undo each other in "Approach": text that was changed for F1 is back as it was.',
    ])
  })
})
