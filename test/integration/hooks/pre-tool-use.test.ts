import { spawn, spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recompileConfig } from '../../../src/install/compile-config.ts'
import { readDenials } from '../../../src/state/sessions.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { hookArgs } from '../../support/hook-args.ts'
import { askGate, runHook } from '../../support/run-hook.ts'

/** The installed bundle itself, on real files. What it decides from what it finds is tested in test/gate. */
let worktree: GatedWorktree
beforeEach(async () => {
  worktree = await gatedWorktree({ 'src/app.ts': 'export {}\n' })
})
afterEach(() => worktree.remove())

const write = (path: string): string | null =>
  askGate(worktree.root, 'Write', { file_path: worktree.at(path), content: 'x' })
const hash = 'f'.repeat(64)

describe('before an approval', () => {
  it('lets the plan be written and nothing else', () => {
    expect(write('docs/plan.md')).toBeNull()
    expect(write('src/app.ts')).toMatch(/docs\/plan.md does not exist yet/)
    worktree.write('docs/plan.md', '# Plan\n')
    expect(write('docs/plan.md')).toBeNull()
    expect(write('src/app.ts')).toMatch(/docs\/plan.md is not approved yet/)
  })

  it('judges a subagent’s call alike', () => {
    expect(
      askGate(
        worktree.root,
        'Write',
        { file_path: worktree.at('x') },
        { agent_id: 'a', agent_type: 'general-purpose' },
      ),
    ).toMatch(/not allowed/)
  })

  it('goes by CLAUDE_PROJECT_DIR wherever the session has moved to', () => {
    expect(
      askGate(worktree.root, 'Write', { file_path: worktree.at('docs/plan.md') }, { cwd: worktree.at('src') }),
    ).toBeNull()
    expect(askGate(worktree.root, 'Write', { file_path: '../docs/plan.md' }, { cwd: worktree.at('src') })).toBeNull()
    expect(askGate(worktree.root, 'Write', { file_path: 'docs/plan.md' }, { cwd: worktree.at('src') })).toMatch(
      /not allowed/,
    )
  })

  it.each<[string, () => void]>([
    ['docs/plan.md is a link to code', () => link('docs/plan.md', worktree.at('src/app.ts'))],
    ['docs/plan.md is a link to nothing', () => link('docs/plan.md', worktree.at('src/new.ts'))],
    ['docs is a link', () => link('docs', worktree.at('src'))],
    ['docs/plan.md is a second name of code', () => hardLink('docs/plan.md', 'src/app.ts')],
    ['docs/plan.md is a link in a circle', () => link('docs/plan.md', worktree.at('docs/plan.md'))],
  ])('does not take for the plan what is not: %s', (_, prepare) => {
    prepare()
    expect(write('docs/plan.md')).toMatch(/not allowed|cannot be checked/)
  })

  it('lets plan mode write its own plan, where it keeps them', () => {
    const home = worktree.at('home')
    mkdirSync(join(home, '.claude/plans'), { recursive: true })
    symlinkSync(worktree.at('src/app.ts'), join(home, '.claude/plans/trap.md'))
    const planned = (session_id: string, slug: string) => ({
      session_id,
      transcript_path: worktree.write(
        `home/.claude/projects/x/${slug}.jsonl`,
        `${JSON.stringify({ sessionId: session_id, slug })}\n`,
      ),
    })
    const [ours, trap] = [planned('s1', 'make-it-so'), planned('s1', 'trap')]
    runHook(worktree.root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' }, { HOME: home })
    const ask = (name: string, permission_mode: string, session: object = ours): string | null =>
      askGate(
        worktree.root,
        'Write',
        { file_path: join(home, '.claude/plans', name) },
        { permission_mode, ...session },
        { HOME: home },
      )
    expect(ask('make-it-so.md', 'plan')).toBeNull()
    expect(ask('make-it-so.md', 'plan', { ...ours, session_id: 's2' })).toMatch(/not allowed/)
    expect(ask('make-it-another.md', 'plan')).toMatch(/not allowed/)
    expect(ask('make-it-so.md', 'default')).toMatch(/not allowed/)
    expect(ask('make-it-so.sh', 'plan')).toMatch(/not allowed/)
    expect(ask('trap.md', 'plan', trap)).toMatch(/not allowed/)
  })
})

describe('an approval', () => {
  const approval = (): string => worktree.at('.claude/review/approval.json')

  it('written by hand opens the gate, and any change of the plan closes it', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    expect(write('src/app.ts')).toBeNull()
    expect(askGate(worktree.root, 'Bash', { command: 'make' })).toBeNull()
    worktree.write('docs/plan.md', '# Plan \n')
    expect(write('src/app.ts')).toMatch(/has changed since it was approved/)
    expect(askGate(worktree.root, 'Bash', { command: 'make' })).toMatch(/has changed/)
  })

  it('that a merge or a switch of branches has brought opens nothing', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    expect(write('src/app.ts')).toBeNull()
    worktree.git('add', '--force', '.claude/review/approval.json')
    expect(write('src/app.ts')).toMatch(/or with a commit/)
    worktree.git('reset', '--quiet')
    expect(write('src/app.ts')).toBeNull()
  })

  it.each<[string, () => void, RegExp]>([
    [
      'for another plan',
      () => writeFileSync(approval(), JSON.stringify({ is_optimal: true, plan_hash: hash })),
      /has changed since/,
    ],
    [
      'that is none',
      () => writeFileSync(approval(), JSON.stringify({ is_optimal: false, plan_hash: hash })),
      /is_optimal: false/,
    ],
    [
      'with is_optimal as a text',
      () => writeFileSync(approval(), JSON.stringify({ is_optimal: 'true', plan_hash: hash })),
      /is_optimal must be boolean/,
    ],
    ['without a hash', () => writeFileSync(approval(), '{"is_optimal":true}'), /plan_hash/],
    ['that is not JSON', () => writeFileSync(approval(), '{"is_optimal":true'), /not JSON/],
    ['that is empty', () => writeFileSync(approval(), ''), /empty/],
    ['that is a folder', () => mkdirSync(approval()), /a directory/],
    [
      'that is a link to a valid one',
      () => {
        worktree.approve()
        renameSync(approval(), worktree.at('real.json'))
        symlinkSync(worktree.at('real.json'), approval())
      },
      /symbolic link/,
    ],
    [
      'in a review folder that is a link',
      () => {
        worktree.approve()
        renameSync(worktree.at('.claude/review'), worktree.at('elsewhere'))
        symlinkSync(worktree.at('elsewhere'), worktree.at('.claude/review'))
      },
      /symbolic link/,
    ],
    ['behind a named pipe', () => void spawnSync('mkfifo', [approval()]), /named pipe/],
    [
      'larger than any approval',
      () => writeFileSync(approval(), `${JSON.stringify({ is_optimal: true, plan_hash: hash })}${' '.repeat(100_000)}`),
      /larger/,
    ],
  ])('%s leaves the gate closed and says why', (_, prepare, why) => {
    worktree.write('docs/plan.md', '# Plan\n')
    prepare()
    expect(write('src/app.ts')).toMatch(why)
  })

  it('never opens the control plane', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    symlinkSync(worktree.at('.claude/settings.local.json'), worktree.at('notes.txt'))
    for (const path of [
      '.claude/settings.json',
      '.claude/settings.local.json',
      '.claude/review/approval.json',
      '.claude/hooks/x.sh',
      'plan-gate.yaml',
      '.git/config',
      '.claude/skills/plan-with-review/SKILL.md',
      'src/../.claude/settings.json',
      'notes.txt',
    ])
      expect(write(path), path).toMatch(/never written by a tool/)
  })
})

