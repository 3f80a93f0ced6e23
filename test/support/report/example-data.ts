import type { Cycle, ReportData, ReportedRevision } from '../../../src/report/data.ts'
import type { LedgerEvent } from '../../../src/schemas/records.ts'
import type { ReviewResult } from '../../../src/schemas/review.ts'

/** A result of which a test says only what it is about. */
export const result = (given: Partial<ReviewResult> = {}): ReviewResult => ({
  verdict: 'CHANGES_REQUIRED',
  is_optimal: given.verdict === 'APPROVED',
  summary: 'It will not do yet.',
  findings: [],
  ...given,
})

export const revision = (number: number, given: Partial<ReportedRevision> = {}): ReportedRevision => ({
  revision: number,
  text: `# Plan\n\nRevision ${number}.\n`,
  plan_hash: String(number).repeat(64).slice(0, 64),
  bytes: 20,
  submitted_at: '2026-03-03T09:00:00.000Z',
  reviewed_at: '2026-03-03T09:01:00.000Z',
  result: result(),
  why_none: null,
  passes: [],
  ...given,
})

export const event = (type: string, fields: { readonly [field: string]: unknown } = {}): LedgerEvent => ({
  seq: 1,
  at: '2026-03-03T09:00:00.000Z',
  type,
  prev: '0'.repeat(64),
  ...fields,
})

export const cycle = (number: number, given: Partial<Cycle> = {}): Cycle => ({
  cycle: number,
  kind: 'current',
  revisions: [],
  approval: null,
  events: [],
  ...given,
})

export const reportData = (given: Partial<ReportData> = {}): ReportData => ({
  name: 'shop',
  place: '/work/shop',
  made_at: '2026-03-03T12:00:00.000Z',
  version: '0.1.0',
  gate: { kind: 'closed', words: 'docs/plan.md is not approved yet.' },
  limit: 5,
  cycles: [cycle(1)],
  sessions: [],
  checks: [{ name: 'ledger', holds: true, detail: '3 events' }],
  problems: [],
  ...given,
})
