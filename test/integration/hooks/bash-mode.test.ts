import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { markSession, wrapperPath, writeMode } from '../../../src/gate/sandbox/rules.ts'
import { recompileConfig } from '../../../src/install/compile-config.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { askGate } from '../../support/run-hook.ts'

/** Who decides about a command; whether the sandbox holds is in test/clients/sandbox. */
let worktree: GatedWorktree
beforeEach(async () => {
  worktree = await gatedWorktree({ 'src/a.ts': '' })
  writeMode(worktree.gitDirs.own, 'sandbox')
  for (const mark of ['proven', 'command'] as const) markSession(worktree.gitDirs.own, 's1', mark)
})
afterEach(() => worktree.remove())

const configure = (mode: string): void => {
  worktree.write('plan-gate.yaml', `gate:\n  bash:\n    mode: ${mode}\n`)
  recompileConfig(worktree.root)
}
const inSandbox = () => ({ CLAUDE_CODE_SHELL_PREFIX: wrapperPath(worktree.gitDirs.own) ?? '' })
const ask = (tool: string, input: object, env: NodeJS.ProcessEnv = {}, session_id = 's1') =>
  askGate(worktree.root, tool, input, { session_id }, env)
const touch = { command: 'touch x' }

describe('gate.bash.mode', () => {
  it('auto: any command where the sandbox holds, else what is on the list', () => {
    expect(ask('Bash', touch, inSandbox())).toBeNull()
    expect(ask('Monitor', touch, inSandbox())).toBeNull()
    expect(ask('Bash', touch)).toMatch(/not on the list[\s\S]*The sandbox[\s\S]*CLAUDE_CODE_SHELL_PREFIX/)
    expect(ask('Bash', touch, inSandbox(), 's2')).toMatch(/not on the list[\s\S]*not proven/)
    expect(ask('Bash', { command: 'ls' })).toBeNull()
    expect(ask('PowerShell', touch, inSandbox())).toMatch(/not allowed/)
    expect(ask('Write', { file_path: worktree.at('src/a.ts'), content: '' }, inSandbox())).toMatch(/not allowed/)
  })

  it('list: the list, whatever lies beneath', () => {
    configure('list')
    expect(ask('Bash', touch, inSandbox())).toMatch(/not on the list/)
    expect(ask('Bash', { command: 'ls' }, inSandbox())).toBeNull()
  })

  it('sandbox: no gate opens without it', () => {
    configure('sandbox')
    worktree.write('docs/plan.md', '# Plan\n')
    expect(ask('Bash', touch, inSandbox())).toBeNull()
    worktree.approve()
    const write = { file_path: worktree.at('src/a.ts'), content: '' }
    expect(ask('Write', write)).toMatch(/gate\.bash\.mode is sandbox, and the sandbox is not used/)
    expect(ask('Bash', touch)).toMatch(/gate\.bash\.mode is sandbox/)
    expect(ask('Write', write, inSandbox())).toBeNull()
    expect(ask('Bash', touch, inSandbox())).toBeNull()
  })
})

describe('a skill', () => {
  it('may run commands as it is loaded where the sandbox holds, and never hooks', () => {
    worktree.write('.claude/skills/runs/SKILL.md', '---\nname: runs\n---\n!`touch x`\n')
    worktree.write('.claude/skills/hooks/SKILL.md', '---\nname: hooks\nhooks: {}\n---\n')
    expect(ask('Skill', { skill: 'runs' }, inSandbox())).toBeNull()
    expect(ask('Skill', { skill: 'runs' })).toMatch(/runs `touch x` as it is loaded/)
    expect(ask('Skill', { skill: 'hooks' }, inSandbox())).toMatch(/its head sets hooks/)
  })
})

describe('what the wrapper compares', () => {
  const record = join('.git/plan-gate/sandbox/approved')
  it('is written once the plan is approved, and gone when it is not', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    ask('Bash', { command: 'ls' })
    worktree.approve()
    expect(ask('Bash', touch, inSandbox())).toBeNull()
    expect(worktree.read(record)).toMatch(
      /^[0-9a-f]{64} {2}docs\/plan\.md\n[0-9a-f]{64} {2}\.claude\/review\/approval\.json\n$/,
    )
    worktree.write('docs/plan.md', '# Another\n')
    ask('Bash', { command: 'ls' }, inSandbox())
    expect(() => worktree.read(record)).toThrow(/ENOENT/)
  })
})
