import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideNextStep, findAnswer, type NextStep, type PlanWrite } from '../../../src/plan/next-step.ts'
import { verdicts } from '../../../src/schemas/review.ts'
import { finding } from '../../support/plan/findings.ts'

const first: PlanWrite = {
  hash: 'B',
  approvedHash: null,
  reviewed: [],
  counter: 0,
  maxRevisions: 3,
  continued: 0,
  tooLong: null,
  isSpent: false,
  isUtf8: () => true,
  checklist: () => [],
}
const reviewed = (revision: number, planHash: string, verdict: (typeof verdicts)[number] = 'CHANGES_REQUIRED') => ({
  revision,
  planHash,
  verdict,
})
const twice = { reviewed: [reviewed(1, 'A'), reviewed(2, 'B')], counter: 2 }
const full = { reviewed: [reviewed(1, 'A'), reviewed(2, 'C'), reviewed(3, 'D')], counter: 3 }
const long = { tokens: 1001, limit: 1000, sections: [{ title: 'Approach', tokens: 900 }] }
const flaw = finding('C1')
const review = (revision: number, left: number, newCycle = false): NextStep => ({
  kind: 'review',
  revision,
  newCycle,
  left,
})

describe('findAnswer', () => {
  const last = (plan_hash: string, again = false) => ({ plan_hash, again })
  it.each<[string, Partial<Parameters<typeof findAnswer>[0]>, 'not-needed' | 'repeat' | 'new']>([
    ['the first plan', {}, 'new'],
    ['the approved plan', { approvedHash: 'B' }, 'not-needed'],
    ['the approved plan, answered before', { approvedHash: 'B', last: () => last('B') }, 'not-needed'],
    ['an approved plan that was changed', { approvedHash: 'A', last: () => last('A') }, 'new'],
    ['the same bytes, saved again', { last: () => last('B') }, 'repeat'],
    ['the same bytes, after a review that failed', { last: () => last('B', true) }, 'new'],
    ['the same bytes, after the end of their cycle', { last: () => last('B'), counter: () => 0 }, 'new'],
    ['another tool, and bytes without an answer', { wrotePlan: false }, 'new'],
    ['another tool, and the plan as it was', { wrotePlan: false, last: () => last('B') }, 'not-needed'],
    ['another tool, after a review that failed', { wrotePlan: false, last: () => last('B', true) }, 'not-needed'],
    ['another tool, and an older text came back', { wrotePlan: false, last: () => last('A') }, 'new'],
    ['another tool, which changed the approved plan', { wrotePlan: false, approvedHash: 'A' }, 'new'],
  ])('%s', (_, given, expected) => {
    const saved = { planHash: 'B', approvedHash: null, last: () => null, counter: () => 1, wrotePlan: true, ...given }
    expect(findAnswer(saved).kind).toBe(expected)
  })
})

