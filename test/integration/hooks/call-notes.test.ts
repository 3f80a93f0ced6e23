import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isCallRunning } from '../../../src/gate/call-notes.ts'
import { writeApproval } from '../../../src/state/approval.ts'
import { listCycles } from '../../../src/state/cycles.ts'
import { readEvents, verifyLedger } from '../../../src/state/ledger.ts'
import { sha256 } from '../../../src/system/sha256.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { runCli } from '../../support/run-cli.ts'
import { askGate, runHook } from '../../support/run-hook.ts'

const [plan, other] = ['# Plan\n', '# Another plan\n']
const approval = '.claude/review/approval.json'
const approvalOf = (text: string): string => JSON.stringify({ is_optimal: true, plan_hash: sha256(Buffer.from(text)) })

let worktree: GatedWorktree
beforeEach(async () => {
  worktree = await gatedWorktree({ 'src/a.ts': 'a\n', 'plan-gate.yaml': 'gate:\n  tools:\n    allow: ["mcp__*"]\n' })
})
afterEach(() => worktree.remove())

const startCall = (tool: string, id: string): string | null =>
  askGate(worktree.root, tool, { command: 'ls' }, { tool_use_id: id })

function endedCall(tool: string, id: string, failed = false): { reason: string; user: string } {
  const name = failed ? 'PostToolUseFailure' : 'PostToolUse'
  const event = { hook_event_name: name, tool_name: tool, tool_input: { command: 'ls' }, tool_use_id: id }
  const { stdout } = runHook(worktree.root, failed ? 'post-tool-use-failure' : 'post-tool-use', event)
  const said = stdout === '' ? {} : JSON.parse(stdout)
  return { reason: said.reason ?? said.hookSpecificOutput?.additionalContext ?? '', user: said.systemMessage ?? '' }
}

const call = (tool: string, work: () => void, failed = false): { reason: string; user: string } => {
  expect(startCall(tool, 'toolu_1')).toBeNull()
  work()
  return endedCall(tool, 'toolu_1', failed)
}

const events = (): string[] => {
  const read = readEvents(worktree.root)
  return read.kind === 'read' ? read.events.map(({ type }) => type) : []
}
const isOpen = (): boolean => askGate(worktree.root, 'Write', { file_path: worktree.at('src/a.ts') }) === null
const notes = (): string[] =>
  existsSync(worktree.at('.git/plan-gate/calls')) ? readdirSync(worktree.at('.git/plan-gate/calls')) : []
const approve = (): void => {
  worktree.write('docs/plan.md', plan)
  worktree.approve()
  call('Bash', () => {})
}
const forge = (): void => {
  worktree.write('docs/plan.md', other)
  writeFileSync(worktree.at(approval), approvalOf(other))
}

describe('an approval.json that changes while a tool runs', () => {
  it.each(['Bash', 'mcp__note__write', 'Skill'])('approves no plan that %s replaced', (tool) => {
    approve()
    const { reason, user } = call(tool, forge)
    expect(reason).toMatch(new RegExp(`approval\\.json changed while ${tool} ran: it named the plan .* approved`))
    expect(reason).toMatch(/put back, and the approval has ended\.\nStop here and tell the user/)
    expect(reason).toMatch(/docs\/plan\.md was not reviewed after this call/)
    expect(user).toMatch(/approval\.json changed while/)
    expect(isOpen()).toBe(false)
    expect(events()).toEqual([
      'installed',
      'approved-manually',
      'approval-tampered',
      'approval-revoked',
      'cycle-archived',
    ])
    expect(worktree.read('.claude/review/history/cycle-0001/approval.json')).toBe(approvalOf(plan))
    expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact' })
    // Neither drift nor a review follows by itself.
    expect(endedCall('Bash', 'toolu_2')).toEqual({ reason: '', user: '' })
    expect(notes()).toEqual([])
  })

  it.each([false, true])('nor one that was seen before, however the tool ended (failed: %s)', (failed) => {
    worktree.write('docs/plan.md', plan)
    endedCall('Write', 'toolu_0')
    const { reason } = call('mcp__note__write', () => writeFileSync(worktree.at(approval), approvalOf(plan)), failed)
    expect(reason).toMatch(/was put back\.\n/)
    expect([isOpen(), existsSync(worktree.at(approval))]).toEqual([false, false])
    expect(events()).toEqual(['installed', 'approval-tampered'])
    expect(listCycles(worktree.root)).toEqual([])
  })

  it('ends the approval that was removed or edited in place', () => {
    approve()
    expect(call('Bash', () => rmSync(worktree.at(approval))).reason).toMatch(/the approval has ended/)
    expect(isOpen()).toBe(false)
    approve()
    const edited = `${approvalOf(plan).slice(0, -1)},"route":"codex"}`
    expect(call('Bash', () => writeFileSync(worktree.at(approval), edited)).reason).toMatch(/the approval has ended/)
    expect(isOpen()).toBe(false)
  })

  it('is none where a review or `plan-gate approve` wrote it meanwhile', () => {
    worktree.write('docs/plan.md', plan)
    endedCall('Write', 'toolu_0')
    const said = call('Bash', () => writeApproval(worktree.root, JSON.parse(approvalOf(plan))))
    expect([said.reason, isOpen()]).toEqual(['', true])
  })

  it('is none where the call of another ends the approval', () => {
    approve()
    expect(startCall('Bash', 'toolu_1')).toBeNull()
    worktree.write('docs/plan.md', other)
    expect(endedCall('Write', 'toolu_2').reason).toMatch(/the approval is revoked/)
    expect(endedCall('Bash', 'toolu_1').reason).not.toMatch(/approval\.json changed/)
    expect(events()).not.toContain('approval-tampered')
  })
})

