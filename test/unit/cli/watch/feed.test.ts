import { describe, expect, it } from 'vitest'
import { findFeedItems, historyOf, type WatchContext, type Watched } from '../../../../src/cli/watch-feed.ts'
import { event, finding, progress, root, watchedHere } from './watched-here.ts'

const at = '2026-03-01T10:01:00.000Z'
const gone: Watched = { root, here: null }
const running = (more: Parameters<typeof progress>[0] = {}): WatchContext['progress'] => ({
  kind: 'running',
  progress: progress(more),
})
const denial = (target: string, when = '2026-03-01T10:00:02.000Z') => ({
  at: when,
  tool: 'Write',
  target,
  rule: 'write',
  reason: 'no approved plan',
})
const verdicts = (...all: string[]) =>
  all.map((verdict, index) => ({ revision: index + 1, verdict: verdict as 'APPROVED', findings: 1 }))

const closed = 'the gate is closed: docs/plan.md is not approved yet'
const cases: { name: string; before: Watched | null; now: Watched; told: string[] }[] = [
  { name: 'the first look', before: null, now: watchedHere(), told: [`gate ${closed}`] },
  {
    name: 'the first look, in the middle of a review',
    before: null,
    now: watchedHere({ progress: running({ sign: 'codex is thinking' }), events: [event('installed')] }),
    told: ['pass v1, pass 1 of 3: understand with codex, up to 300 s', 'sign codex is thinking', `gate ${closed}`],
  },
  {
    name: 'the first look, where nothing is installed',
    before: null,
    now: watchedHere({}, { installed: null }),
    told: ['gate not installed here (plan-gate install)'],
  },
  { name: 'nothing new', before: watchedHere(), now: watchedHere(), told: [] },
  {
    name: 'a line of the ledger and a denial, in the order of their times',
    before: watchedHere({ events: [event('installed')], denials: [{ folder: 's/1', list: [denial('a')] }] }),
    now: watchedHere({
      events: [event('installed'), event('continued', { revision: 5 }, '2026-03-01T10:00:03.000Z')],
      denials: [
        { folder: 's/1', list: [denial('a'), denial(`${root}/src/b.ts`)] },
        { folder: 's/2', list: [denial('c', '2026-03-01T10:00:04.000Z')] },
      ],
    }),
    told: ['denial Write src/b.ts (write)', 'event more revisions are reviewed after v5', 'denial Write c (write)'],
  },
  {
    name: 'another record in the place of the one that was known',
    before: watchedHere({ events: [event('installed'), event('continued')] }),
    now: watchedHere({ events: [event('installed', { version: '0.1.0' }, '2026-03-02T00:00:00.000Z')] }),
    told: ['worktree the ledger was replaced', 'event plan-gate 0.1.0'],
  },
  {
    name: 'a record that cannot be read any more',
    before: watchedHere({ events: [event('installed')] }),
    now: watchedHere({ unreadable: '.claude/review/events.jsonl is a symbolic link, not a regular file' }),
    told: ['worktree .claude/review/events.jsonl is a symbolic link, not a regular file'],
  },
  {
    name: 'the next pass',
    before: watchedHere({ progress: running({ sign: 'codex is thinking' }) }),
    now: watchedHere({
      progress: running({ pass: 2, does: 'review', pass_started_at: at, pass_deadline_at: '2026-03-01T10:06:00.000Z' }),
    }),
    told: ['pass v1, pass 2 of 3: find with codex, up to 300 s'],
  },
  {
    name: 'the first pass, with a forecast',
    before: watchedHere(),
    now: watchedHere({ progress: running({ forecast: 'about 3 min, 30k tokens' }) }),
    told: ['pass v1, pass 1 of 3: understand with codex, up to 300 s, about 3 min, 30k tokens to the end'],
  },
  {
    name: 'the same pass, asked once more',
    before: watchedHere({ progress: running() }),
    now: watchedHere({ progress: running({ pass_started_at: at }) }),
    told: ['pass v1, pass 1 of 3: understand with codex, up to 240 s'],
  },
  {
    name: 'a sign of life',
    before: watchedHere({ progress: running({ sign: 'codex is thinking' }) }),
    now: watchedHere({ progress: running({ sign: 'codex is reading a.ts', signed_at: at }) }),
    told: ['sign codex is reading a.ts'],
  },
  {
    name: 'the same sign of life again',
    before: watchedHere({ progress: running({ sign: 'codex is thinking', signed_at: '' }) }),
    now: watchedHere({ progress: running({ sign: 'codex is thinking', signed_at: at }) }),
    told: [],
  },
  {
    name: 'a pass that an older plan-gate wrote down',
    before: watchedHere(),
    now: watchedHere({
      progress: {
        kind: 'running',
        progress: {
          pass: 1,
          passes: 1,
          backend: 'curl',
          started_at: at,
          deadline_at: '2026-03-01T10:02:30.000Z',
          revision: 4,
          pid: 7,
        },
      },
    }),
    told: ['pass v4, pass 1 of 1 with curl, up to 90 s'],
  },
  {
    name: 'a review whose process was killed',
    before: watchedHere({ progress: running() }),
    now: watchedHere({ progress: { kind: 'died', progress: progress() } }),
    told: ['pass the review of v1 ended without a verdict: its process is gone'],
  },
  {
    name: 'a verdict whose findings are not there yet',
    before: watchedHere({ progress: running() }),
    now: watchedHere({
      progress: running(),
      events: [event('reviewed', { revision: 1, verdict: 'CHANGES_REQUIRED', backend: 'codex', findings: 1 })],
    }),
    told: ['event v1 CHANGES_REQUIRED by codex, 1 finding'],
  },
  {
    name: 'the findings, a moment later',
    before: watchedHere(),
    now: watchedHere(
      {},
      { verdicts: verdicts('CHANGES_REQUIRED'), findings: [finding('F1', 'It is\n\u001b[2Junclear.')] },
    ),
    told: ['finding F1 major ## Approach: It is \ufffd[2Junclear.'],
  },
  {
    name: 'the findings of the second revision alone',
    before: watchedHere({}, { verdicts: verdicts('CHANGES_REQUIRED'), findings: [finding('F1', 'Old.')] }),
    now: watchedHere(
      {},
      { verdicts: verdicts('CHANGES_REQUIRED', 'CHANGES_REQUIRED'), findings: [finding('F2', 'New.')] },
    ),
    told: ['finding F2 major ## Approach: New.'],
  },
  {
    name: 'the first findings of a new cycle',
    before: watchedHere({}, { verdicts: verdicts('APPROVED'), findings: [] }),
    now: watchedHere(
      {},
      { cycles: 1, verdicts: verdicts('CHANGES_REQUIRED'), findings: [finding('F1', 'Another plan.')] },
    ),
    told: ['finding F1 major ## Approach: Another plan.'],
  },
  {
    name: 'an approval',
    before: watchedHere(),
    now: watchedHere({}, { plan: { kind: 'approved', hash: 'a' } }),
    told: ['gate the plan is approved; the gate is open'],
  },
  {
    name: 'a worktree that was removed',
    before: watchedHere(),
    now: gone,
    told: [`worktree ${root} was removed, or is not a worktree any more`],
  },
  { name: 'a worktree that is still not there', before: gone, now: gone, told: [] },
  {
    name: 'a worktree that has come back',
    before: gone,
    now: watchedHere(),
    told: [`worktree ${root} exists again`, `gate ${closed}`],
  },
]

