import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { annotatePlan, type ReviewToAnnotate } from '../../../src/plan/annotate.ts'
import { severities } from '../../../src/schemas/review.ts'
import { finding } from '../../support/plan/findings.ts'
import { stripAnnotations } from '../../support/plan/strip-annotations.ts'

const review: ReviewToAnnotate = {
  revision: 2,
  date: '1 June 2031, 10:00',
  verdict: 'CHANGES_REQUIRED',
  summary: 'Nearly there.',
  question: null,
  findings: [],
  previous_findings: [],
  notices: [],
  stuck: [],
}

const plan = `# Invoices

## Goal
Sent once.

## Changes
- \`src/send.ts\` (changed): the lock
  is taken first.
- \`src/send.test.ts\` (new).
`

describe('annotatePlan', () => {
  it('reads like a reviewed document', () => {
    const annotated = annotatePlan(plan, {
      ...review,
      question: 'Is a lock wanted?',
      findings: [
        finding('F4', { severity: 'minor', section: 'Goal', problem: 'What about\nreminders?', fix: 'Name them.' }),
        finding('F5', {
          section: 'Changes: src/send.ts',
          problem: 'The lock leaks.',
          evidence: '`lock()` has no end.',
          fix: 'End it.',
        }),
        finding('F6', { severity: 'advice', section: 'General', problem: 'Long.', fix: 'Shorten.' }),
        finding('F2', { severity: 'critical', section: 'Goal', problem: 'Not true.', fix: 'Fix it.' }),
      ],
      previous_findings: [
        { id: 'F1', status: 'fixed', reason: 'It is gone.' },
        { id: 'F2', status: 'not_fixed', reason: 'Still there.' },
        { id: 'F3', status: 'rejected', reason: '' },
      ],
      notices: ['F6 came late.'],
      stuck: ['F2 came back unfixed 2 times.'],
    })
    expect(annotated).toBe(`> # Review of docs/plan.md, revision 2
>
> **CHANGES_REQUIRED** · 1 June 2031, 10:00 · 1 critical, 1 major, 1 minor, 1 advice
>
> Nearly there.
>
> **For the user to decide:** Is a lock wanted?
>
> Stuck:
>
> - F2 came back unfixed 2 times.
>
> Earlier findings:
>
> - F1 fixed: It is gone.
> - F2 still open: Still there.
> - F3 dropped
>
> Notes:
>
> - F6 came late.
>
> Lines that begin with \`>\` are the review, the others are the plan.

# Invoices

## Goal

> **F2 · critical** · Goal
>
> Not true.
>
> **Fix:** Fix it.
>
> **F4 · minor** · Goal
>
> What about${'  '}
> reminders?
>
> **Fix:** Name them.

Sent once.

## Changes
- \`src/send.ts\` (changed): the lock
  is taken first.

> **F5 · major** · Changes: src/send.ts
>
> The lock leaks.
>
> **Evidence:** \`lock()\` has no end.
>
> **Fix:** End it.

- \`src/send.test.ts\` (new).

> ## Not placed
>
> **F6 · advice** · General
>
> Long.
>
> **Fix:** Shorten.
>
> End of docs/plan.md, revision 2.
`)
    expect(stripAnnotations(annotated)).toBe(plan)
  })

  it.each<[string, string, string, string]>([
    ['quotes of its own', '> quoted\n', 'Lines that begin with `>>` are', '\n>> End of docs/plan.md'],
    ['quotes within quotes', '> a\n>> b\n>>> c\n>1 d\n', 'Lines that begin with `>2` are', '\n>2 End of docs/plan.md'],
    ['no newline at its end', '## A\ntext', 'which has no newline at its end.', 'text\n\n> End of'],
    ['a code block that is never closed', '````\ncode\n', 'closes what it leaves open.', 'code\n````\n\n> End of'],
    ['an open comment and no newline', '<!-- a', 'no newline at its end; after it a line', '<!-- a\n-->\n\n> End of'],
    ['carriage returns', '## A\r\ntext\r\n', 'are the plan.\r\n\r\n## A', 'text\r\n\r\n> End of'],
    ['a carriage return at its end', '## A\ntext\r', 'which has no newline', 'text\r\n\n> End of'],
    ['nothing in it', '', 'are the plan.\n\n\n>', '> End of docs/plan.md'],
  ])('a plan with %s', (_, text, head, tail) => {
    const annotated = annotatePlan(text, review)
    expect(annotated).toContain(head)
    expect(annotated).toContain(tail)
    expect(stripAnnotations(annotated)).toBe(text)
  })

  it.each<[string, string, string]>([
    ['a code block', '## A\n```\nsome words of code\n```\nafter\n', '```\n\n> **F1'],
    ['a table', '## A\n| a |\n|---|\n| some words of code |\n| b |\n\nafter\n', '| b |\n\n> **F1'],
    ['an item with parts', '## A\n- some words of code\n\n  more\n  - nested\n- next\n', '  - nested\n\n> **F1'],
  ])('does not tear %s apart', (_, text, expected) => {
    const annotated = annotatePlan(text, { ...review, findings: [finding('F1', { evidence: '"some words of code"' })] })
    expect(annotated).toContain(expected)
  })

  it('is the plan and nothing else once the review is stripped, whatever both are', () => {
    fc.assert(
      fc.property(anyPlan, anyReview, (text, found) => {
        expect(stripAnnotations(annotatePlan(text, found))).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  it('lets nothing of the review out of its quote', () => {
    fc.assert(
      fc.property(anyReview, (found) => {
        const ours = annotatePlan('', found)
          .split('\n')
          .filter((line) => line !== '')
        for (const line of ours) {
          expect(line).toMatch(/^>( |$)/)
          expect(line.replace(/\\.|`[^`]*`/g, '')).not.toMatch(/<|\[/)
        }
      }),
      { numRuns: 300 },
    )
  })
})

const pieces = [
  '## Approach',
  '# ',
  'text',
  '- item',
  '  more',
  '```',
  '~~~',
  '| a |',
  '> quote',
  '>> q',
  '>>> q',
  '>1 q',
  '',
]
const hostile = [
  ...pieces,
  '<script>alert(1)</script>',
  '</details><!--',
  '-->',
  '![x](http://example.invalid/a.png)',
  '[x]: javascript:alert(1)',
  '`<b>`',
  '`` ` <i> ``',
  '\\`<u>',
  '&lt;s&gt;',
  '---',
  '===',
  '1. one',
  '\u202e\u001b[31m',
  '\r',
  '\u2028# x',
]
const anyPlan = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...pieces, '<!--', '-->', '\ufeff', '\r'), fc.constantFrom('\n', '\n', '\r\n')), {
      maxLength: 25,
    }),
    fc.constantFrom('', 'end', '```', '> '),
  )
  .map(([lines, end]) => `${lines.flat().join('')}${end}`)
const anyText = fc.array(fc.constantFrom(...hostile, '\n', ' '), { maxLength: 8 }).map((parts) => parts.join(''))
const anyFinding = fc
  .record({
    severity: fc.constantFrom(...severities),
    section: fc.oneof(anyText, fc.constantFrom('Approach', 'docs/plan.md:3', 'line 1')),
    problem: anyText,
    evidence: anyText,
    fix: anyText,
  })
  .map((given) => finding('F1', given))
const anyReview: fc.Arbitrary<ReviewToAnnotate> = fc.record({
  revision: fc.constant(3),
  date: anyText,
  verdict: fc.constantFrom('APPROVED', 'CHANGES_REQUIRED', 'DECISION_NEEDED', 'SKIPPED'),
  summary: anyText,
  question: fc.option(anyText, { nil: null }),
  findings: fc.array(anyFinding, { maxLength: 6 }),
  previous_findings: fc.array(
    fc.record({ id: anyText, status: fc.constantFrom('fixed', 'rejected', 'not_fixed'), reason: anyText }),
    { maxLength: 3 },
  ),
  notices: fc.array(anyText, { maxLength: 2 }),
  stuck: fc.array(anyText, { maxLength: 2 }),
})
