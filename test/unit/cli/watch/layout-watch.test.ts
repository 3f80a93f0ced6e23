import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layoutWatch, type Size, type View } from '../../../../src/cli/watch.ts'
import { type FeedItem, findFeedItems, historyOf, type Watched } from '../../../../src/cli/watch-feed.ts'
import type { Progress } from '../../../../src/schemas/records.ts'
import { widthOf } from '../../../../src/text/width.ts'
import { event, finding, progress, root, watchedHere } from './watched-here.ts'

const view = (watched: Watched, happened: readonly FeedItem[] = []): View => ({
  watched,
  happened,
  now: Date.parse('2026-03-01T10:01:15.000Z'),
  clock: (at) => /T(\d\d:\d\d:\d\d)/.exec(at)?.[1] ?? '--:--:--',
})

/** The rows as they would be read, without the empty ones at the end. */
const rows = (shown: View, size: Size): string[] =>
  layoutWatch(shown, size)
    .map((line) => line.map(({ text }) => text).join(''))
    .slice(0, -1)
    .join('\n')
    .trimEnd()
    .split('\n')

const reviewing = watchedHere(
  {
    progress: {
      kind: 'running',
      progress: progress({
        sign: 'codex is reading src/login.ts',
        signed_at: '2026-03-01T10:01:12.000Z',
        pass_expected_ms: 120_000,
        expected_ms: 360_000,
      }),
    },
    events: [
      event('installed', { version: '0.1.0' }),
      event('revision-submitted', { revision: 2 }, '2026-03-01T10:00:05.000Z'),
    ],
  },
  {
    revisions: 1,
    verdicts: [{ revision: 1, verdict: 'CHANGES_REQUIRED', findings: 2 }],
    findings: [
      finding('F1', 'The session token is written to the log, where anybody who may read the log can take it.'),
      finding('F2', 'Nothing is said of the tests.'),
    ],
  },
)

