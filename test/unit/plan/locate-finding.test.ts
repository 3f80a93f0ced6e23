import { describe, expect, it } from 'vitest'
import { locateFinding, readPlanText } from '../../../src/review/locate-finding.ts'

const plan = `# Invoices

## Goal
Invoices are sent once.

## Changes
- \`src/send.ts\` (changed): a lock is taken before
  the message goes out.
- \`src/send.test.ts\` (new): two runs at once.
- \`lib/src/send.ts\` (changed): nothing.

### 2. Details of the lock
It is kept in the database, and it is
released after ten minutes.

## Risks and limits
The lock outlives a crash.
`

describe('locateFinding', () => {
  it.each<[string, { section: string; evidence?: string }, { title: string | null; lines: readonly number[] } | null]>([
    ['a heading', { section: 'Goal' }, { title: 'Goal', lines: [] }],
    ['a heading as it is written', { section: '## Goal' }, { title: 'Goal', lines: [] }],
    ['a heading with a number', { section: '"Details of the lock":' }, { title: '2. Details of the lock', lines: [] }],
    ['a heading, and where below it', { section: 'Goal, first sentence' }, { title: 'Goal', lines: [] }],
    ['the beginning of a heading', { section: 'Risks' }, { title: 'Risks and limits', lines: [] }],
    [
      'a heading within another',
      { section: 'Changes > Details of the lock' },
      { title: '2. Details of the lock', lines: [] },
    ],
    ['a heading and a file', { section: '## Changes / `src/send.ts`' }, { title: 'Changes', lines: [7] }],
    ['a file and a line of it', { section: 'src/send.ts:40' }, { title: 'Changes', lines: [7] }],
    ['another file whose path ends alike', { section: 'lib/src/send.ts' }, { title: 'Changes', lines: [10] }],
    ['a line of the plan', { section: 'docs/plan.md:13' }, { title: '2. Details of the lock', lines: [13] }],
    ['lines of the plan', { section: '`plan.md`, lines 7-8' }, { title: 'Changes', lines: [7, 8] }],
    ['a line only', { section: 'line 4' }, { title: 'Goal', lines: [4] }],
    ['a line that is not there', { section: 'docs/plan.md:400' }, null],
    [
      'a quotation across two lines, in a heading',
      {
        section: 'Changes',
        evidence: 'The plan says "taken before the **message** goes out", but src/x.ts:3 differs.',
      },
      { title: 'Changes', lines: [7, 8] },
    ],
    [
      'a quotation, with no place named',
      { section: 'General', evidence: 'It is kept in the database … released after ten minutes' },
      { title: '2. Details of the lock', lines: [13, 14] },
    ],
    ...['„…“', '„…”', '“…”', '«…»', '»…«', '‹…›', '›…‹', '「…」', '『…』'].map(
      (marks): [string, { section: string; evidence: string }, { title: string; lines: readonly number[] }] => [
        `a quotation in ${marks}`,
        {
          section: 'Changes',
          evidence: `Im Plan steht ${marks.replace('…', 'the message goes out')}, und das reicht.`,
        },
        { title: 'Changes', lines: [8] },
      ],
    ),
    [
      'a quotation of code',
      { section: 'Goal', evidence: '`const a = await send()` in src/send.ts' },
      { title: 'Goal', lines: [] },
    ],
    [
      'a name is no quotation',
      { section: 'Goal', evidence: '`src/send.ts` and `database`' },
      { title: 'Goal', lines: [] },
    ],
    ['a heading that is not there', { section: 'Architecture' }, null],
    ['a file that the plan does not name', { section: 'src/other.ts:1' }, null],
    ['no place', { section: '' }, null],
  ])('%s', (_, { section, evidence = '' }, expected) => {
    const place = locateFinding(readPlanText(plan), { section, evidence })
    expect(place && { title: place.section?.title ?? null, lines: place.lines }).toEqual(expected)
  })

  it.each([
    ['docs/plan.md:2-502', 501],
    ['lines 2 to 502', 501],
    ['docs/plan.md:2-503', 0],
    ['docs/plan.md:12-14', 3],
    ['docs/plan.md:14-12', 0],
    ['docs/plan.md:0-3', 0],
    ['docs/plan.md:600-601', 2],
    ['docs/plan.md:600-602', 0],
  ])('locates the lines of %s up to a bound', (section, count) => {
    const long = readPlanText(`## Goal\n${'A line.\n'.repeat(600)}`)
    const from = Number(/\d+/.exec(section)?.[0])
    const lines = locateFinding(long, { section, evidence: '' })?.lines ?? []
    expect(lines).toEqual(Array.from({ length: count }, (_, index) => from + index))
  })

  it('finds nothing in an empty plan', () => {
    expect(locateFinding(readPlanText(''), { section: 'Goal', evidence: 'a b c d e f g h' })).toBeNull()
  })

  it('ends soon on names and evidence made to be slow', () => {
    const text = readPlanText(`## ${'a '.repeat(50_000)}\n${'`'.repeat(50_000)}\n${'src/'.repeat(20_000)}`)
    for (const hostile of ['\u201c', '`', '"', '> ', 'a/', 'a.', '# ', '1. ', '1', '1.', '*', '| ']) {
      expect(() =>
        locateFinding(text, { section: hostile.repeat(100_000), evidence: hostile.repeat(100_000) }),
      ).not.toThrow()
    }
  })
})
