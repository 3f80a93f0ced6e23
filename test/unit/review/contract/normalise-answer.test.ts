import { describe, expect, it } from 'vitest'
import { normaliseAnswer } from '../../../../src/review/normalise-answer.ts'
import type { AnsweredFinding } from '../../../../src/schemas/review.ts'
import { isRecord } from '../../../../src/text/json.ts'

const normalise = (value: object) => normaliseAnswer(isRecord(value) ? value : {}, 'CHANGES_REQUIRED')
const findings = (...given: unknown[]): readonly AnsweredFinding[] => normalise({ findings: given }).answer.findings
const finding = (over: Partial<AnsweredFinding> = {}): AnsweredFinding => ({
  id: null,
  severity: 'major',
  section: '',
  problem: 'Two writers.',
  evidence: '',
  fix: '',
  ...over,
})

describe('a finding', () => {
  it.each<{ name: string; given: unknown; expected: AnsweredFinding }>([
    {
      name: 'as it was asked for',
      given: {
        id: 'F2',
        severity: 'minor',
        section: 'Design',
        problem: 'Two writers.',
        evidence: 'line 3',
        fix: 'A lock.',
      },
      expected: finding({ id: 'F2', severity: 'minor', section: 'Design', evidence: 'line 3', fix: 'A lock.' }),
    },
    { name: 'as a text', given: 'Two writers.', expected: finding() },
    {
      name: 'as a text with a severity',
      given: '[Minor] Two writers.',
      expected: finding({ severity: 'minor', problem: '[Minor] Two writers.' }),
    },
    {
      name: 'as a text with a bold severity',
      given: '**Critical**: x',
      expected: finding({ severity: 'critical', problem: '**Critical**: x' }),
    },
    { name: 'as a text with another word in front', given: 'Fix: x', expected: finding({ problem: 'Fix: x' }) },
    { name: 'as a description', given: { description: 'Two writers.' }, expected: finding() },
    { name: 'as a message', given: { message: 'Two writers.' }, expected: finding() },
    { name: 'as an issue', given: { issue: 'Two writers.' }, expected: finding() },
    { name: 'as a title', given: { title: 'Two writers.' }, expected: finding() },
    {
      name: 'with a title and a description',
      given: { title: 'Locks', description: 'Two writers.' },
      expected: finding({ problem: 'Locks: Two writers.' }),
    },
    {
      name: 'with a title that the description repeats',
      given: { title: 'Two writers', description: 'Two writers.' },
      expected: finding(),
    },
    {
      name: 'with a file and a line',
      given: { problem: 'Two writers.', file: 'src/a.ts', line: 12 },
      expected: finding({ section: 'src/a.ts:12' }),
    },
    {
      name: 'with a file and lines',
      given: { problem: 'Two writers.', path: 'src/a.ts', lines: '12-20' },
      expected: finding({ section: 'src/a.ts:12' }),
    },
    {
      name: 'with a file',
      given: { problem: 'Two writers.', file: 'src/a.ts' },
      expected: finding({ section: 'src/a.ts' }),
    },
    { name: 'with a line and no file', given: { problem: 'Two writers.', line: 12 }, expected: finding() },
    {
      name: 'with a location',
      given: { problem: 'Two writers.', location: 'src/a.ts:12' },
      expected: finding({ section: 'src/a.ts:12' }),
    },
    {
      name: 'with a location in parts',
      given: { problem: 'Two writers.', location: { file: 'src/a.ts', line: 12 } },
      expected: finding({ section: 'src/a.ts:12' }),
    },
    {
      name: 'as Codex reviews by itself',
      given: {
        title: '[P1] Locks',
        body: 'Two writers.',
        priority: 1,
        code_location: { absolute_file_path: '/w/a.ts', line_range: { start: 12, end: 14 } },
      },
      expected: finding({ problem: '[P1] Locks: Two writers.', section: '/w/a.ts:12' }),
    },
    {
      name: 'with a suggestion',
      given: { problem: 'Two writers.', suggestion: 'A lock.' },
      expected: finding({ fix: 'A lock.' }),
    },
    {
      name: 'with a recommendation',
      given: { problem: 'Two writers.', recommendation: 'A lock.' },
      expected: finding({ fix: 'A lock.' }),
    },
    {
      name: 'with code',
      given: { problem: 'Two writers.', current_code: 'a()', fixed_code: 'b()' },
      expected: finding({ evidence: 'a()', fix: 'b()' }),
    },
    {
      name: 'with a list as evidence',
      given: { problem: 'Two writers.', evidence: ['a', 2, null, 'b'] },
      expected: finding({ evidence: 'a\n2\nb' }),
    },
    {
      name: 'with an object as evidence',
      given: { problem: 'Two writers.', evidence: { line: 3, deep: { a: 1 } } },
      expected: finding({ evidence: 'line: 3\ndeep:' }),
    },
    {
      name: 'with null in it',
      given: { id: null, section: null, problem: 'Two writers.', evidence: null, fix: null },
      expected: finding(),
    },
    { name: 'with a number for an id', given: { id: 3, problem: 'Two writers.' }, expected: finding({ id: '3' }) },
    {
      name: 'with a fix and no problem',
      given: { fix: 'Add a lock.' },
      expected: finding({ problem: 'Add a lock.', fix: 'Add a lock.' }),
    },
    {
      name: 'with escapes for a terminal',
      given: { problem: 'a\u001b[31mb\u0007\u202ec\r\nd\te', section: 'x\ny\u0000 z' },
      expected: finding({ problem: 'a[31mbc\nd\te', section: 'x y z' }),
    },
    { name: 'with half a character', given: { problem: 'a\ud83d b' }, expected: finding({ problem: 'a\ufffd b' }) },
    {
      name: 'with keys of the language',
      given: JSON.parse('{"__proto__":{"severity":"critical","fix":"x"},"constructor":1,"problem":"Two writers."}'),
      expected: finding(),
    },
  ])('$name', ({ given, expected }) => {
    expect(findings(given)).toEqual([expected])
  })

  it.each([[null], [12], [[]], [{}], [''], [{ severity: 'critical' }], [{ problem: ' \u0000 ' }]])(
    '%j is none',
    (given) => {
      expect(findings(given)).toEqual([])
    },
  )

  it.each([
    ['critical', ['critical', 'CRITICAL', 'Blocker', 'P0', 'fatal', '🔴 Critical', 'minor, no: critical', 0]],
    ['major', ['major', 'high', 'HIGH', 'P1', 'error', 'severe', undefined, null, 'whatever', '', {}, 1, 99]],
    ['minor', ['minor', 'medium', 'low', 'warning', 'P2', 'P3', 'moderate', 2]],
    ['advice', ['advice', 'info', 'nit', 'Nitpick', 'note', 'suggestion', 'style', 'optional', 4]],
  ] as const)('is %s when it says so in other words', (severity, words) => {
    const found = words.map((word) => findings({ problem: 'x', severity: word })[0]?.severity)
    expect(found).toEqual(words.map(() => severity))
  })

  it('is not endless, and no character is cut in two', () => {
    const [found] = findings({ problem: '😀'.repeat(50_000), section: 'a '.repeat(50_000), id: 'x'.repeat(500) })
    expect([found?.problem.length, found?.section.length, found?.id?.length]).toEqual([3999, 300, 60])
    expect(found?.problem).toMatch(/^(?:😀)+…$/u)
  })
})