describe('the screen', () => {
  it('while a plan is reviewed', () => {
    expect(rows(view(reviewing, historyOf(reviewing.here)), { columns: 72, rows: 24 })).toEqual([
      'plan-gate watch  /work/shop-login',
      '',
      'gate      the gate is closed: docs/plan.md is not approved yet',
      'plan      1 of 5 revisions reviewed  v1 CHANGES_REQUIRED',
      'review    v1, pass 1 of 3: understand with codex, since 10:00:00',
      '          ████░░ 1:15 of about 2 min; review: about 5 min left',
      '          codex is reading src/login.ts, 0:03 ago',
      '',
      'Open after v1',
      '  F1 major  ## Approach: The session token is written to the log, where',
      '            anybody who may read the log can take it.',
      '  F2 major  ## Approach: Nothing is said of the tests.',
      '',
      'Events',
      '  10:00:01  installed  plan-gate 0.1.0',
      '  10:00:05  submitted  v2 goes to the reviewer',
    ])
  })

  it('with less room: beginnings, and the latest', () => {
    expect(rows(view(reviewing, historyOf(reviewing.here)), { columns: 44, rows: 15 })).toEqual([
      'plan-gate watch  /work/shop-login',
      '',
      'gate      the gate is closed: docs/plan.md…',
      'plan      1 of 5 revisions reviewed  v1 CHA…',
      'review    v1, pass 1 of 3: understand with…',
      '           1:15 of about 2 min; review: abo…',
      '          codex is reading src/login.ts, 0:…',
      '',
      'Open after v1',
      '  2 more: plan-gate status',
      '',
      'Events',
      '  10:00:01  installed  plan-gate 0.1.0',
      '  10:00:05  submitted  v2 goes to the revie…',
    ])
  })

  it.each<[string, Watched, string[]]>([
    [
      'nothing has happened',
      watchedHere({}, { plan: { kind: 'missing' } }),
      [
        'gate      there is no plan yet; the gate is closed',
        'plan      0 of 5 revisions reviewed',
        'review    none is running',
        '',
        'Events',
        '  nothing yet',
      ],
    ],
    [
      'the plan is approved, after another one was',
      watchedHere(
        {},
        {
          plan: { kind: 'approved', hash: 'a' },
          cycles: 1,
          revisions: 2,
          verdicts: [
            { revision: 1, verdict: 'DECISION_NEEDED', findings: 0 },
            { revision: 2, verdict: 'APPROVED', findings: 0 },
          ],
        },
      ),
      [
        'gate      the plan is approved; the gate is open',
        'plan      2 of 5 revisions reviewed, 1 cycle before  v2 APPROVED  v1 DECISION_NEEDED',
        'review    none is running',
        '',
        'Events',
        '  nothing yet',
      ],
    ],
    [
      'things are not in order',
      watchedHere(
        { unreadable: 'events.jsonl is a symbolic link', progress: { kind: 'died', progress: progress() } },
        { installed: null, problems: ['plan-gate.yaml:2: \u202eplan.max_revisions\nmust be a number'] },
      ),
      [
        'gate      not installed here (plan-gate install)',
        'plan      0 of 5 revisions reviewed',
        'config    plan-gate.yaml:2: plan.max_revisions must be a number',
        'record    events.jsonl is a symbolic link',
        'review    its process ended without a verdict',
        '',
        'Events',
        '  nothing yet',
      ],
    ],
    [
      'nobody could answer',
      watchedHere({}, { unavailable: 'auth: codex is not logged in' }),
      [
        'gate      the gate is closed: docs/plan.md is not approved yet',
        'plan      0 of 5 revisions reviewed',
        'review    the last one failed: auth: codex is not logged in',
        '',
        'Events',
        '  nothing yet',
      ],
    ],
    [
      'the worktree has gone',
      { root, here: null },
      ['This worktree was removed. Waiting for it to come back.', '', 'Events', '  nothing yet'],
    ],
  ])('when %s', (_, watched, expected) => {
    expect(rows(view(watched), { columns: 90, rows: 20 }).slice(2)).toEqual(expected)
  })

  it('of a review that an older plan-gate began, or with times that are none', () => {
    const { does, pass_started_at, pass_deadline_at, ...older } = progress({ started_at: 'x', deadline_at: 'y' })
    const watched = watchedHere({ progress: { kind: 'running', progress: older } })
    expect(rows(view(watched), { columns: 90, rows: 20 }).slice(4, 7)).toEqual([
      'review    v1, pass 1 of 3 with codex, since --:--:--',
      '          ?; at most until --:--:--',
      '          no progress yet',
    ])
  })

  it.each<[string, Partial<Progress>, string]>([
    ['nothing is known of earlier passes', {}, '1:15; at most until 10:09:00'],
    [
      'the pass takes longer than usual',
      { pass_expected_ms: 60_000, expected_ms: 180_000 },
      `${'█'.repeat(30)} 1:15, longer than usual (1:00); review: about 2 min left`,
    ],
    [
      'the rest was expected to be over',
      { pass_expected_ms: 60_000, expected_ms: 60_000 },
      `${'█'.repeat(30)} 1:15, longer than usual (1:00); at most until 10:09:00`,
    ],
    [
      'it is the second pass',
      { pass: 2, pass_started_at: '2026-03-01T10:01:00.000Z', pass_expected_ms: 30_000, expected_ms: 60_000 },
      `${'█'.repeat(15)}${'░'.repeat(15)} 0:15 of about 30 s; review: about 45 s left`,
    ],
  ])('its bar is of what such passes take: %s', (_, more, expected) => {
    const watched = watchedHere({ progress: { kind: 'running', progress: progress(more) } })
    expect(rows(view(watched), { columns: 100, rows: 20 })[5]).toBe(`          ${expected}`)
  })

  it('fits whatever the size and the text', () => {
    const size = fc.record({ columns: fc.integer({ min: 1, max: 120 }), rows: fc.integer({ min: 1, max: 40 }) })
    const text = fc.string({ unit: 'binary', maxLength: 200 })
    fc.assert(
      fc.property(size, fc.array(text, { maxLength: 6 }), text, (size, problems, sign) => {
        const watched = watchedHere(
          {
            progress: { kind: 'running', progress: progress({ sign, does: sign, backend: sign }) },
            events: problems.map((problem) => event('drift-found', { paths: [problem] })),
            denials: [{ folder: 's', list: [{ at: sign, tool: sign, target: sign, rule: sign, reason: sign }] }],
          },
          {
            verdicts: [{ revision: 1, verdict: 'CHANGES_REQUIRED', findings: 1 }],
            findings: problems.map((problem, index) => finding(`F${index}`, problem)),
            problems,
          },
        )
        const happened = [...historyOf(watched.here), ...findFeedItems(null, watched, sign)]
        const lines = layoutWatch(view(watched, happened), size)
        expect(lines).toHaveLength(size.rows)
        for (const line of lines) {
          const shown = line.map(({ text }) => text).join('')
          expect(widthOf(shown)).toBeLessThanOrEqual(size.columns)
          expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u)
        }
      }),
    )
  })
})
