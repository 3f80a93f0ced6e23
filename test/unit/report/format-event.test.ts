import { describe, expect, it } from 'vitest'
import { type EventText, formatEvent } from '../../../src/report/events.ts'

const hash = 'abcdef0123456789'.repeat(4)

type Row = [fields: { type: string; [field: string]: unknown }, said: EventText]

const rows: Row[] = [
  [
    { type: 'cycle-started', cycle: 2 },
    { label: 'cycle', tone: 'quiet', text: 'cycle 2 started' },
  ],
  [
    { type: 'revision-submitted', revision: 3, plan_hash: hash },
    { label: 'submitted', tone: 'busy', text: 'v3 goes to the reviewer' },
  ],
  [
    { type: 'reviewed', revision: 3, plan_hash: hash, verdict: 'CHANGES_REQUIRED', backend: 'codex', findings: 1 },
    { label: 'verdict', tone: 'bad', text: 'v3 CHANGES_REQUIRED by codex, 1 finding' },
  ],
  [
    { type: 'reviewed', revision: 4, plan_hash: hash, verdict: 'APPROVED', backend: 'curl', findings: 0 },
    { label: 'verdict', tone: 'good', text: 'v4 APPROVED by curl, 0 findings' },
  ],
  [
    { type: 'reviewed', revision: 4, plan_hash: hash, verdict: 'DECISION_NEEDED', backend: 'curl', findings: 0 },
    { label: 'verdict', tone: 'warn', text: 'v4 DECISION_NEEDED by curl, 0 findings' },
  ],
  [
    { type: 'review-unavailable', plan_hash: hash, failure: 'auth', why: 'Not logged in.' },
    { label: 'no verdict', tone: 'bad', text: 'auth: Not logged in.' },
  ],
  [
    { type: 'routes-effective', routes_hash: hash },
    { label: 'routes', tone: 'quiet', text: 'route table abcdef012345' },
  ],
  [
    { type: 'thread-started', thread: 't-1' },
    { label: 'thread', tone: 'quiet', text: 't-1 started' },
  ],
  [
    { type: 'thread-replaced', thread: 't-2', was: 't-1', why: 'it is gone' },
    { label: 'thread', tone: 'warn', text: 't-2 replaces t-1: it is gone' },
  ],
  [
    { type: 'approved', revision: 4, plan_hash: hash, route: 'codex', verification: null },
    { label: 'approved', tone: 'good', text: 'v4 by codex; the gate is open' },
  ],
  [
    { type: 'approved-manually', plan_hash: hash, reason: null },
    { label: 'by hand', tone: 'warn', text: 'without a reason' },
  ],
  [
    { type: 'approval-revoked', why: 'docs/plan.md was changed' },
    { label: 'revoked', tone: 'warn', text: 'the approval has ended: docs/plan.md was changed' },
  ],
  [
    { type: 'limit-reached', revision: 5 },
    { label: 'limit', tone: 'warn', text: 'v5 is the last one that is reviewed; you decide' },
  ],
  [
    { type: 'continued', revision: 5 },
    { label: 'continued', tone: 'quiet', text: 'more revisions are reviewed after v5' },
  ],
  [
    { type: 'cycle-archived', cycle: 1, revisions: 1, approved: true, recovered: false },
    { label: 'cycle', tone: 'quiet', text: 'cycle 1 has ended, 1 revision' },
  ],
  [
    { type: 'denied', tool: 'Write', rule: 'write', reason: 'no plan' },
    { label: 'denied', tone: 'bad', text: 'Write (write): no plan' },
  ],
  [
    { type: 'config-change-vetoed', source: 'local_settings', path: null },
    { label: 'vetoed', tone: 'bad', text: 'a change of local_settings was rejected' },
  ],
  [
    { type: 'config-change-vetoed', source: 'local_settings', path: '/w/.claude/settings.local.json' },
    { label: 'vetoed', tone: 'bad', text: 'a change of /w/.claude/settings.local.json was rejected' },
  ],
  [
    { type: 'control-plane-restored', paths: ['a.mjs', 'b.mjs'] },
    { label: 'restored', tone: 'bad', text: 'a.mjs, b.mjs; any approval has ended' },
  ],
  [
    { type: 'drift-found', paths: ['src/a.ts'] },
    { label: 'drift', tone: 'bad', text: 'changed without an approved plan: src/a.ts' },
  ],
  [
    { type: 'drift-found', left_out_bytes: 70_000 },
    { label: 'drift', tone: 'bad', text: 'changed without an approved plan: too many files to list' },
  ],
  [
    { type: 'drift-accepted', paths: ['src/a.ts'] },
    { label: 'drift', tone: 'warn', text: 'accepted: src/a.ts' },
  ],
  [
    { type: 'installed', version: '0.1.0' },
    { label: 'installed', tone: 'quiet', text: 'plan-gate 0.1.0' },
  ],
  [
    { type: 'uninstalled', version: '0.1.0' },
    { label: 'uninstalled', tone: 'warn', text: 'plan-gate 0.1.0' },
  ],
  [
    { type: 'torn-line', after: hash, lines: 1, bytes: 9 },
    { label: 'torn', tone: 'warn', text: '1 torn line after a crash' },
  ],
  [
    { type: 'reflected', kind: 'change', about: 'src/a.ts', verdict: 'FAIL', cached: false, tokens: 1200 },
    { label: 'reflected', tone: 'bad', text: 'FAIL on change src/a.ts (1200 tokens)' },
  ],
  [
    { type: 'reflected', kind: 'stop', about: 'the work', verdict: 'PASS', cached: true, tokens: null },
    { label: 'reflected', tone: 'good', text: 'PASS on stop the work, cached' },
  ],
  [
    { type: 'of-tomorrow', what: 'x', list: [1, 2], more: { a: 1 } },
    { label: 'of-tomorrow', tone: 'quiet', text: 'what=x list=1, 2 more={"a":1}' },
  ],
  // A name that every object has is no row of the table.
  [{ type: 'constructor' }, { label: 'constructor', tone: 'quiet', text: '' }],
]

describe('a line of the ledger, for a person', () => {
  it.each(rows)('%j', (fields, said) => {
    expect(formatEvent({ seq: 1, at: '2026-01-01T00:00:00Z', prev: hash, ...fields })).toEqual(said)
  })
})
