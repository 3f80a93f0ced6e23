import { describe, expect, it } from 'vitest'
import { nextAction, type Standing } from '../../../src/plan/next-action.ts'
import { type NextState, nextStates } from '../../../src/schemas/status.ts'

/** A plan that nobody has seen yet, in a gate that holds. */
const plain: Standing = {
  isInstalled: true,
  damage: null,
  ledgerProblem: null,
  configProblem: null,
  closed: null,
  tampering: null,
  review: null,
  drift: null,
  plan: { kind: 'open', because: 'docs/plan.md is not approved yet' },
  last: { kind: 'other', reviewed: null },
  told: null,
  open: [],
  question: null,
}
const verdict = (verdict: string, isLimit = false): Standing['last'] => ({
  kind: 'verdict',
  revision: 2,
  verdict,
  isLimit,
})
const failure = (failure: string): Standing['last'] => ({
  kind: 'no-verdict',
  failure,
  why: 'codex: not logged in.',
  remedy: 'Log in: codex login.',
})
const approved = { plan: { kind: 'approved', hash: 'a' } } as const
const approve = 'plan-gate approve --force --reason "…"'

const table: readonly [NextState, Partial<Standing>, RegExp, string][] = [
  ['not-installed', { isInstalled: false }, /There is no gate here/, 'plan-gate install'],
  [
    'damaged',
    { ledgerProblem: 'line 5 is garbage', ...approved },
    /not certain: line 5 is garbage\./,
    'plan-gate doctor',
  ],
  ['damaged', { damage: 'a hook is missing', ...approved }, /not intact: a hook is missing\./, 'plan-gate doctor'],
  ['invalid-config', { configProblem: 'line 3: no such key' }, /not valid.*line 3/, 'plan-gate config'],
  ['tampered', { tampering: 'Bash got past the gate (x)', ...approved }, /^Bash got past/, 'plan-gate log -n 20'],
  [
    'gate-closed',
    { closed: 'it loads mcp:x', ...approved },
    /closed in the last session: it loads mcp:x/,
    'plan-gate open',
  ],
  ['reviewing', { review: { revision: 2, backend: 'codex' } }, /codex is reading revision 2/, 'plan-gate watch'],
  [
    'drift',
    { drift: 'a.ts', last: verdict('CHANGES_REQUIRED') },
    /: a\.ts\. Revert that, or accept it: .*drift accept/,
    'plan-gate drift',
  ],
  ['approved', { ...approved, drift: 'a.ts' }, /carry it out/, 'plan-gate open'],
  ['no-plan', { plan: { kind: 'missing' } }, /no plan yet/, 'plan-gate open'],
  ['limit-reached', { last: verdict('CHANGES_REQUIRED', true) }, /revision 2 was the last/, 'plan-gate continue'],
  [
    'decision-needed',
    { last: verdict('DECISION_NEEDED'), question: 'A or B?' },
    /question in the session: A or B\?/,
    'plan-gate findings',
  ],
  [
    'changes-required',
    { last: verdict('CHANGES_REQUIRED'), open: ['F1', 'F2'] },
    /F1, F2 are open/,
    'plan-gate findings --open',
  ],
  ['skipped', { last: failure('skipped') }, /Only you can approve/, approve],
  ['not-named', { last: failure('not-named') }, /^You decide: codex/, approve],
  ['cancelled', { last: { kind: 'submitted' } }, /interrupted and is not counted/, 'plan-gate open'],
  ['cancelled', { last: failure('cancelled') }, /interrupted/, 'plan-gate open'],
  [
    'unavailable',
    { last: failure('auth') },
    /\(auth\): codex: not logged in\. Log in: codex login\. Then/,
    'plan-gate routes',
  ],
  [
    'checklist',
    { told: 'plan-gate: the plan is not ready for review: 3 points to fix first.' },
    /^The plan is not ready/,
    'plan-gate open',
  ],
  ['not-reviewed', {}, /not reviewed yet/, 'plan-gate open'],
  ['not-reviewed', { last: { kind: 'other', reviewed: 2 } }, /changed since revision 2/, 'plan-gate open'],
]

describe('what the user does next', () => {
  it.each(table)('%s: %j', (state, standing, text, command) => {
    const next = nextAction({ ...plain, ...standing })
    expect(next).toEqual({ state, text: expect.stringMatching(text), command })
    expect(next.text.split('\n')).toHaveLength(1)
  })

  it('has an answer for each state', () => {
    expect(nextStates.filter((state) => !table.some(([each]) => each === state))).toEqual([])
  })
})
