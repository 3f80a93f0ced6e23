import { expect, it } from 'vitest'
import { eventLabel } from '../../../src/report/events.ts'
import { event } from '../../support/report/example-data.ts'

const hash = 'ab'.repeat(32)

it.each([
  {
    of: event('reviewed', { revision: 2, verdict: 'APPROVED', backend: 'codex', findings: 1 }),
    says: 'good | Revision 2: approved | by codex, 1 open finding',
  },
  {
    of: event('reviewed', { revision: 2, verdict: 'NEWER', backend: 'x', findings: 0 }),
    says: 'plain | Revision 2: newer | by x, 0 open findings',
  },
  { of: event('revision-submitted', { revision: 3, plan_hash: hash }), says: 'plain | Revision 3 goes to review | ' },
  {
    of: event('approved-manually', { plan_hash: hash, reason: null }),
    says: 'ask | Approved by hand: the gate opens | ',
  },
  {
    of: event('approved', { revision: 1, route: 'codex', verification: null }),
    says: 'good | Revision 1 is approved: the gate opens | by codex',
  },
  { of: event('drift-found', { paths: ['a', 'b'] }), says: 'bad | Files changed without an approved plan | a, b' },
  {
    of: event('control-plane-restored', { paths: Array.from({ length: 20 }, (_, n) => `f${n}`) }),
    says: 'bad | Files of the gate were changed, and restored | f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11 and 8 more',
  },
  {
    of: event('cycle-archived', { cycle: 1, revisions: 1, approved: false }),
    says: 'plain | Cycle 1 ends | 1 revision, not approved',
  },
  {
    of: event('reflected', {
      session: 's',
      kind: 'change',
      about: 'src/a.ts',
      duration_ms: 900,
      verdict: 'FAIL',
      tokens: 1234,
    }),
    says: 'bad | Reflection on src/a.ts: FAIL | change, 0.9 s, 1,234 tokens',
  },
  {
    of: event('reflected', { session: 's', kind: 'stop', about: '', duration_ms: 900, verdict: 'PASS', tokens: null }),
    says: 'good | Reflection on stop: PASS | stop, 0.9 s',
  },
  {
    of: event('reflection-unavailable', {
      session: 's',
      kind: 'change',
      about: 'src/a.ts',
      failure: 'quota',
      why: 'No credit.',
    }),
    says: 'bad | No reflection on src/a.ts | quota: No credit.',
  },
  { of: event('of-tomorrow', { what: 'x', list: [1], nothing: null }), says: 'plain | of-tomorrow | what=x list=1' },
  { of: event('to-string', {}), says: 'plain | to-string | ' },
  { of: event('revision-submitted', { left_out_bytes: 40_000 }), says: 'plain | Revision ? goes to review | ' },
])('$of.type → $says', ({ of, says }) => {
  const { tone, title, detail } = eventLabel(of)
  expect([tone, title, detail].join(' | ')).toBe(says)
})

it('keeps a long text short', () => {
  expect(eventLabel(event('approval-revoked', { why: 'x'.repeat(30_000) })).detail.length).toBeLessThan(700)
})
