import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { takePlanted } from '../../../src/gate/sandbox/approved.ts'
import { hooksDir } from '../../../src/state/own-paths.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { runHook } from '../../support/run-hook.ts'

/**
 * Promise: whatever stands in the place of a file of ours while a session runs, a pipe that nobody writes to, a socket, a
 * folder, a link to a device or out of the worktree, no hook waits for it, reads without end or writes through it, and
 * the gate stays closed. Links in the store are in test/store/planted-links.test.ts.
 */
const kinds = [
  { kind: 'a pipe', make: 'mkfifo "$1"' },
  { kind: 'a folder', make: 'mkdir "$1" && touch "$1/x"' },
  { kind: 'a link to an endless device', make: 'ln -s /dev/zero "$1"' },
  { kind: 'a link out of the worktree', make: 'ln -s "$2" "$1"' },
  { kind: 'a link to itself', make: 'ln -s "$1" "$1"' },
  {
    kind: 'a socket',
    make: `node -e 'require("net").createServer().listen(process.argv[1],()=>process.kill(process.pid,"SIGKILL"))' "$1"; true`,
  },
] as const

const paths = [
  'docs/plan.md',
  'plan-gate.yaml',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/review/approval.json',
  '.claude/review/events.jsonl',
  '.claude/review/handled.json',
  '.claude/review/sessions/s',
  `${hooksDir}/config.json`,
  `${hooksDir}/reviews.mjs.br`,
  '.claude/skills/plan-with-review/SKILL.md',
  '.git/plan-gate/tree.json',
  '.git/plan-gate/seen-own-files',
  '.git/hooks/post-index-change',
  '.git/info/exclude',
]

describe.each(kinds)('$kind', ({ make }) => {
  let worktree: GatedWorktree
  let outside: string
  beforeAll(async () => {
    worktree = await gatedWorktree()
    outside = join(dirname(worktree.root), `outside-of-${worktree.root.split('/').at(-1)}`)
    writeFileSync(outside, '{"is_optimal":true}')
    fire('session-start', { hook_event_name: 'SessionStart', source: 'startup' })
  })
  afterAll(() => {
    worktree.remove()
    rmSync(outside, { force: true })
  })
  const fire = (name: string, event: object) =>
    runHook(worktree.root, name, { session_id: 's', cwd: worktree.root, ...event })

  it.each(paths)('in the place of %s', (path) => {
    const kept = existsSync(worktree.at(path)) ? execFileSync('tar', ['-cf', '-', path], { cwd: worktree.root }) : null
    rmSync(worktree.at(path), { recursive: true, force: true })
    mkdirSync(dirname(worktree.at(path)), { recursive: true })
    execFileSync('/bin/sh', ['-c', make, 'sh', worktree.at(path), outside], { stdio: 'ignore' })

    try {
      expectClosed()
      const event = {
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'x' },
        tool_response: {},
      }
      // Silence or an alarm; never a hook that hangs, dies or lets the session go on as approved.
      endsWell(() => fire('post-tool-use', event))
      endsWell(() => fire('stop', { hook_event_name: 'Stop' }))
      expectClosed()
      expect(readFileSync(outside, 'utf8')).toBe('{"is_optimal":true}')
    } finally {
      rmSync(worktree.at(path), { recursive: true, force: true })
      if (kept !== null) execFileSync('tar', ['-xf', '-'], { cwd: worktree.root, input: kept })
    }
  })

  /** By a denial, or by a hook that refuses because it could not do its work. */
  function expectClosed(): void {
    for (const [tool_name, tool_input] of [
      ['Write', { file_path: worktree.at('src/a.ts') }],
      ['Bash', { command: 'rm -rf src' }],
    ] as const) {
      const { exitCode, stderr } = fire('pre-tool-use', { hook_event_name: 'PreToolUse', tool_name, tool_input })
      expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^plan-gate: /)])
    }
  }

  /** It may say that it could not do its work, with the exit code that Claude Code shows to the user. */
  function endsWell(run: () => unknown): void {
    try {
      run()
    } catch (error) {
      expect(String(error)).toMatch(/ended with 1: plan-gate: /)
    }
  }
})

it('what a command under an approval has planted is taken away whatever it is, and the rest with it', async () => {
  const worktree = await gatedWorktree()
  onTestFinished(worktree.remove)
  const { own } = worktree.gitDirs
  const planted = kinds.map(({ kind, make }) => {
    const path = worktree.at(`.${kind.replaceAll(' ', '-')}`)
    execFileSync('sh', ['-c', make, '-', path, worktree.root])
    return path
  })
  const last = worktree.write('.git/commondir', 'elsewhere\n')
  mkdirSync(join(own, 'plan-gate/sandbox'), { recursive: true })
  writeFileSync(join(own, 'plan-gate/sandbox/had-approval'), '')
  writeFileSync(join(own, 'plan-gate/sandbox/absent'), [...planted, worktree.at('none'), last].join('\n'))
  expect(takePlanted(own)).toEqual([...planted, last])
  expect(planted.filter((path) => lstatSync(path, { throwIfNoEntry: false }))).toEqual([])
  expect([existsSync(last), takePlanted(own)]).toEqual([false, []])
})