describe('an approval that a person writes', () => {
  it('counts for a plan that a hook has seen without it, and is recorded by the next call', () => {
    worktree.write('docs/plan.md', plan)
    endedCall('Bash', 'toolu_0')
    writeFileSync(worktree.at(approval), approvalOf(plan))
    expect(isOpen()).toBe(true)
    expect(call('Bash', () => {}).reason).toMatch(/approval\.json was written by hand, for docs\/plan\.md as it is now/)
    expect(events()).toEqual(['installed', 'approved-manually'])
  })

  it('does not count for a plan that nobody saw without it, until it is written again', () => {
    worktree.write('docs/plan.md', plan)
    writeFileSync(worktree.at(approval), approvalOf(plan))
    const refused = () => askGate(worktree.root, 'Write', { file_path: worktree.at('src/a.ts') })
    expect(refused()).toMatch(/written by hand before plan-gate had seen this text.*plan-gate approve --force/)
    endedCall('Bash', 'toolu_0')
    expect(refused()).toMatch(/does not count/)
    writeFileSync(worktree.at(approval), approvalOf(plan))
    expect(refused()).toBeNull()
  })

  it('does not count for a plan that was seen before the approved one', async () => {
    worktree.write('docs/plan.md', other)
    endedCall('Bash', 'toolu_0')
    worktree.write('docs/plan.md', plan)
    await runCli(['approve', '--force', '--reason', 'x'], { cwd: worktree.root })
    endedCall('Bash', 'toolu_0')
    forge()
    expect(isOpen()).toBe(false)
  })

  it('does not count again once it has ended', () => {
    approve()
    worktree.write('docs/plan.md', other)
    endedCall('Bash', 'toolu_2')
    worktree.write('docs/plan.md', plan)
    writeFileSync(worktree.at(approval), approvalOf(plan))
    expect(isOpen()).toBe(false)
  })
})

describe('the note of a call', () => {
  it('is left by none that is denied; a call that only writes the file it names does not count as running', () => {
    expect(startCall('Bash', 'toolu_1')).toBeNull()
    expect(notes()).toHaveLength(1)
    expect(isCallRunning(worktree.gitDirs.own)).toBe(true)
    endedCall('Bash', 'toolu_1')
    expect(askGate(worktree.root, 'PowerShell', { command: 'x' }, { tool_use_id: 'a' })).toMatch(/not allowed/)
    askGate(worktree.root, 'Write', { file_path: worktree.at('docs/plan.md') }, { tool_use_id: 'b' })
    expect([notes(), isCallRunning(worktree.gitDirs.own)]).toEqual([['62.json'], false])
  })

  it('goes with the session, not with one that runs beside it', () => {
    const runsIn = (client: number, id: string) =>
      askGate(worktree.root, 'Bash', { command: 'ls' }, { tool_use_id: id }, { CLAUDE_PID: String(client) })
    runsIn(process.pid, 'ours')
    runsIn(process.ppid, 'theirs')
    runsIn(2 ** 22 + 1, 'of a client that is gone')
    runHook(worktree.root, 'session-start', { hook_event_name: 'SessionStart' }, { CLAUDE_PID: String(process.pid) })
    expect(notes()).toEqual([`${Buffer.from('theirs').toString('hex')}.json`])
  })

  it('stands in the way of no later call: a broken one is none', () => {
    startCall('Bash', 'toolu_1')
    writeFileSync(worktree.at(`.git/plan-gate/calls/${notes()[0]}`), '{')
    worktree.write('docs/plan.md', plan)
    expect(endedCall('Bash', 'toolu_1').reason).toMatch(/not ready for review/)
  })
})

describe('what only the user decides', () => {
  it.each([
    ['approve', '--force', '--reason', 'x'],
    ['drift', 'accept'],
    ['continue'],
    ['install', '--reviewer', 'checklist'],
    ['uninstall', '--all', '--yes'],
    ['uninstall'],
  ])('is refused to a command of Claude’s: plan-gate %s', async (...words) => {
    worktree.write('docs/plan.md', plan)
    startCall('Bash', 'toolu_1')
    const run = { cwd: worktree.root, env: { CLAUDECODE: '1', HOME: worktree.at('home') } }
    expect((await runCli(words, { ...run, exitCode: 1 })).stderr).toMatch(/a decision of the user/)
    endedCall('Bash', 'toolu_1')
    // This plan-gate.yaml allows what the self-test of an install wants refused.
    if (!['continue', 'install'].includes(words[0] ?? '')) await runCli(words, run)
  })
})
