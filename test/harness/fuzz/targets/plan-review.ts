import { annotatePlan } from '../../../../src/plan/annotate.ts'
import { findStuck, settlePlanReview } from '../../../../src/plan/findings.ts'
import { formatForClaude } from '../../../../src/plan/messages.ts'
import { isBlocking, numberFindings } from '../../../../src/review/findings.ts'
import { normaliseAnswer } from '../../../../src/review/normalise-answer.ts'
import type { Finding } from '../../../../src/schemas/review.ts'
import { splitLines } from '../../../../src/text/clean.ts'
import { diffLines, unifiedDiff } from '../../../../src/text/diff.ts'
import { stripAnnotations } from '../../../support/plan/strip-annotations.ts'
import { demand, same, type Target } from '../target.ts'
import { planPieces, planText } from './plan.ts'

/** Between a revision, the one before it, what was found then, and what is found now. */
const border = '\n=== next ===\n'
const finding = (id: string, section: string, evidence: string, severity = 'major'): object => ({
  id,
  severity,
  section,
  problem: `\`lock()\` in ${section} has no end.`,
  evidence,
  fix: 'End it.',
})
const found = JSON.stringify({
  findings: [
    finding('F1', 'Changes', '"the lock is taken first"'),
    finding('F2', 'docs/plan.md:12', 'src/send.ts:12', 'critical'),
    finding('F3', 'Approach > Then the mail', '`lock()` is called', 'minor'),
    finding('F4', 'General', '', 'advice'),
  ],
  previous_findings: [
    { id: 'F1', status: 'fixed', reason: 'It is gone.' },
    { id: 'F2', status: 'rejected', reason: 'no' },
  ],
})
const inputOf = (...parts: readonly string[]): string => parts.join(border)
const shorter = planText.replace('1. A lock first.\n', '').replace('TBD', 'no')

/** A revision of the plan and its review: the difference, the annotated copy, what is settled, and what Claude is told. */
export const planReview: Target = {
  name: 'plan-review',
  seeds: [
    inputOf(planText, shorter, found, found),
    inputOf(shorter, planText, '{}', found),
    inputOf(planText, planText, found, '{"findings":[]}'),
    inputOf('', 'x', found, found),
    inputOf('> quoted\n>> twice\n>1 odd\n', '> quoted', '{}', found),
    inputOf('a\nb\nc', 'a\r\nb\r\nc\n', '{}', '{}'),
  ],
  pieces: [
    ...planPieces,
    border,
    ...[
      'F1',
      'F2',
      'F99',
      '"findings"',
      '"severity"',
      '"critical"',
      '"section"',
      '"evidence"',
      '"status"',
      '"not_fixed"',
      '>1',
      '>>>',
      '> ',
    ],
    ...[
      'plan.md:3-9',
      'line 5',
      'Approach',
      '"the lock is taken first"',
      'src/send.ts',
      '\u2028',
      '\u0085',
      '[x](y)',
      '<b>',
      '&amp;',
      '\\',
    ],
  ],
  parses: 12,
  open: () => ({ look }),
}

const findingsIn = (text: string) => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return normaliseAnswer(value as never, 'CHANGES_REQUIRED').answer
  } catch {
    // No answer: nothing is found.
  }
  return normaliseAnswer({}, 'CHANGES_REQUIRED').answer
}

function look(input: string): string {
  const [plan = '', before = '', then = '', now = ''] = input.split(border)
  const changes = lookAtDifference(before, plan)
  const earlier = numberFindings({ answered: findingsIn(then).findings, earlier: [], statuses: [], lastId: 0 })
  const { findings: answered, previous_findings: statuses } = findingsIn(now)
  const numbered = numberFindings({ answered, earlier: earlier.findings, statuses, lastId: earlier.lastId })
  const ids = numbered.findings.map(({ id }) => id)
  demand(new Set(ids).size === ids.length && ids.every((id) => /^F\d+$/.test(id)), 'two findings of one id')
  const was = { verdict: 'CHANGES_REQUIRED', findings: earlier.findings, plan: before } as const
  const settle = settlePlanReview({ before: was, round: 2, plan, byChecklist: false })
  const settled = settle(
    {
      backend: 'codex',
      verdict: 'APPROVED',
      question: null,
      findings: numbered.findings,
      statuses,
      earlier: earlier.findings,
    },
    'final',
  )
  demand(settled.verdict !== 'APPROVED' || !settled.findings.some(isBlocking), 'approved with open findings')
  demand(
    numbered.findings
      .filter(({ severity }) => severity === 'critical')
      .every(({ id }) => settled.findings.some((one) => one.id === id && isBlocking(one))),
    'what is critical was let go',
  )
  lookAtAnnotations(plan, settled.findings)
  const reviews = [
    { revision: 1, plan: before, verdict: 'CHANGES_REQUIRED', findings: earlier.findings, previous: [] },
    { revision: 2, plan, verdict: 'CHANGES_REQUIRED', findings: settled.findings, previous: settled.previous },
    { revision: 3, plan: before, verdict: 'CHANGES_REQUIRED', findings: settled.findings, previous: settled.previous },
  ] as const
  const stuck = findStuck(reviews)
  const { findings, previous, late } = settled
  const review = { summary: plan.slice(0, 500), findings, previous, late, stuck }
  const told = formatForClaude({ kind: 'changes-required', revision: 2, left: 3, review })
  demand(told.text.length <= 10_000, 'Claude is told more than it is shown')
  return `${changes.length} ${earlier.findings.length} ${ids.length} ${settled.findings.length} ${settled.late.length} ${stuck.length}`
}

function lookAtDifference(before: string, after: string) {
  const changes = diffLines(before, after)
  same(applied(before, changes), after, 'the difference, applied, makes another text')
  demand((changes.length === 0) === (before === after), 'a difference of nothing')
  const text = unifiedDiff(before, after, { context: 3, maxLines: 1e9 })
  const signs = (sign: string) =>
    text
      .split('\n')
      .slice(2)
      .filter((line) => line.startsWith(sign)).length
  const sum = (key: 'added' | 'removed') => changes.reduce((total, change) => total + change[key].length, 0)
  if (!/[\r\u2028]/.test(before + after))
    same([signs('+'), signs('-')], [sum('added'), sum('removed')], 'the unified difference has other lines')
  return changes
}

function applied(before: string, changes: ReturnType<typeof diffLines>): string {
  const lines = splitLines(before)
  let [text, at] = ['', 0]
  for (const change of changes) {
    text += lines.slice(at, change.before - 1).join('') + change.added.join('')
    at = change.before - 1 + change.removed.length
  }
  return text + lines.slice(at).join('')
}

function lookAtAnnotations(plan: string, open: readonly Finding[]): void {
  const annotated = annotatePlan(plan, {
    revision: 2,
    date: 'today',
    verdict: 'CHANGES_REQUIRED',
    summary: plan.slice(-300),
    question: plan.slice(0, 100),
    findings: open,
    previous_findings: [{ id: 'F1', status: 'fixed', reason: plan.slice(0, 50) }],
    notices: [plan.slice(5, 60)],
    stuck: [],
  })
  same(stripAnnotations(annotated), plan, 'without its annotations it is another plan')
}
