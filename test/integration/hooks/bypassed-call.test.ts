import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readEvents } from '../../../src/state/ledger.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { askGate, runHook } from '../../support/run-hook.ts'

let worktree: GatedWorktree
let home: string
beforeEach(async () => {
  worktree = await gatedWorktree({ 'src/a.ts': 'a\n', 'plan-gate.yaml': 'gate:\n  bash:\n    mode: list\n' })
  home = worktree.at('.git/home')
  long(worktree.at('.git/plan-gate/install.json'), 60)
  startSession('s1')
})
afterEach(() => worktree.remove())

const startSession = (session_id: string): void => {
  runHook(worktree.root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup', session_id })
  long(worktree.at(`.claude/review/sessions/${session_id}/session.json`), 30)
}
/** As if it had been written then. */
const long = (path: string, seconds: number): void => {
  const then = new Date(Date.now() - seconds * 1000)
  utimesSync(path, then, then)
}

type Call = { tool: string; input: object; id?: string; session?: string; more?: object }
const write = (path = 'src/a.ts'): Call => ({ tool: 'Write', input: { file_path: worktree.at(path), content: 'x' } })
const bash = (command: string): Call => ({ tool: 'Bash', input: { command } })

const start = ({ tool, input, id = 't1', session = 's1', more }: Call): string | null =>
  askGate(worktree.root, tool, input, { tool_use_id: id, session_id: session, ...more })

function end({ tool, input, id = 't1', session = 's1', more }: Call, failed = false): { reason: string; user: string } {
  const { stdout } = runHook(
    worktree.root,
    failed ? 'post-tool-use-failure' : 'post-tool-use',
    {
      hook_event_name: failed ? 'PostToolUseFailure' : 'PostToolUse',
      tool_name: tool,
      tool_input: input,
      ...{ tool_use_id: id, session_id: session, duration_ms: 5, ...more },
    },
    { CLAUDE_CONFIG_DIR: home },
  )
  const said = stdout === '' ? {} : JSON.parse(stdout)
  return { reason: said.reason ?? said.hookSpecificOutput?.additionalContext ?? '', user: said.systemMessage ?? '' }
}

const silent = { reason: '', user: '' }
const events = (): string[] => {
  const read = readEvents(worktree.root)
  return read.kind === 'read' ? read.events.map(({ type }) => type) : []
}
const approve = (): void => {
  worktree.write('docs/plan.md', '# Plan\n')
  worktree.approve()
  expect(start({ ...bash('ls'), id: 't0' })).toBeNull()
  end({ ...bash('ls'), id: 't0' })
  expect(events()).toEqual(['installed', 'approved-manually'])
}

describe('a call that no PreToolUse hook of ours saw', () => {
  it.each([false, true])('ends the approval and closes the gate for this session (failed: %s)', (failed) => {
    approve()
    const { reason, user } = end(write('src/evil.ts'), failed)
    expect(reason).toMatch(/Write ran, and the gate was not asked: .*src\/evil\.ts\n.*plugin module/)
    expect(reason).toMatch(/The approval has ended, and the gate stays closed.*\n.*`plan-gate doctor`/)
    expect(user).toBe(reason.split('\n\n')[0])
    expect(events()).toEqual(['installed', 'approved-manually', 'approval-revoked', 'cycle-archived', 'gate-bypassed'])
    worktree.approve()
    expect(start(write())).toMatch(/Write ran unchecked \(.*src\/evil\.ts\); `plan-gate doctor`/)
    expect(start({ ...write(), session: 's2' })).toBeNull()
  })

  it('names what it changed where no plan was approved', () => {
    worktree.write('src/evil.ts', 'x')
    const { reason } = end(write('src/evil.ts'))
    expect(reason).toMatch(/\nThe gate stays closed in this session/)
    expect(reason).toMatch(/files changed although no plan is approved:\n {2}src\/evil\.ts: created/)
    expect(events()).toEqual(['installed', 'gate-bypassed', 'drift-found'])
  })

  it('is one even if SessionStart was skipped too, where the session began after the install', () => {
    const transcript_path = join(home, 'projects/x/s3.jsonl')
    mkdirSync(join(home, 'projects/x'), { recursive: true })
    const began = (seconds: number) =>
      writeFileSync(
        transcript_path,
        `{"type":"mode"}\n{"timestamp":"${new Date(Date.now() - seconds * 1000).toISOString()}"}\n`,
      )
    const call = { ...write(), session: 's3', more: { transcript_path } }
    began(90)
    expect(end(call)).toEqual(silent)
    began(10)
    expect(end(call).reason).toMatch(/the gate was not asked/)
  })

  it.each<[string, () => Call]>([
    ['the session began before the install', () => ({ ...write(), session: 'unknown' })],
    ['it began before the session did', () => ({ ...write(), more: { duration_ms: 40_000 } })],
    [
      'plan-gate was updated meanwhile',
      () => {
        long(worktree.at('.git/plan-gate/install.json'), 5)
        return { ...write(), more: { duration_ms: 10_000 } }
      },
    ],
    ['the tool is harmless', () => ({ tool: 'WebFetch', input: { url: 'http://x' } })],
  ])('is none where %s', (_, call) => {
    expect(end(call())).toEqual(silent)
    expect(events()).toEqual(['installed'])
  })

  it('is none for an agent in the background that goes on after /clear', () => {
    const client = { CLAUDE_PID: String(process.pid) }
    approve()
    expect(
      askGate(worktree.root, 'Bash', { command: 'make' }, { tool_use_id: 't1', session_id: 's1' }, client),
    ).toBeNull()
    const cleared = { hook_event_name: 'SessionStart', source: 'clear', session_id: 's2' }
    runHook(worktree.root, 'session-start', cleared, client)
    expect(end(bash('make'))).toEqual(silent)
  })

  it('is none where PostToolUse runs twice for a call', () => {
    approve()
    expect(start(write())).toBeNull()
    expect([end(write()), end(write())]).toEqual([silent, silent])
  })
})

describe('a call that another hook rewrote', () => {
  it('raises the alarm where the gate would have refused it', () => {
    worktree.write(
      '.claude/settings.local.json',
      '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]}}',
    )
    expect(start(write('docs/plan.md'))).toBeNull()
    worktree.write('src/evil.ts', 'x')
    const { reason } = end(write('src/evil.ts'))
    expect(reason).toMatch(/a hook rewrote this Write call .* What ran is not allowed: .*src\/evil\.ts/)
    expect(reason).toMatch(/there are some in .*settings\.local\.json\./)
    expect(reason).toMatch(/src\/evil\.ts: created/)
    expect(events()).toEqual(['installed', 'gate-bypassed', 'drift-found'])
    expect(start(write())).toMatch(/Write was rewritten after it was checked/)
  })

  it('also for a command', () => {
    expect(start(bash('ls'))).toBeNull()
    expect(end(bash('touch x')).reason).toMatch(/a hook rewrote this Bash call.*touch x/)
  })

  it('and for a write to the control plane under an approval, which ends', () => {
    approve()
    expect(start(write())).toBeNull()
    expect(end(write('.claude/settings.json')).reason).toMatch(/The approval has ended/)
    expect(events()).toContain('approval-revoked')
  })

  it('is none where it may run: under the approval that was there as it began, or as a command that reads', () => {
    expect(start(bash('ls'))).toBeNull()
    expect(end(bash('ls -la'))).toEqual(silent)
    approve()
    expect([start(bash('ls')), start({ ...write(), id: 't2' })]).toEqual([null, null])
    worktree.write('docs/plan.md', '# Another\n')
    expect(end(bash('rtk ls')).reason).toMatch(/the approval is revoked/)
    expect(end({ ...write('src/b.ts'), id: 't2' })).toEqual(silent)
  })
})

it('a call that cannot be noted is refused, with the reason', () => {
  approve()
  rmSync(worktree.at('.git/plan-gate/calls'), { recursive: true })
  symlinkSync('/nowhere', worktree.at('.git/plan-gate/calls'))
  expect(start(write())).toMatch(/Write was not run, because the gate could not record it.*calls is a symbolic link/)
})
