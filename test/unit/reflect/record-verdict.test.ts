import { describe, expect, it } from 'vitest'
import {
  clearFinding,
  findingKey,
  type OpenFinding,
  type OpenFindings,
  openFindings,
  parseOpenFindings,
  type ReflectionOutcome,
  type ReviewedSubject,
  recordFinding,
  recordVerdict,
} from '../../../src/reflect/session-state.ts'

const key = findingKey({ kind: 'file', path: 'src/a.ts' })
const fail = (rest: Partial<OpenFinding> = {}): OpenFinding => ({
  key,
  about: 'src/a.ts',
  verdict: 'FAIL',
  summary: 'old',
  at: 1,
  ...rest,
})
const none: OpenFindings = { fails: [] }
const open: OpenFindings = { fails: [fail()] }
const other = fail({ key: findingKey({ kind: 'file', path: 'src/b.ts' }), about: 'src/b.ts' })

const review = (rest: Partial<ReviewedSubject>): ReviewedSubject => ({
  verdict: 'PASS',
  cached: false,
  key,
  about: 'src/a.ts',
  summary: 'new',
  at: 2,
  ...rest,
})
const now = (verdict: OpenFinding['verdict']): OpenFindings => ({ fails: [fail({ verdict, summary: 'new', at: 2 })] })
const found = (verdict: OpenFinding['verdict'], cached: boolean): ReflectionOutcome => ({
  kind: 'found',
  about: 'src/a.ts',
  verdict,
  summary: 'new',
  cached,
})
const passed = (cleared: boolean): ReflectionOutcome => ({ kind: 'passed', about: 'src/a.ts', cleared })

/** Each verdict, fresh and cached, with and without something open about the same file. */
const rows: { before: OpenFindings; of: Partial<ReviewedSubject>; after: OpenFindings; outcome: ReflectionOutcome }[] =
  [
    { before: none, of: { verdict: 'PASS' }, after: none, outcome: passed(false) },
    { before: open, of: { verdict: 'PASS' }, after: none, outcome: passed(true) },
    { before: none, of: { verdict: 'FAIL' }, after: now('FAIL'), outcome: found('FAIL', false) },
    { before: open, of: { verdict: 'FAIL' }, after: now('FAIL'), outcome: found('FAIL', false) },
    { before: none, of: { verdict: 'UNCERTAIN' }, after: none, outcome: found('UNCERTAIN', false) },
    { before: open, of: { verdict: 'UNCERTAIN' }, after: open, outcome: found('UNCERTAIN', false) },
    { before: none, of: { verdict: 'PASS', cached: true }, after: none, outcome: { kind: 'nothing' } },
    { before: open, of: { verdict: 'PASS', cached: true }, after: none, outcome: { kind: 'nothing' } },
    { before: none, of: { verdict: 'FAIL', cached: true }, after: now('FAIL'), outcome: found('FAIL', true) },
    { before: open, of: { verdict: 'FAIL', cached: true }, after: now('FAIL'), outcome: found('FAIL', true) },
    {
      before: none,
      of: { verdict: 'UNCERTAIN', cached: true },
      after: now('UNCERTAIN'),
      outcome: found('UNCERTAIN', true),
    },
    {
      before: open,
      of: { verdict: 'UNCERTAIN', cached: true },
      after: now('UNCERTAIN'),
      outcome: found('UNCERTAIN', true),
    },
    { before: open, of: { verdict: 'FAIL', key: null }, after: open, outcome: found('FAIL', false) },
    { before: open, of: { verdict: 'PASS', key: null }, after: open, outcome: passed(false) },
  ]

describe('recordVerdict', () => {
  it.each(rows)('$of with $before.fails.length open', ({ before, of, after, outcome }) => {
    expect(recordVerdict(before, review(of))).toEqual({ state: after, outcome })
  })

  it('leaves what is open about other files', () => {
    expect(recordVerdict({ fails: [other, fail()] }, review({ verdict: 'PASS' })).state).toEqual({ fails: [other] })
  })
})

describe('open findings', () => {
  it('a file and a command of the same name are two things', () => {
    expect(findingKey({ kind: 'file', path: 'x' })).not.toBe(findingKey({ kind: 'command', hash: 'x' }))
  })

  it('names what is certain first', () => {
    const unsure = fail({ key: 'file c', verdict: 'UNCERTAIN' })
    expect(openFindings({ fails: [unsure, fail(), other] })).toEqual([fail(), other, unsure])
  })

  it('does not grow without end', () => {
    let state = none
    for (let n = 0; n < 300; n++) state = recordFinding(state, fail({ key: `file ${n}` }))
    expect(state.fails).toHaveLength(200)
    expect(state.fails.at(-1)?.key).toBe('file 299')
    expect(parseOpenFindings({ fails: Array.from({ length: 300 }, () => fail()) }).fails).toHaveLength(200)
  })

  it('clears one and no other', () => {
    expect(clearFinding({ fails: [fail(), other] }, key)).toEqual({ fails: [other] })
    expect(clearFinding(none, key)).toEqual(none)
  })

  it.each([
    undefined,
    null,
    'x',
    [],
    { fails: 'x' },
    { fails: [null, {}, { key: 'k' }, { key: 'k', verdict: 'PASS' }] },
  ])('%j is an empty state', (value) => {
    expect(parseOpenFindings(value)).toEqual(none)
  })

  it('reads what is whole', () => {
    expect(parseOpenFindings({ fails: [fail(), { key: 'k', verdict: 'UNCERTAIN', summary: 7, at: 'x' }] })).toEqual({
      fails: [fail(), { key: 'k', about: 'k', verdict: 'UNCERTAIN', summary: '', at: 0 }],
    })
  })
})
