import { describe, expect, it } from 'vitest'
import { type ApprovalFile, type PlanFile, planState } from '../../../src/gate/plan-state.ts'

const hash = 'a'.repeat(64)
const plan: PlanFile = { kind: 'read', hash: () => hash }
const approval = (plan_hash: string, is_optimal = true): ApprovalFile => ({
  kind: 'recorded',
  approval: { is_optimal, plan_hash },
})

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
    expect(planState(planFile, approvalFile)).toEqual(expected)
  })

  it('does not hash the plan where no approval asks for it', () => {
    const unread: PlanFile = { kind: 'read', hash: () => expect.unreachable() }
    expect(planState(unread, { kind: 'absent' }).kind).toBe('open')
    expect(planState(unread, approval(hash, false)).kind).toBe('open')
  })
})