describe('what has happened between two looks', () => {
  it.each(cases)('$name', ({ before, now, told }) =>
    expect(findFeedItems(before, now, at).map(({ kind, text }) => `${kind} ${text}`)).toEqual(told),
  )

  it('a pass that was running before has the time when it began', () => {
    const items = findFeedItems(null, watchedHere({ progress: running() }), '2026-03-01T10:04:00.000Z')
    expect(items.find(({ kind }) => kind === 'pass')?.at).toBe('2026-03-01T10:00:00.000Z')
  })

  it('is data for programs, untouched', () => {
    const now = watchedHere({
      events: [event('reviewed', { verdict: 'APPROVED' })],
      denials: [{ folder: 's/1', list: [denial('\u001b[31m')] }],
      progress: running(),
    })
    expect(findFeedItems(watchedHere(), now, at).map(({ kind, data }) => [kind, data])).toEqual([
      ['event', { seq: 1, type: 'reviewed', verdict: 'APPROVED' }],
      ['denial', { tool: 'Write', target: '\u001b[31m', rule: 'write', reason: 'no approved plan' }],
      ['pass', expect.objectContaining({ revision: 1, pass: 1, passes: 3, does: 'plan', backend: 'codex' })],
    ])
  })
})

it('the history is all that is on record, oldest first', () => {
  const { here } = watchedHere({
    events: [event('installed', { version: '0.1.0' }), event('continued', {}, '2026-03-01T11:00:00.000Z')],
    denials: [{ folder: 's/1', list: [denial('b')] }],
  })
  expect(historyOf(here).map(({ label }) => label)).toEqual(['installed', 'denied', 'continued'])
})
