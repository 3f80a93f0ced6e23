import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { listCycles } from '../../../src/state/cycles.ts'
import { readEvents, verifyLedger } from '../../../src/state/ledger.ts'
import { writeCounter } from '../../../src/state/revisions.ts'
import { listSessions } from '../../../src/state/sessions.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { runHook } from '../../support/run-hook.ts'

let worktree: GatedWorktree
let home: string
beforeEach(async () => {
  worktree = await gatedWorktree()
  home = worktree.at('home')
})
afterEach(() => worktree.remove())

const fire = (name: string, event: object) =>
  runHook(worktree.root, name, event, { HOME: home, AI_AGENT: 'claude-code_2-1-326_harness' })
const events = (): string[] => {
  const read = readEvents(worktree.root)
  return read.kind === 'read' ? read.events.map(({ type }) => type) : []
}
const contextOf = (stdout: string): string =>
  (JSON.parse(stdout) as { hookSpecificOutput: { additionalContext: string } }).hookSpecificOutput.additionalContext

it.each([
  [{ reviewer: 'codex', reflect: false } as const, true],
  [{ reviewer: 'codex', reflect: true } as const, false],
])(
  'a reflection that was switched on after an install with %j says that it lacks hooks: %s',
  async (choices, isSaid) => {
    const { root, configure, remove } = await gatedWorktree({}, choices)
    onTestFinished(remove)
    const event = { hook_event_name: 'SessionStart', session_id: 's-1', source: 'startup', cwd: root }
    const told = (env = {}): boolean =>
      /switched on after the install/.test(runHook(root, 'session-start', event, env).stdout)
    expect(told()).toBe(false)
    expect(told({ PLAN_GATE_REFLECT: '1' })).toBe(isSaid)
    configure('reflect:\n  enabled: true\n')
    expect([told(), told({ PLAN_GATE_REFLECT: '0' })]).toEqual([isSaid, false])
  },
)

describe('session-start', () => {
  const start = () =>
    fire('session-start', { hook_event_name: 'SessionStart', session_id: 's-1', source: 'startup', cwd: worktree.root })

  it('leaves a heartbeat with the client’s version', () => {
    start()
    expect(listSessions(worktree.root).map(({ session }) => session)).toMatchObject([
      { session_id: 's-1', client_version: '2.1.326', source: 'startup', cwd: worktree.root },
    ])
  })

  it('ends with the session, and begins again when it is resumed', () => {
    const ended = (): unknown[] => listSessions(worktree.root).map(({ session }) => session?.ended_at !== undefined)
    start()
    const end = fire('session-end', { hook_event_name: 'SessionEnd', session_id: 's-1', reason: 'other' })
    expect([end.stdout, end.stderr, ended()]).toEqual(['', '', [true]])
    start()
    expect(ended()).toEqual([false])
    fire('session-end', { hook_event_name: 'SessionEnd', session_id: '../never-seen', reason: 'other' })
    expect(ended()).toEqual([false])
  })

  it.each<[string, () => void, RegExp]>([
    ['no plan', () => {}, /There is no plan yet/],
    ['a plan', () => worktree.write('docs/plan.md', '# Plan\n'), /No approved plan: docs\/plan.md is not approved yet/],
    [
      'an approved plan',
      () => {
        worktree.write('docs/plan.md', '# Plan\n')
        worktree.approve()
      },
      /docs\/plan.md is approved/,
    ],
    [
      'an invalid configuration',
      () => worktree.write('plan-gate.yaml', 'plan:\n  max_revisions: many\n'),
      /plan-gate.yaml is invalid[\s\S]*plan-gate.yaml:2:/,
    ],
  ])('tells Claude in a few lines where things stand: %s', (_, prepare, said) => {
    prepare()
    const context = contextOf(start().stdout)
    expect(context).toMatch(said)
    expect(context.split('\n').length).toBeLessThan(6)
  })

  it('compiles the configuration anew', () => {
    worktree.write('plan-gate.yaml', 'plan:\n  max_revisions: 9\n')
    start()
    const compiled = JSON.parse(readFileSync(worktree.at('.claude/hooks/plan-gate/config.json'), 'utf8'))
    expect(compiled).toMatchObject({
      problems: [],
      config: { plan: { max_revisions: 9 }, review: { routes: [{ backend: 'checklist' }] } },
    })
  })
})

