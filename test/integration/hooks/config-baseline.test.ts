import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readPlanState } from '../../../src/gate/read-plan-state.ts'
import { readEvents } from '../../../src/state/ledger.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { runCli } from '../../support/run-cli.ts'
import { askGate, runHook } from '../../support/run-hook.ts'

const before = 'gate:\n  tools:\n    allow: ["mcp__note__*"]\n'
const more = 'gate:\n  tools:\n    allow: ["mcp__*"]\n'

let worktree: GatedWorktree
beforeEach(async () => {
  worktree = await gatedWorktree({ 'plan-gate.yaml': before })
})
afterEach(() => worktree.remove())

const client = { CLAUDE_PID: String(process.pid) }
const start = (id: string) =>
  expect(askGate(worktree.root, 'mcp__note__write', {}, { tool_use_id: id }, client)).toBeNull()
const end = (id: string): { reason: string; user: string } => {
  const event = { hook_event_name: 'PostToolUse', tool_name: 'mcp__note__write', tool_input: {}, tool_use_id: id }
  const { stdout } = runHook(worktree.root, 'post-tool-use', event, client)
  const said = stdout === '' ? {} : JSON.parse(stdout)
  return { reason: said.reason ?? said.hookSpecificOutput?.additionalContext ?? '', user: said.systemMessage ?? '' }
}
const call = (work: () => void): { reason: string; user: string } => {
  start('one')
  work()
  return end('one')
}
const startSession = (source: string, env = client): string =>
  runHook(worktree.root, 'session-start', { hook_event_name: 'SessionStart', source, session_id: 's' }, env).stdout
const counts = (): 'before' | 'more' => (askGate(worktree.root, 'mcp__lab__write', {}) === null ? 'more' : 'before')
const replaced = (): string[] =>
  readdirSync(worktree.at('.claude/review/replaced')).map((name) => worktree.read(`.claude/review/replaced/${name}`))
const pending = /plan-gate\.yaml has changed\. The gate still uses the earlier text/

describe('plan-gate.yaml, changed while a tool call runs,', () => {
  it('is put back, which is recorded, and the approval ends', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    call(() => {})
    expect(readPlanState(worktree.root).kind).toBe('approved')
    const { reason } = call(() => worktree.write('plan-gate.yaml', more))
    expect(reason).toMatch(/the control plane of the gate:\n {2}plan-gate\.yaml: restored\nAny approval has ended/)
    expect([worktree.read('plan-gate.yaml'), readPlanState(worktree.root).kind, replaced()]).toEqual([
      before,
      'open',
      [more],
    ])
    const read = readEvents(worktree.root)
    expect(read.kind === 'read' && read.events.filter(({ type }) => type === 'control-plane-restored')).toMatchObject([
      { paths: ['plan-gate.yaml'] },
    ])
    startSession('startup')
    expect(counts()).toBe('before')
  })

  it.each<[string, () => void]>([
    ['removed', () => rmSync(worktree.at('plan-gate.yaml'))],
    [
      'made a link',
      () => {
        rmSync(worktree.at('plan-gate.yaml'))
        symlinkSync('/etc/hostname', worktree.at('plan-gate.yaml'))
      },
    ],
    [
      'changed with what was compiled from it',
      () => {
        worktree.write('plan-gate.yaml', more)
        rmSync(worktree.at('.claude/hooks/plan-gate/config.json'))
      },
    ],
    [
      'changed, and what was compiled forged',
      () => {
        worktree.write('plan-gate.yaml', more)
        const path = '.claude/hooks/plan-gate/config.json'
        worktree.write(path, worktree.read(path).replace('mcp__note__', 'mcp__'))
      },
    ],
  ])('%s, is put back', (_, change) => {
    expect(call(change).reason).toMatch(/plan-gate\.yaml: restored/)
    expect([worktree.read('plan-gate.yaml'), counts()]).toEqual([before, 'before'])
  })

  it('is removed where there was none', async () => {
    worktree.configure(null)
    expect(askGate(worktree.root, 'Bash', { command: 'ls' }, { tool_use_id: 'one' })).toBeNull()
    worktree.write('plan-gate.yaml', more)
    expect(end('one').reason).toMatch(/plan-gate\.yaml: restored/)
    expect(existsSync(worktree.at('plan-gate.yaml'))).toBe(false)
  })

  it('and written with the same text: nothing happened', () => {
    expect(call(() => worktree.write('plan-gate.yaml', before))).toEqual({ reason: '', user: '' })
  })

  it.each(['startup', 'resume', 'clear'])('does not count by a session that starts meanwhile (%s)', (source) => {
    start('one')
    worktree.write('plan-gate.yaml', more)
    expect(startSession(source, { CLAUDE_PID: '1' })).toMatch(pending)
    expect(counts()).toBe('before')
    expect(end('one').reason).toMatch(/plan-gate\.yaml: restored/)
  })

  it('does not count by the command line meanwhile', async () => {
    start('one')
    worktree.write('plan-gate.yaml', more)
    const { stderr } = await runCli(['config', '--apply'], { cwd: worktree.root, exitCode: 1 })
    expect(stderr).toMatch(/A tool call of Claude Code runs here/)
    await runCli(['install', '--reviewer', 'checklist'], { cwd: worktree.root })
    expect(counts()).toBe('before')
    expect(end('one').reason).toMatch(/plan-gate\.yaml: restored/)
    expect(worktree.read('plan-gate.yaml')).toBe(before)
  })
})

describe('plan-gate.yaml, changed by the user between calls,', () => {
  it('stays, is told of once, and does not count yet', () => {
    call(() => {})
    worktree.write('plan-gate.yaml', more)
    const told = call(() => {})
    expect([told.reason, told.user]).toEqual([expect.stringMatching(pending), expect.stringMatching(pending)])
    expect([call(() => {}), worktree.read('plan-gate.yaml'), counts()]).toEqual([
      { reason: '', user: '' },
      more,
      'before',
    ])
  })

  it.each(['startup', 'resume', 'clear'])('counts from the next session start (%s)', (source) => {
    worktree.write('plan-gate.yaml', more)
    expect(startSession(source)).not.toMatch(pending)
    expect(counts()).toBe('more')
  })

  it('does not count after a compaction', () => {
    worktree.write('plan-gate.yaml', more)
    expect(startSession('compact')).toMatch(pending)
    expect(counts()).toBe('before')
  })

  it('counts after `plan-gate config --apply`, unless it is invalid', async () => {
    worktree.write('plan-gate.yaml', 'gate: 3\n')
    await runCli(['config', '--apply'], { cwd: worktree.root, exitCode: 2 })
    call(() => {})
    worktree.write('plan-gate.yaml', more)
    await runCli(['config', '--apply'], { cwd: worktree.root })
    expect(counts()).toBe('more')
    expect(call(() => {})).toEqual({ reason: '', user: '' })
  })

  it('stays invalid, and refused, where a session has started with it', () => {
    worktree.write('plan-gate.yaml', 'gate: 3\n')
    startSession('startup')
    rmSync(worktree.at('.claude/hooks/plan-gate/config.json'))
    expect(askGate(worktree.root, 'Write', { file_path: worktree.at('x') })).toMatch(
      /while plan-gate\.yaml is invalid:[\s\S]*plan-gate config --apply/,
    )
    expect(JSON.parse(readFileSync(worktree.at('.git/plan-gate/config.json'), 'utf8')).problems).toHaveLength(1)
  })
})
