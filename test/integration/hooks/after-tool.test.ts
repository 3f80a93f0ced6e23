import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { installWorktree } from '../../../src/install/apply.ts'
import { readApproval } from '../../../src/state/approval.ts'
import { readEvents } from '../../../src/state/ledger.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { askGate, runHook } from '../../support/run-hook.ts'

let worktree: GatedWorktree
beforeEach(async () => {
  worktree = await gatedWorktree({ 'src/a.ts': 'a\n' })
  fire('session-start', { hook_event_name: 'SessionStart', source: 'startup' })
})
afterEach(() => worktree.remove())

const fire = (name: string, event: object) => runHook(worktree.root, name, event, { HOME: worktree.at('.git') })
const bash = (failed = false): string =>
  fire(failed ? 'post-tool-use-failure' : 'post-tool-use', {
    hook_event_name: failed ? 'PostToolUseFailure' : 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'x' },
  }).stdout
const reasonIn = (stdout: string): string => {
  const said =
    stdout === ''
      ? {}
      : (JSON.parse(stdout) as {
          decision?: string
          reason?: string
          hookSpecificOutput?: { additionalContext: string }
        })
  return said.reason ?? said.hookSpecificOutput?.additionalContext ?? ''
}
const events = (): string[] => {
  const read = readEvents(worktree.root)
  return read.kind === 'read' ? read.events.map(({ type }) => type) : []
}
const approve = (): void => {
  worktree.write('docs/plan.md', '# Plan\n')
  worktree.approve()
  bash()
}

describe('drift', () => {
  it('is none where nothing changed', () => {
    expect(bash()).toBe('')
  })

  it('is none where only the plan changed, which is reviewed instead, whatever wrote it', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    expect(reasonIn(bash())).toMatch(/^plan-gate: docs\/plan.md is not ready for review/)
    expect(bash()).toBe('')
    expect(events()).toEqual(['installed'])
  })

  it.each([false, true])(
    'is told after a command (failed: %s), each time until it is taken back, and recorded once',
    (failed) => {
      worktree.write('src/a.ts', 'changed\n')
      expect(reasonIn(bash(failed))).toMatch(/files changed although no plan is approved:\n {2}src\/a.ts: changed/)
      expect(reasonIn(bash(failed))).toMatch(/src\/a.ts/)
      expect(events()).toEqual(['installed', 'drift-found'])
      worktree.git('checkout', '--', 'src/a.ts')
      expect(bash(failed)).toBe('')
    },
  )

  it('blocks, so that Claude must deal with it', () => {
    worktree.write('new.ts', '')
    expect(JSON.parse(bash())).toMatchObject({ decision: 'block', reason: expect.stringContaining('new.ts: created') })
  })

  it('is not looked for after a file tool, which was judged by its path', () => {
    worktree.write('src/a.ts', 'changed\n')
    const event = {
      hook_event_name: 'PostToolUse',
      tool_name: 'Write',
      tool_input: { file_path: worktree.at('docs/plan.md') },
    }
    expect(fire('post-tool-use', event).stdout).toBe('')
  })

  it('is none while the plan is approved, and what was done then is none when the approval ends', () => {
    approve()
    worktree.write('src/a.ts', 'half done\n')
    expect(bash()).toBe('')
    worktree.write('docs/plan.md', '# Another\n')
    expect(reasonIn(bash())).toMatch(/approval is revoked/)
    expect(bash()).toBe('')
    worktree.write('src/a.ts', 'half done, and more\n')
    expect(reasonIn(bash())).toMatch(/src\/a.ts: changed/)
  })

  it('is told at each start of a session, which never accepts it', () => {
    worktree.write('src/a.ts', 'changed\n')
    for (const source of ['compact', 'startup', 'resume'])
      expect(reasonIn(fire('session-start', { hook_event_name: 'SessionStart', source }).stdout)).toMatch(
        /files changed although no plan is approved:\n {2}src\/a.ts: changed/,
      )
    expect(reasonIn(bash())).toMatch(/src\/a.ts/)
    expect(events()).toEqual(['installed', 'drift-found'])
  })

  it('is not known without a baseline, which no session start and no command makes', () => {
    rmSync(worktree.at('.git/plan-gate/tree.json'))
    fire('session-start', { hook_event_name: 'SessionStart', source: 'startup' })
    for (let time = 0; time < 2; time += 1)
      expect(reasonIn(bash())).toMatch(/approved plan: no baseline is recorded\. Tell the user.*drift accept/)
  })

  it('that cannot be looked for is said, not passed over', () => {
    rmSync(worktree.at('.git/HEAD'))
    expect(reasonIn(bash())).toMatch(/approved plan: .*not a git repository/)
  })

  it('lists what fits and counts the rest', () => {
    for (let i = 0; i < 100; i += 1) worktree.write(`new/${i}.ts`, '')
    expect(reasonIn(bash())).toMatch(/… and 70 more/)
  })
})