describe('the configuration', () => {
  const ask = (tool: string): string | null => askGate(worktree.root, tool, {})
  const docsTools = 'gate:\n  tools:\n    allow: ["mcp__docs__*"]\n'

  it('names MCP tools that only read', () => {
    expect(ask('mcp__docs__search')).toMatch(/not known to be read-only/)
    worktree.configure(docsTools)
    expect(ask('mcp__docs__search')).toBeNull()
    expect(ask('mcp__lab__write')).toMatch(/not known to be read-only/)
    expect(ask('xmcp__docs__search')).toMatch(/not known to be read-only/)
  })

  it.each<[string, () => void]>([
    ['nothing else happens', () => {}],
    ['what was compiled is gone', () => rmSync(worktree.at('.claude/hooks/plan-gate/config.json'))],
    ['what was compiled is garbage', () => worktree.write('.claude/hooks/plan-gate/config.json', '{')],
  ])('does not count yet when its file changes, also if %s', (_, prepare) => {
    worktree.write('plan-gate.yaml', docsTools)
    prepare()
    expect(ask('mcp__docs__search')).toMatch(/not known to be read-only/)
  })

  it('denies with the line that is wrong, approved or not', () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    worktree.configure('gate:\n  scoop: deny\n')
    expect(write('src/app.ts')).toMatch(/plan-gate.yaml:2:3 .*scoop.*gate.scope|plan-gate.yaml:2:3/)
    expect(write('docs/plan.md')).toBeNull()
  })

  it.each<[string, () => void]>([
    ['is a link', () => symlinkSync('/etc/hostname', worktree.at('plan-gate.yaml'))],
    ['is a folder', () => mkdirSync(worktree.at('plan-gate.yaml'))],
    ['is not YAML', () => worktree.write('plan-gate.yaml', '{')],
  ])('that %s closes the gate', (_, prepare) => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    prepare()
    recompileConfig(worktree.root)
    expect(write('src/app.ts')).toMatch(/plan-gate.yaml/)
  })

  it('that was compiled is not trusted when it is garbage', () => {
    writeFileSync(
      worktree.at('.claude/hooks/plan-gate/config.json'),
      '{"version":1,"config":{"gate":{"tools":{"allow":["*"]}}}}',
    )
    expect(askGate(worktree.root, 'mcp__lab__write', {})).toMatch(/not known to be read-only/)
  })
})

