import { expect, it } from 'vitest'
import { type FindingTrace, traceFindings } from '../../../src/report/data.ts'
import { outcomeWords } from '../../../src/report/html.ts'
import type { EarlierFinding } from '../../../src/schemas/review.ts'
import { finding } from '../../support/plan/findings.ts'
import { result, revision } from '../../support/report/example-data.ts'

type Said = { open?: readonly string[]; said?: readonly EarlierFinding[]; late?: readonly string[] }

const traced = (reviews: readonly (Said | null)[]): readonly FindingTrace[] =>
  traceFindings(
    reviews.map((said, index) =>
      revision(index + 1, {
        result:
          said === null
            ? null
            : result({
                findings: (said.open ?? []).map((id) => finding(id)),
                previous_findings: said.said ?? [],
                late: said.late ?? [],
              }),
      }),
    ),
  )

const is = (id: string, status: EarlierFinding['status'], reason = ''): EarlierFinding => ({ id, status, reason })

it.each<{ name: string; reviews: (Said | null)[]; steps: string; outcome: string }>([
  { name: 'raised by the last review', reviews: [{ open: ['F1'] }], steps: 'raised 1', outcome: 'open' },
  {
    name: 'fixed',
    reviews: [{ open: ['F1'] }, { said: [is('F1', 'fixed', 'Done.')] }],
    steps: 'raised 1, fixed 2: Done.',
    outcome: 'fixed in v2',
  },
  {
    name: 'rejected',
    reviews: [{ open: ['F1'] }, { said: [is('F1', 'rejected', 'Argued.')] }, {}],
    steps: 'raised 1, rejected 2: Argued.',
    outcome: 'rejected in v2',
  },
  {
    name: 'not fixed for long, across a revision that had no verdict',
    reviews: [
      { open: ['F1'] },
      { open: ['F1'], said: [is('F1', 'not_fixed', 'As before.')] },
      null,
      { open: ['F1'], said: [is('F1', 'not_fixed')] },
    ],
    steps: 'raised 1, not-fixed 2-4: As before.',
    outcome: 'not fixed in v4',
  },
  {
    name: 'reported again',
    reviews: [{ open: ['F1'] }, { open: ['F1'] }],
    steps: 'raised 1, not-fixed 2',
    outcome: 'not fixed in v2',
  },
  {
    name: 'fixed and found again',
    reviews: [{ open: ['F1'] }, { said: [is('F1', 'fixed')] }, { open: ['F1'] }],
    steps: 'raised 1, fixed 2, not-fixed 3',
    outcome: 'not fixed in v3',
  },
  {
    name: 'not named any more',
    reviews: [{ open: ['F1'] }, {}, {}],
    steps: 'raised 1, gone 2',
    outcome: 'not named again in v2',
  },
])('a finding that was $name', ({ reviews, steps, outcome }) => {
  const [trace, ...others] = traced(reviews)
  if (trace === undefined) throw new Error('no trace')
  const shown = trace.steps.map(
    ({ state, from, to, reason }) =>
      `${state} ${from === to ? from : `${from}-${to}`}${reason === '' ? '' : `: ${reason}`}`,
  )
  expect([shown.join(', '), outcomeWords(trace), others]).toEqual([steps, outcome, []])
})

it('tells them in the order in which they were raised, and which came late', () => {
  const traces = traced([{ open: ['F2', 'F1'] }, { open: ['F3'], late: ['F3'] }])
  expect(traces.map((trace) => `${trace.finding.id} ${trace.late}`)).toEqual(['F2 false', 'F1 false', 'F3 true'])
})