describe('an answer', () => {
  it('keeps the 200 most severe findings, in their order', () => {
    const many = Array.from({ length: 300 }, (_, index) => ({
      problem: `p${index}`,
      severity: index >= 290 ? 'critical' : 'minor',
    }))
    const { answer, note } = normalise({ findings: many })
    expect([answer.findings.length, answer.findings[0]?.problem, answer.findings[10]?.problem]).toEqual([
      200,
      'p290',
      'p0',
    ])
    expect(note).toBe('Of 300 findings the 200 most severe are kept.')
  })

  it.each([
    ['fixed', ['fixed', 'Fixed', 'resolved', 'DONE', 'addressed', 'closed']],
    ['rejected', ['rejected', 'declined', "won't fix", 'wontfix', 'WONT_FIX', 'n/a']],
    ['withdrawn', ['withdrawn', 'false positive', 'false_positive', 'invalid', 'Retracted', 'not a finding']],
    [
      'not_fixed',
      [
        'not_fixed',
        'not-fixed',
        'not fixed',
        'unfixed',
        'still open',
        'open',
        'unresolved',
        'partially fixed',
        '',
        null,
        7,
      ],
    ],
  ])('takes an earlier finding for %s', (status, words) => {
    const { answer } = normalise({ previous_findings: words.map((word) => ({ id: 'F1', status: word, reason: 'r' })) })
    expect(answer.previous_findings).toEqual(words.map(() => ({ id: 'F1', status, reason: 'r' })))
  })

  it('leaves out earlier findings that it does not name', () => {
    const given = ['F1', null, { status: 'fixed' }, { finding_id: 2, state: 'fixed', comment: 'ok' }]
    expect(normalise({ previous_findings: given }).answer.previous_findings).toEqual([
      { id: '2', status: 'fixed', reason: 'ok' },
    ])
    expect(normalise({ previous_findings: 'all fixed' }).answer.previous_findings).toEqual([])
  })

  it.each([
    [
      { risk_area_count: 2, files_affected: 3, scope_category: 'low' },
      { risk_area_count: 2, files_affected: 3 },
    ],
    [
      { risk_area_count: 0, files_affected: 0 },
      { risk_area_count: 0, files_affected: 0 },
    ],
    [{ risk_area_count: 2 }, null],
    [{ risk_area_count: -1, files_affected: 3 }, null],
    [{ risk_area_count: 1.5, files_affected: 3 }, null],
    [{ risk_area_count: '2', files_affected: 3 }, null],
    ['low', null],
    [undefined, null],
  ])('reads the complexity %j', (given, expected) => {
    expect(normalise({ complexity: given }).answer.complexity).toEqual(expected)
  })

  it('has a question and notes only when they say something', () => {
    const { answer } = normalise({ question: '  ', context_summary: ' Three files. ', summary: 12 })
    expect(answer).toMatchObject({ question: null, context_summary: 'Three files.', summary: '12' })
  })
})