describe('decideNextStep', () => {
  it.each<[string, Partial<PlanWrite>, NextStep]>([
    ['the first write', {}, review(1, 2)],
    ['the second revision', { reviewed: [reviewed(1, 'A')], counter: 1 }, review(2, 1)],
    ['the last revision', { reviewed: [reviewed(1, 'A'), reviewed(2, 'C')], counter: 2 }, review(3, 0)],
    [
      'an approved plan changed',
      { approvedHash: 'A', reviewed: [reviewed(3, 'A', 'APPROVED')], counter: 3 },
      review(1, 2, true),
    ],
    ['an approved plan changed to an older text', { approvedHash: 'A', ...twice }, review(1, 2, true)],
    [
      'an approved plan changed, after more was granted',
      { approvedHash: 'A', counter: 4, continued: 2 },
      review(1, 2, true),
    ],
    ['the bytes of the last revision', twice, { kind: 'same-as', revision: 2, verdict: 'CHANGES_REQUIRED' }],
    [
      'the bytes of an older one',
      { ...twice, hash: 'A', tooLong: long },
      { kind: 'same-as', revision: 1, verdict: 'CHANGES_REQUIRED' },
    ],
    [
      'a question that is still open',
      { reviewed: [reviewed(1, 'B', 'DECISION_NEEDED')], counter: 1 },
      { kind: 'same-as', revision: 1, verdict: 'DECISION_NEEDED' },
    ],
    [
      'a text reviewed twice',
      { reviewed: [reviewed(1, 'B'), reviewed(2, 'B')], counter: 2 },
      { kind: 'same-as', revision: 2, verdict: 'CHANGES_REQUIRED' },
    ],
    [
      'reviewed bytes are neither measured nor checked',
      { ...twice, tooLong: long, isUtf8: () => false, checklist: () => [flaw] },
      { kind: 'same-as', revision: 2, verdict: 'CHANGES_REQUIRED' },
    ],
    [
      'an approval that was not written',
      { reviewed: [reviewed(1, 'B', 'APPROVED')], counter: 1 },
      { kind: 'same-as', revision: 1, verdict: 'APPROVED' },
    ],
    [
      'an approval that was not written, at the limit',
      { ...full, reviewed: [reviewed(3, 'B', 'APPROVED')] },
      { kind: 'same-as', revision: 3, verdict: 'APPROVED' },
    ],
    ['a skipped review is none', { reviewed: [reviewed(1, 'B', 'SKIPPED')], counter: 1 }, review(2, 1)],
    ['the limit', full, { kind: 'limit', revisions: 3 }],
    ['the limit, with reviewed bytes', { ...full, hash: 'C', tooLong: long }, { kind: 'limit', revisions: 3 }],
    [
      'the limit, whatever is wrong with the plan',
      { ...full, tooLong: long, isUtf8: () => false, checklist: () => [flaw] },
      { kind: 'limit', revisions: 3 },
    ],
    ['a limit that was lowered', { ...full, counter: 5 }, { kind: 'limit', revisions: 5 }],
    ['more revisions granted', { ...full, continued: 2 }, review(4, 1)],
    ['more revisions granted and used', { ...full, counter: 5, continued: 2 }, { kind: 'limit', revisions: 5 }],
    ['the tokens of the cycle are used up', { ...twice, hash: 'E', isSpent: true }, { kind: 'limit', revisions: 2 }],
    ['those of the cycle before', { approvedHash: 'A', isSpent: true }, review(1, 2, true)],
    [
      'too long',
      { tooLong: long, isUtf8: () => expect.unreachable() },
      { kind: 'refused-input', why: 'too-long', ...long },
    ],
    [
      'not UTF-8',
      { isUtf8: () => false, checklist: () => expect.unreachable() },
      { kind: 'refused-input', why: 'not-utf8' },
    ],
    [
      'something for the author to fix first',
      { checklist: () => [flaw] },
      { kind: 'checklist', newCycle: false, findings: [flaw] },
    ],
    [
      'something for the author to fix first, after an approval',
      { approvedHash: 'A', checklist: () => [flaw] },
      { kind: 'checklist', newCycle: true, findings: [flaw] },
    ],
  ])('%s', (_, given, expected) => {
    expect(decideNextStep({ ...first, ...given })).toEqual(expected)
  })

  it('never has reviewed what is approved, reviewed, over the limit or not fit for it', () => {
    const hashes = fc.constantFrom('A', 'B', 'C')
    const anyWrite: fc.Arbitrary<PlanWrite> = fc.record({
      hash: fc.constant('B'),
      approvedHash: fc.option(fc.constantFrom('A', 'C')),
      reviewed: fc.array(
        fc.record({
          revision: fc.integer({ min: 1, max: 5 }),
          planHash: hashes,
          verdict: fc.constantFrom(...verdicts),
        }),
        { maxLength: 4 },
      ),
      counter: fc.integer({ min: 0, max: 6 }),
      maxRevisions: fc.integer({ min: 1, max: 5 }),
      continued: fc.integer({ min: 0, max: 3 }),
      tooLong: fc.constantFrom(null, long),
      isSpent: fc.boolean(),
      isUtf8: fc.boolean().map((is) => () => is),
      checklist: fc.boolean().map((is) => () => (is ? [flaw] : [])),
    })
    fc.assert(
      fc.property(anyWrite, (write) => {
        const step = decideNextStep(write)
        if (step.kind !== 'review') return
        const { hash, approvedHash } = write
        const isKnown = write.reviewed.some(({ planHash, verdict }) => planHash === hash && verdict !== 'SKIPPED')
        expect(write.tooLong).toBe(null)
        expect(write.isSpent && !step.newCycle).toBe(false)
        expect(write.isUtf8() && write.checklist().length === 0).toBe(true)
        expect(step.left).toBeGreaterThanOrEqual(0)
        expect(step.newCycle).toBe(approvedHash !== null)
        expect(step.revision).toBe(step.newCycle ? 1 : write.counter + 1)
        expect(isKnown && !step.newCycle).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })
})
