import { describe, expect, it } from 'vitest'
import { type ReflectionOutcome, type ReviewedSubject, recordVerdict } from '../../../src/reflect/session-state.ts'
import {
  clearFail,
  type Fail,
  type FailState,
  failKey,
  parseFailState,
  pendingFails,
  recordFail,
} from '../../../src/reflect/values.ts'

const key = failKey({ kind: 'file', path: 'src/a.ts' })
const fail = (rest: Partial<Fail> = {}): Fail => ({
  key,
  about: 'src/a.ts',
  verdict: 'FAIL',
  summary: 'old',
  at: 1,
  ...rest,
})
const none: FailState = { fails: [] }
const open: FailState = { fails: [fail()] }
const other = fail({ key: failKey({ kind: 'file', path: 'src/b.ts' }), about: 'src/b.ts' })

const review = (rest: Partial<ReviewedSubject>): ReviewedSubject => ({
  verdict: 'PASS',
  cached: false,
  key,
  about: 'src/a.ts',
  summary: 'new',
  at: 2,
  ...rest,
})
const now = (verdict: Fail['verdict']): FailState => ({ fails: [fail({ verdict, summary: 'new', at: 2 })] })
const found = (verdict: Fail['verdict'], cached: boolean): ReflectionOutcome => ({
  kind: 'found',
  about: 'src/a.ts',
  verdict,
  summary: 'new',
  cached,
})
const passed = (settled: boolean): ReflectionOutcome => ({ kind: 'passed', about: 'src/a.ts', settled })

/** Each verdict, fresh and cached, with and without something open about the same file. */
const rows: { before: FailState; of: Partial<ReviewedSubject>; after: FailState; tell: ReflectionOutcome }[] = [
  { before: none, of: { verdict: 'PASS' }, after: none, tell: passed(false) },
  { before: open, of: { verdict: 'PASS' }, after: none, tell: passed(true) },
  { before: none, of: { verdict: 'FAIL' }, after: now('FAIL'), tell: found('FAIL', false) },
  { before: open, of: { verdict: 'FAIL' }, after: now('FAIL'), tell: found('FAIL', false) },
  { before: none, of: { verdict: 'UNCERTAIN' }, after: none, tell: found('UNCERTAIN', false) },
  { before: open, of: { verdict: 'UNCERTAIN' }, after: open, tell: found('UNCERTAIN', false) },
  { before: none, of: { verdict: 'PASS', cached: true }, after: none, tell: { kind: 'nothing' } },
  { before: open, of: { verdict: 'PASS', cached: true }, after: none, tell: { kind: 'nothing' } },
  { before: none, of: { verdict: 'FAIL', cached: true }, after: now('FAIL'), tell: found('FAIL', true) },
  { before: open, of: { verdict: 'FAIL', cached: true }, after: now('FAIL'), tell: found('FAIL', true) },
  { before: none, of: { verdict: 'UNCERTAIN', cached: true }, after: now('UNCERTAIN'), tell: found('UNCERTAIN', true) },
  { before: open, of: { verdict: 'UNCERTAIN', cached: true }, after: now('UNCERTAIN'), tell: found('UNCERTAIN', true) },
  { before: open, of: { verdict: 'FAIL', key: null }, after: open, tell: found('FAIL', false) },
  { before: open, of: { verdict: 'PASS', key: null }, after: open, tell: passed(false) },
]

describe('afterReview', () => {
  it.each(rows)('$of with $before.fails.length open', ({ before, of, after, tell }) => {
    expect(recordVerdict(before, review(of))).toEqual({ state: after, tell })
  })

  it('leaves what is open about other files', () => {
    expect(recordVerdict({ fails: [other, fail()] }, review({ verdict: 'PASS' })).state).toEqual({ fails: [other] })
  })
})

describe('the fail state', () => {
  it('a file and a command of the same name are two things', () => {
    expect(failKey({ kind: 'file', path: 'x' })).not.toBe(failKey({ kind: 'command', hash: 'x' }))
  })

  it('names what is certain first', () => {
    const unsure = fail({ key: 'file c', verdict: 'UNCERTAIN' })
    expect(pendingFails({ fails: [unsure, fail(), other] })).toEqual([fail(), other, unsure])
  })

  it('does not grow without end', () => {
    let state = none
    for (let n = 0; n < 300; n++) state = recordFail(state, fail({ key: `file ${n}` }))
    expect(state.fails).toHaveLength(200)
    expect(state.fails.at(-1)?.key).toBe('file 299')
    expect(parseFailState({ fails: Array.from({ length: 300 }, () => fail()) }).fails).toHaveLength(200)
  })

  it('clears one and no other', () => {
    expect(clearFail({ fails: [fail(), other] }, key)).toEqual({ fails: [other] })
    expect(clearFail(none, key)).toEqual(none)
  })

  it.each([
    undefined,
    null,
    'x',
    [],
    { fails: 'x' },
    { fails: [null, {}, { key: 'k' }, { key: 'k', verdict: 'PASS' }] },
  ])('%j is an empty state', (value) => {
    expect(parseFailState(value)).toEqual(none)
  })

  it('reads what is whole', () => {
    expect(parseFailState({ fails: [fail(), { key: 'k', verdict: 'UNCERTAIN', summary: 7, at: 'x' }] })).toEqual({
      fails: [fail(), { key: 'k', about: 'k', verdict: 'UNCERTAIN', summary: '', at: 0 }],
    })
  })
})