describe('the control plane', () => {
  const hook = '.claude/hooks/plan-gate/pre-tool-use.mjs'

  it.each<[string, () => void, string]>([
    ['a hook was emptied', () => writeFileSync(worktree.at(hook), ''), hook],
    ['a hook was deleted', () => rmSync(worktree.at(hook)), hook],
    ['all hooks were deleted', () => rmSync(worktree.at('.claude/hooks'), { recursive: true }), hook],
    [
      'a hook became a link',
      () => {
        rmSync(worktree.at(hook))
        symlinkSync('/dev/null', worktree.at(hook))
      },
      hook,
    ],
    ['the folder of the hooks became a link', () => moveAway('.claude/hooks'), hook],
    [
      'a skill was rewritten',
      () => writeFileSync(worktree.at('.claude/skills/plan-with-review/SKILL.md'), 'go on'),
      '.claude/skills/plan-with-review/SKILL.md',
    ],
    [
      'our entries were taken out',
      () => writeFileSync(worktree.at('.claude/settings.json'), '{}'),
      '.claude/settings.json',
    ],
    [
      'the settings were broken',
      () => writeFileSync(worktree.at('.claude/settings.json'), '{'),
      '.claude/settings.json',
    ],
    ['the settings were deleted', () => rmSync(worktree.at('.claude/settings.json')), '.claude/settings.json'],
    [
      'a denial was taken out',
      () => edit('.claude/settings.json', (text) => text.replace('Edit(/.claude/hooks/**)', 'Edit(/x)')),
      '.claude/settings.json',
    ],
    [
      'hooks were switched off locally',
      () => writeFileSync(worktree.at('.claude/settings.local.json'), '{"disableAllHooks":true}'),
      '.claude/settings.local.json',
    ],
  ])('is put back when %s; the approval ends and the record says so', (_, damage, path) => {
    approve()
    const before = existsSync(worktree.at(path)) ? worktree.read(path) : null
    damage()
    // The hook that looks is the one that Claude Code loaded; here a copy stands for it.
    const told = reasonIn(bashFromCopy())
    expect(told).toMatch(/changed the control plane of the gate/)
    expect(told).toContain(`${path}: restored`)
    expect(existsSync(worktree.at(path)) ? worktree.read(path) : null).toBe(before)
    expect(readApproval(worktree.root).kind).toBe('absent')
    expect(events()).toEqual([
      'installed',
      'approved-manually',
      'approval-revoked',
      'cycle-archived',
      'control-plane-restored',
    ])
    expect(askGate(worktree.root, 'Write', { file_path: worktree.at('src/a.ts') })).toMatch(/not allowed/)
    expect(reasonIn(bashFromCopy())).toBe('')
  })

  it('finds a configuration that nobody compiled, and makes it anew', () => {
    approve()
    const path = '.claude/hooks/plan-gate/config.json'
    const forged = { ...JSON.parse(worktree.read(path)), config: { gate: { tools: { allow: ['*'] } } } }
    writeFileSync(worktree.at(path), JSON.stringify(forged))
    expect(askGate(worktree.root, 'mcp__x__write', {})).toBeNull()
    expect(reasonIn(bash())).toContain(`${path}: restored`)
    expect(askGate(worktree.root, 'mcp__x__write', {})).toMatch(/not known to be read-only/)
    expect(reasonIn(bash())).toBe('')
  })

  it('says so when the record itself is gone, and what git is trusted with too', () => {
    rmSync(worktree.at('.git/plan-gate/repository.json'))
    rmSync(worktree.at('.git/plan-gate/seen-git-keys'), { force: true })
    expect(askGate(worktree.root, 'Bash', { command: 'git status' })).toMatch(/record of what was configured is gone/)
    rmSync(worktree.at('.git/plan-gate/install.json'))
    expect(reasonIn(bash())).toMatch(/install.json: could not be restored/)
    rmSync(worktree.at('.git'), { recursive: true })
    expect(reasonIn(bash())).toMatch(/git directory of this worktree is gone/)
  })

  it('leaves the main checkout’s own settings alone, broken or not', async () => {
    const linked = `${worktree.root}-linked`
    worktree.git('worktree', 'add', '--quiet', '-b', 'linked', linked)
    try {
      await installWorktree(linked, readGitDirs(linked) ?? expect.unreachable(), {
        reviewer: 'checklist',
        reflect: false,
      })
      writeFileSync(worktree.at('.claude/settings.local.json'), '{"permissions":{},}')
      runHook(linked, 'post-tool-use', {
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'x' },
      })
      expect(worktree.read('.claude/settings.local.json')).toBe('{"permissions":{},}')
    } finally {
      rmSync(linked, { recursive: true, force: true })
    }
  })

  it('does not forgive what a command did beside it without an approval', () => {
    writeFileSync(worktree.at(hook), '')
    worktree.write('src/a.ts', 'changed\n')
    const told = reasonIn(bashFromCopy())
    expect(told).toContain(`${hook}: restored`)
    expect(told).toContain('src/a.ts: changed')
    expect(reasonIn(bashFromCopy())).toContain('src/a.ts: changed')
  })

  it('keeps what it replaced', () => {
    writeFileSync(worktree.at('.claude/settings.local.json'), '{"disableAllHooks":true,"mine":1}')
    bash()
    expect(worktree.git('ls-files', '--others', '.claude/review')).toMatch(/replaced\/.*settings.local.json/)
  })

  it('leaves alone what the user may change: permissions, a hook of their own', () => {
    edit('.claude/settings.json', (text) => text.replace('"deny": [', '"allow": ["Bash(ls)"],\n    "deny": ['))
    writeFileSync(worktree.at('.claude/settings.local.json'), '{"model":"opus"}')
    expect(bash()).toBe('')
    expect(worktree.read('.claude/settings.json')).toContain('Bash(ls)')
  })

  it('says so where it cannot put back', () => {
    rmSync(join(worktree.root, '.git/plan-gate/files'), { recursive: true })
    writeFileSync(worktree.at(hook), '')
    expect(reasonIn(bash())).toContain(`${hook}: could not be restored`)
  })

  const edit = (path: string, change: (text: string) => string): void =>
    writeFileSync(worktree.at(path), change(worktree.read(path)))
  function moveAway(path: string): void {
    mkdirSync(worktree.at('elsewhere'))
    rmSync(worktree.at(path), { recursive: true })
    symlinkSync(worktree.at('elsewhere'), worktree.at(path))
    appendFileSync(worktree.at('.git/info/exclude'), 'elsewhere\n')
  }
  function bashFromCopy(): string {
    const root = worktree.root
    const event = { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'x' } }
    return runHook(root, 'post-tool-use', event, { HOME: worktree.at('.git') }, true).stdout
  }
})
