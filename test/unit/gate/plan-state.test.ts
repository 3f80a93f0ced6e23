import { describe, expect, it } from 'vitest'
import { type ApprovalFile, type ApprovalOrigin, type PlanFile, planState } from '../../../src/gate/plan-state.ts'

const hash = 'a'.repeat(64)
const plan: PlanFile = { kind: 'read', hash: () => hash }
const approval = (plan_hash: string, is_optimal = true): ApprovalFile => ({
  kind: 'recorded',
  approval: { is_optimal, plan_hash },
})

const recorded: ApprovalOrigin = { isRecorded: true, seen: null }
const byHand = (seen: ApprovalOrigin['seen']): ApprovalOrigin => ({ isRecorded: false, seen })

describe('planState', () => {
  it.each<[string, PlanFile, ApprovalFile, object]>([
    ['no plan, no approval', { kind: 'absent' }, { kind: 'absent' }, { kind: 'missing' }],
    ['no plan, an approval', { kind: 'absent' }, approval(hash), { kind: 'missing' }],
    ['a plan', plan, { kind: 'absent' }, { kind: 'open', because: 'docs/plan.md is not approved yet' }],
    ['an approved plan', plan, approval(hash), { kind: 'approved', hash }],
    [
      'another plan approved',
      plan,
      approval('b'.repeat(64)),
      { kind: 'open', because: 'docs/plan.md has changed since it was approved, so the approval no longer holds' },
    ],
    [
      'is_optimal false',
      plan,
      approval(hash, false),
      { kind: 'open', because: 'approval.json says is_optimal: false' },
    ],
    [
      'a broken approval',
      plan,
      { kind: 'refused', why: 'it is empty' },
      { kind: 'open', because: 'approval.json is not a valid approval: it is empty' },
    ],
    [
      'a plan behind a link',
      { kind: 'refused', why: 'is a symbolic link' },
      approval(hash),
      { kind: 'open', because: 'docs/plan.md is a symbolic link' },
    ],
  ])('%s', (_, planFile, approvalFile, expected) => {
    expect(planState(planFile, approvalFile, () => recorded)).toEqual(expected)
  })

  it('does not hash the plan where no approval asks for it', () => {
    const unread: PlanFile = { kind: 'read', hash: () => expect.unreachable() }
    const unasked = (): ApprovalOrigin => expect.unreachable()
    expect(planState(unread, { kind: 'absent' }, unasked).kind).toBe('open')
    expect(planState(unread, approval(hash, false), unasked).kind).toBe('open')
    expect(planState(plan, approval('b'.repeat(64)), unasked).kind).toBe('open')
  })

  it.each<[string, ApprovalOrigin, 'approved' | 'open']>([
    ['a review or a command of ours wrote it', recorded, 'approved'],
    ['nothing was seen before', byHand(null), 'open'],
    ['this text was seen unapproved, and it was written since', byHand({ planHash: hash, isNewer: true }), 'approved'],
    ['it was there when this text was seen', byHand({ planHash: hash, isNewer: false }), 'open'],
    ['another text was seen', byHand({ planHash: 'b'.repeat(64), isNewer: true }), 'open'],
  ])('an approval counts by where it comes from: %s', (_, origin, expected) => {
    const state = planState(plan, approval(hash), () => origin)
    expect(state.kind).toBe(expected)
    if (state.kind === 'open') expect(state.because).toMatch(/written by hand before[\s\S]*plan-gate approve/)
  })
})
