import { mkdirSync, symlinkSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { askGate, runHook } from '../../support/run-hook.ts'

let worktree: GatedWorktree
afterEach(() => worktree.remove())

const plan = '# Plan\n\n## Changes\n- `src/app.ts` (changed)\n- `test/**/*.test.ts` (new)\n\n## Risks\nNone.\n'

describe.each(['ask', 'deny'] as const)('gate.scope: %s', (mode) => {
  beforeEach(async () => {
    worktree = await gatedWorktree({ 'plan-gate.yaml': `gate:\n  scope: ${mode}\n`, 'src/app.ts': '' })
    worktree.write('docs/plan.md', plan)
    worktree.approve()
  })

  const answerTo = (path: string): string => {
    const event = { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: { file_path: worktree.at(path) } }
    const { stdout } = runHook(worktree.root, 'pre-tool-use', event)
    if (stdout === '') return 'allow'
    return (JSON.parse(stdout) as { hookSpecificOutput: { permissionDecision: string } }).hookSpecificOutput
      .permissionDecision
  }

  it('lets what the plan names be written, and holds the rest', () => {
    mkdirSync(worktree.at('test'))
    symlinkSync(worktree.at('src/other.ts'), worktree.at('test/link.test.ts'))
    expect(
      [
        'src/app.ts',
        'test/deep/a.test.ts',
        'docs/plan.md',
        'src/other.ts',
        'test/a.ts',
        '../elsewhere.ts',
        'test/link.test.ts',
      ].map(answerTo),
    ).toEqual(['allow', 'allow', 'allow', mode, mode, mode, mode])
  })

  it('never loosens the control plane', () => {
    worktree.write('docs/plan.md', '## Changes\n- `.claude/settings.json`\n- `**`\n')
    worktree.approve()
    expect(answerTo('.claude/settings.json')).toBe('deny')
  })
})

it('under an approval the command that the skill names to check it is allowed', async () => {
  worktree = await gatedWorktree({})
  worktree.write('docs/plan.md', plan)
  worktree.approve()
  expect(askGate(worktree.root, 'Bash', { command: 'sha256sum docs/plan.md' })).toBeNull()
})

it('a skill of a plugin, whose text is not read, is left to the sandbox', async () => {
  worktree = await gatedWorktree({})
  expect(askGate(worktree.root, 'Skill', { skill: 'tools:fmt' })).toMatch(/what the plugin of tools:fmt runs/)
  for (const skill of ['plan-gate:plan-with-review', 'init'])
    expect(askGate(worktree.root, 'Skill', { skill })).toBeNull()
})

describe('a skill with commands in it', () => {
  beforeEach(async () => {
    worktree = await gatedWorktree({
      '.claude/skills/curious/SKILL.md': 'Status: !`git status`\n',
      '.claude/skills/sneaky/SKILL.md': 'Now: !`touch x`\n',
      '.claude/skills/labelled/SKILL.md': '---\nname: Nice Label\n---\n!`touch x`\n',
      '.claude/skills/hooked/SKILL.md': '---\ndescription: x\nhooks:\n  PreToolUse: []\n---\nText.\n',
      '.claude/skills/listed/SKILL.md': '- First:\n    ```!\n    touch y\n    ```\n',
      '.claude/commands/ops/clean.md': '```!\nrm -rf build\n```\n',
    })
  })

  it.each<[tool: string, input: object, refused: RegExp | null]>([
    ['Skill', { skill: 'curious' }, null],
    ['Skill', { skill: 'sneaky' }, /the skill sneaky \(it runs `touch x` as it is loaded\)/],
    ['SlashCommand', { command: '/sneaky at once' }, /touch x/],
    ['Skill', { skill: 'ops:clean' }, /rm -rf build/],
    ['Skill', { skill: 'clean' }, /rm -rf build/],
    ['Skill', { skill: 'SNEAKY' }, /touch x/],
    ['Skill', { name: 'sneaky' }, /touch x/],
    ['Skill', { skill: 'curious/../sneaky' }, /touch x/],
    ['Skill', { skill: 'nice label' }, /touch x/],
    ['Skill', { skill: 'hooked' }, /its head sets hooks/],
    ['Skill', { skill: 'listed' }, /touch y/],
    ['Skill', { skill: 'plan-with-review' }, null],
    ['Skill', { skill: 'review' }, null],
    ['Skill', { skill: '../../etc' }, null],
    ['Skill', {}, null],
  ])('%s %j', (tool, input, refused) => {
    const answer = askGate(worktree.root, tool, input)
    if (refused === null) expect(answer).toBeNull()
    else expect(answer).toMatch(refused)
  })
})

describe('git, when its configuration changes under it', () => {
  beforeEach(async () => {
    worktree = await gatedWorktree()
  })
  const ask = (command = 'git status') => askGate(worktree.root, 'Bash', { command })

  it('is trusted with what the user had before', async () => {
    expect(ask()).toBeNull()
    worktree.git('config', 'user.name', 'Somebody')
    worktree.git('config', 'branch.main.remote', 'origin')
    expect(ask()).toBeNull()
  })

  it.each<[key: string, change: () => void]>([
    ['core.fsmonitor', () => worktree.git('config', 'core.fsmonitor', './evil')],
    ['diff.external', () => worktree.git('config', 'diff.external', './evil')],
    ['filter.x.clean', () => worktree.git('config', 'filter.x.clean', './evil')],
    ['include.path', () => worktree.git('config', 'include.path', '../.gitconfig')],
    ['alias.st', () => worktree.git('config', 'alias.st', '!./evil')],
    ['the hook post-index-change', () => void worktree.write('.git/hooks/post-index-change', '#!/bin/sh\n')],
  ])('is refused with %s named, and other commands are not', (key, change) => {
    expect(ask()).toBeNull()
    change()
    if (key.startsWith('the hook')) worktree.executable('.git/hooks/post-index-change')
    expect(ask()).toContain(key)
    expect(ask('pwd && git status')).toContain(key)
    expect(ask('ls -la')).toBeNull()
    expect(ask('ls | git hash-object --stdin')).toMatch(/plan-gate/)
  })

  it('is trusted again once the change is taken back', () => {
    worktree.git('config', 'core.fsmonitor', './evil')
    expect(ask()).toContain('core.fsmonitor')
    worktree.git('config', '--unset', 'core.fsmonitor')
    expect(ask()).toBeNull()
  })
})