describe('whatever goes wrong', () => {
  it.each<[string, object | string]>([
    ['input that is not JSON', 'write it please'],
    ['no input', ''],
    ['half an input', '{"hook_event_name":"PreToolUse","tool_name":"Wr'],
    ['another event', { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input: {} }],
    ['a tool without a name', { hook_event_name: 'PreToolUse', tool_input: {} }],
    ['an input that is a list', { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: [] }],
  ])('refuses %s', (_, event) => {
    expect(runHook(worktree.root, 'pre-tool-use', event)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cannot be checked'),
    })
  })

  it('refuses when nobody says which worktree it is', () => {
    const args = hookArgs(worktree.root, 'pre-tool-use')
    const run = spawnSync(process.execPath, args, { input: event('Write'), env: {}, encoding: 'utf8' })
    expect(run).toMatchObject({ status: 2, stderr: expect.stringContaining('CLAUDE_PROJECT_DIR') })
  })

  it('ends by itself, well before Claude Code’s time-out, when no input comes', async () => {
    const since = performance.now()
    const child = spawn(process.execPath, hookArgs(worktree.root, 'pre-tool-use'), {
      env: { ...process.env, CLAUDE_PROJECT_DIR: worktree.root },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const ended = await new Promise((resolve) => child.once('exit', (...how) => resolve(how)))
    // The entry’s `onFailure` blocks what ends otherwise than with 0.
    expect([ended, performance.now() - since < 9_000]).toEqual([[null, 'SIGKILL'], true])
  }, 20_000)

  it('takes what is larger than a pipe holds, and an endless path', () => {
    const content = 'z'.repeat(10_000_000)
    expect(askGate(worktree.root, 'Write', { file_path: worktree.at('x'), content })).toMatch(/not allowed/)
    for (const path of [`/x/${'y'.repeat(1_000_000)}`, `/${'a/'.repeat(1_000_000)}x`])
      expect(askGate(worktree.root, 'Write', { file_path: path })).toMatch(/cannot be checked/)
  })

  it('refuses when it cannot read anything below .claude', () => {
    rmSync(worktree.at('.claude/hooks/plan-gate/config.json'))
    rmSync(worktree.at('.claude/hooks/plan-gate/reviews.mjs.br'))
    expect(runHook(worktree.root, 'pre-tool-use', event('Write'))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('could not do its work'),
    })
  })

  const event = (tool: string): string =>
    JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: tool, tool_input: { file_path: worktree.at('x') } })
})

it('notes what it refused, for the people who look', () => {
  askGate(worktree.root, 'Write', { file_path: worktree.at('src/app.ts') }, { session_id: 'session-1' })
  expect(readDenials(worktree.root, 'session-1')).toMatchObject([
    { tool: 'Write', target: worktree.at('src/app.ts'), rule: 'write' },
  ])
})

it('leaves nothing behind where it has nothing to say', () => {
  const before = readdirSync(worktree.at('.claude/review'))
  askGate(worktree.root, 'Write', { file_path: worktree.at('docs/plan.md') }, { session_id: 'session-1' })
  askGate(worktree.root, 'Read', { file_path: worktree.at('docs/plan.md') }, { session_id: 'session-1' })
  expect(readdirSync(worktree.at('.claude/review'))).toEqual(before)
})

function link(path: string, to: string): void {
  if (path !== 'docs') mkdirSync(worktree.at('docs'), { recursive: true })
  symlinkSync(to, worktree.at(path))
}

function hardLink(path: string, to: string): void {
  mkdirSync(worktree.at('docs'), { recursive: true })
  linkSync(worktree.at(to), worktree.at(path))
}

it('keeps no secret of a command that it refused', () => {
  const secret = ['hunter2', 'hunter2', 'hunter2'].join('')
  const command = `curl -H 'Authorization: Bearer ${secret}' https://example.com`
  expect(askGate(worktree.root, 'Bash', { command }, { session_id: 'secretive' })).toContain('curl')
  const [denial] = readDenials(worktree.root, 'secretive')
  expect(JSON.stringify(denial)).not.toContain(secret)
  expect(denial).toMatchObject({ tool: 'Bash', target: expect.stringContaining('not kept') })
})
