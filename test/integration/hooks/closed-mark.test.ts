import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeGate, closeUntrusted, gateClosedFor, openGate, openTrusted } from '../../../src/gate/closed-mark.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { askGate, runHook } from '../../support/run-hook.ts'

let worktree: GatedWorktree
let gitDir: string
beforeEach(async () => {
  worktree = await gatedWorktree()
  gitDir = worktree.gitDirs.own
  worktree.write('docs/plan.md', '# Plan\n')
  worktree.approve()
})
afterEach(() => worktree.remove())

const write = (session_id: string): string | null =>
  askGate(worktree.root, 'Write', { file_path: worktree.at('src/a.ts') }, { session_id })

it('an approval opens nothing in a session that is marked, until the mark is taken away', () => {
  expect(write('s1')).toBeNull()
  closeGate(gitDir, 's1', 'a module of this repository skips the gate')
  expect(write('s1')).toMatch(/not allowed yet: a module of this repository skips the gate/)
  expect(write('s2')).toBeNull()
  openGate(gitDir, 's1')
  expect(write('s1')).toBeNull()
})

it('a new mark takes away those of sessions that Claude Code has forgotten', () => {
  for (const session of ['old', '../../x', 'kept']) closeGate(gitDir, session, 'why')
  const long = new Date(Date.now() - 90 * 24 * 3_600_000)
  utimesSync(join(gitDir, 'plan-gate/closed/old'), long, long)
  closeGate(gitDir, 'new', 'why')
  const why = () => ['old', '../../x', 'kept', 'new'].map((session) => gateClosedFor(gitDir, session)?.why ?? null)
  expect([...why(), existsSync(join(gitDir, '../x'))]).toEqual([null, 'why', 'why', 'why', false])
})

it('a mark that cannot be read closes the gate', () => {
  closeGate(gitDir, 's1', 'why')
  rmSync(join(gitDir, 'plan-gate/closed/s1'))
  mkdirSync(join(gitDir, 'plan-gate/closed/s1'))
  expect(write('s1')).toMatch(/is a directory, not a regular file/)
})

it.each(['', '{"why":', 'why; it can make any command run something else'])(
  'a damaged mark refuses commands, too: %j',
  (text) => {
    closeGate(gitDir, 's1', 'why')
    writeFileSync(join(gitDir, 'plan-gate/closed/s1'), text)
    expect(gateClosedFor(gitDir, 's1')).toMatchObject({ cause: 'bypassed', turnsCommands: true })
    expect(askGate(worktree.root, 'Bash', { command: 'ls' }, { session_id: 's1' })).toMatch(/is damaged/)
  },
)

it('what skipped the gate once keeps it closed, whatever the user agrees to', () => {
  closeGate(gitDir, 's1', 'Write ran unchecked')
  closeUntrusted(gitDir, 's1', ['env:X'], [])
  openTrusted(gitDir)
  closeUntrusted(gitDir, 's1', [], [])
  expect(gateClosedFor(gitDir, 's1')).toMatchObject({ why: 'Write ran unchecked', cause: 'bypassed' })
})

describe('the start of a session', () => {
  const start = () => runHook(worktree.root, 'session-start', { hook_event_name: 'SessionStart', session_id: 's1' })

  it('leaves no mark where its checks came to their end', () => {
    start()
    expect(gateClosedFor(gitDir, 's1')).toBeNull()
  })

  it('leaves the session closed where they did not, for commands that read as well', () => {
    rmSync(worktree.at('.claude/review/sessions'), { recursive: true, force: true })
    worktree.write('.claude/review/sessions', '')
    expect(start).toThrow(/ended with 1/)
    expect(write('s1')).toMatch(/was not checked to the end when it started/)
    expect(askGate(worktree.root, 'Bash', { command: 'ls' }, { session_id: 's1' })).toMatch(/was not checked/)
    rmSync(worktree.at('.claude/review/sessions'))
    start()
    expect(write('s1')).toBeNull()
  })
})
