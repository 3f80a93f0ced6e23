import { describe, expect, it } from 'vitest'
import { type ApprovalEntry, listApprovals } from '../../../src/report/data.ts'
import { cycle, event, reportData, revision } from '../../support/report/example-data.ts'

const [one, two] = ['1'.repeat(64), '2'.repeat(64)]
const byCodex = event('approved', { revision: 1, plan_hash: one, route: 'codex', verification: 'passed' })
const byHand = event('approved-manually', { plan_hash: two, reason: 'It is urgent.' })
const revoked = event('approval-revoked', { why: 'docs/plan.md was changed after its approval' })
const open = { kind: 'open', words: '' } as const

const shown = ({ cycle, revision, route, why, ended }: ApprovalEntry): string =>
  [`c${cycle}`, `v${revision}`, route, why, ended].join(' | ')

describe('approvals', () => {
  it.each([
    { name: 'none', cycles: [cycle(1)], approvals: [] },
    {
      name: 'one that stands',
      cycles: [cycle(1, { events: [byCodex] })],
      approvals: ['c1 | v1 | codex | verification passed | '],
    },
    {
      name: 'one that ended, and one by hand that stands',
      cycles: [
        cycle(1, { kind: 'archived', events: [byCodex, revoked] }),
        cycle(2, { events: [byHand], revisions: [revision(1), revision(2)] }),
      ],
      approvals: [
        'c1 | v1 | codex | verification passed | docs/plan.md was changed after its approval',
        'c2 | v2 | manual | It is urgent. | ',
      ],
    },
    {
      name: 'one after another',
      cycles: [cycle(1, { events: [byCodex, byHand] })],
      approvals: [
        'c1 | v1 | codex | verification passed | another one followed',
        'c1 | vnull | manual | It is urgent. | ',
      ],
    },
    {
      name: 'one that is not in the ledger',
      cycles: [cycle(1, { approval: { is_optimal: true, plan_hash: one }, revisions: [revision(1)] })],
      approvals: ['c1 | v1 | manual | not on record yet | '],
    },
    {
      name: 'a file that approves nothing',
      cycles: [cycle(1, { approval: { is_optimal: false, plan_hash: one } })],
      approvals: [],
    },
  ])('$name', ({ cycles, approvals }) => {
    expect(listApprovals(reportData({ cycles, gate: open })).map(shown)).toEqual(approvals)
  })

  it('hold no longer where the gate is closed', () => {
    const closed = listApprovals(reportData({ cycles: [cycle(1, { events: [byCodex] })] }))
    expect(closed.map(({ ended }) => ended)).toEqual(['it holds no longer'])
  })
})