describe.each([
  ['post-tool-use', { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input: {} }],
  [
    'post-tool-use-failure',
    { hook_event_name: 'PostToolUseFailure', tool_name: 'Bash', tool_input: { command: 'false' } },
  ],
])('%s', (name, event) => {
  it('says nothing while there is nothing to say', () => {
    expect(fire(name, event)).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    expect(events()).toEqual(['installed'])
  })

  it('puts an approval by hand on record, once', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    expect(contextOf(fire(name, event).stdout)).toMatch(
      /approval\.json was written by hand, for docs\/plan.md as it is now/,
    )
    expect(fire(name, event).stdout).toBe('')
    expect(events()).toEqual(['installed', 'approved-manually'])
  })

  it('ends the cycle when the approved plan has changed: approval revoked, files in history, counter at 0', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    fire(name, event)
    writeCounter(worktree.root, 3)
    worktree.write('docs/plan.md', '# Another plan\n')
    const told = fire(name, event).stdout
    expect(told).toMatch(/changed after its approval/)
    // A failed command is given a minute by Claude Code, which is too short for a review.
    expect(told.includes('not ready for review')).toBe(name === 'post-tool-use')
    expect(listCycles(worktree.root).map(({ folder }) => folder)).toEqual(['.claude/review/history/cycle-0001'])
    expect(worktree.read('.claude/review/history/cycle-0001/approval.json')).toContain('"is_optimal":true')
    expect(worktree.read('.claude/review/version_counter')).toBe('0\n')
    expect(events()).toEqual(['installed', 'approved-manually', 'approval-revoked', 'cycle-archived'])
    expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact' })
    expect(fire(name, event).stdout).toBe('')
  })
})

describe('config-change', () => {
  const changed = (source: string, path?: string) =>
    fire('config-change', {
      hook_event_name: 'ConfigChange',
      session_id: 's',
      source,
      ...(path === undefined ? {} : { file_path: worktree.at(path) }),
    })

  it('lets a change pass that leaves the gate as it is', () => {
    writeFileSync(
      worktree.at('.claude/settings.local.json'),
      JSON.stringify({ permissions: { allow: ['Bash(ls)'] }, env: { FOO: '1' } }),
    )
    expect(changed('local_settings', '.claude/settings.local.json')).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: '',
    })
  })

  it.each<[string, string, string]>([
    ['hooks switched off', '.claude/settings.local.json', '{"disableAllHooks":true}'],
    ['a file that would be skipped', '.claude/settings.local.json', '{"hooks":[]}'],
    ['our hooks gone', '.claude/settings.json', '{}'],
    ['a broken file', '.claude/settings.json', '{'],
    ['the user’s own settings', 'home/.claude/settings.json', '{"disableAllHooks":true}'],
  ])('vetoes %s', (_, path, content) => {
    worktree.write(path, content)
    expect(changed('local_settings', path)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('was refused'),
    })
    expect(events()).toEqual(['installed', 'config-change-vetoed'])
  })

  it('vetoes a harmless change too while another file would switch the gate off: an allowed change re-reads all of them', () => {
    worktree.write('.claude/settings.local.json', '{"disableAllHooks":true}')
    expect(changed('user_settings', 'home/.claude/settings.json')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('disableAllHooks'),
    })
  })

  it('vetoes a change of our skills, and of no others', () => {
    expect(changed('skills', '.claude/skills/plan-with-review/SKILL.md').exitCode).toBe(2)
    expect(changed('skills', '.claude/skills/mine/SKILL.md').exitCode).toBe(0)
  })

  it('vetoes what it cannot read', () => {
    expect(runHook(worktree.root, 'config-change', '{').exitCode).toBe(2)
  })
})

describe.each([
  ['stop', { hook_event_name: 'Stop', stop_hook_active: false }],
  ['pre-compact', { hook_event_name: 'PreCompact', trigger: 'auto' }],
])('%s', (name, event) => {
  it('brings the record in line and never holds anybody up', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    expect(fire(name, event)).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    expect(events()).toEqual(['installed', 'approved-manually'])
  })
})
