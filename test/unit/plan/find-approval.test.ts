import { expect, it } from 'vitest'
import { findApproval } from '../../../src/plan/revisions.ts'
import type { LedgerEvent } from '../../../src/schemas/records.ts'

const [hash, other] = ['a'.repeat(64), 'b'.repeat(64)]
const by = (route: string, plan_hash = hash) => ({ type: 'approved', plan_hash, route })
const byHand = { type: 'approved-manually', plan_hash: hash }
const revoked = { type: 'approval-revoked', why: '' }
const archived = { type: 'cycle-archived', cycle: 1 }
const reviewed = { type: 'reviewed', plan_hash: hash, verdict: 'APPROVED' }

it.each<[string, readonly object[], ReturnType<typeof findApproval>]>([
  ['an empty ledger', [], { kind: 'none' }],
  ['a review alone', [reviewed], { kind: 'none' }],
  ['an approval of other bytes', [by('codex', other)], { kind: 'none' }],
  ['an approval', [reviewed, by('codex'), { type: 'installed' }], { kind: 'by', route: 'codex' }],
  ['an approval by hand', [byHand], { kind: 'by-hand' }],
  ['the later of both', [by('codex'), byHand], { kind: 'by-hand' }],
  ['one that was revoked', [by('codex'), revoked], { kind: 'ended' }],
  ['one whose cycle has ended', [by('codex'), archived], { kind: 'ended' }],
  ['one that was given again', [by('codex'), revoked, archived, by('curl')], { kind: 'by', route: 'curl' }],
  ['other bytes since', [by('codex'), revoked, archived, by('curl', other)], { kind: 'ended' }],
])('%s', (_, events, known) => {
  expect(findApproval(events as unknown as LedgerEvent[], hash)).toEqual(known)
})
