import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeApproved } from '../../../src/gate/sandbox/approved.ts'
import { proveSandbox } from '../../../src/gate/sandbox/canary.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { type SandboxedWorktree, sandboxedWorktree } from '../../support/sandboxed-worktree.ts'

let worktree: SandboxedWorktree
beforeEach(async () => {
  worktree = await sandboxedWorktree()
})
afterEach(() => worktree.remove())

const folder = (): string => join(worktree.gitDir, 'plan-gate/sandbox')
const at = (name: string): string => join(folder(), name)
const ran = (): boolean => existsSync(join(worktree.root, 'ran.txt'))

/** With a prefix in the environment, this is how Claude Code starts everything. */
const startRaw = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(at('run'), args, { cwd: worktree.root, env: { ...worktree.env, ...env }, encoding: 'utf8' })

describe('nothing runs', () => {
  const damage: [string, () => void][] = [
    ['without the engine', () => rmSync(at('bwrap'))],
    ['with an engine that cannot be started', () => chmodSync(at('bwrap'), 0o644)],
    ['without the argument file', () => rmSync(at('read-only.args'))],
    ['with an empty argument file', () => truncateSync(at('read-only.args'), 0)],
    ['without the filter', () => rmSync(at('read-only.bpf'))],
    ['with an empty filter', () => truncateSync(at('read-only.bpf'), 0)],
    ['without the mode', () => rmSync(at('mode'))],
    ['with an unknown mode', () => writeFileSync(at('mode'), 'open\n')],
    ['with an empty record of the approval', () => writeFileSync(at('approved'), '')],
  ]
  it.each(damage)('%s', async (_name, breakIt) => {
    breakIt()
    const { code, output } = await worktree.run('touch ran.txt; echo ran')
    expect([code === 0, output.includes('ran\n'), ran()]).toEqual([false, false, false])
  })

  it('with an argument file that is cut anywhere', { timeout: 120_000 }, async () => {
    const whole = readFileSync(at('read-only.args'))
    for (let size = 1; size < whole.length; size += 37) {
      writeFileSync(at('read-only.args'), whole.subarray(0, size))
      const { code, output } = await worktree.run('touch ran.txt; echo ran')
      expect([size, code === 0, output.includes('ran\n'), ran()]).toEqual([size, false, false, false])
    }
    writeFileSync(at('read-only.args'), whole)
    expect(await worktree.run('echo ran')).toMatchObject({ code: 0, output: 'ran\n' })
  })

  it('without the wrapper', async () => {
    renameSync(at('run'), at('gone'))
    expect(await worktree.run('touch ran.txt')).toMatchObject({ code: null })
    expect(ran()).toBe(false)
  })

  const eval_ = (command: string, end: string): string =>
    `source /x/snapshot-bash-1.sh 2>/dev/null || true && eval '${command}' < /dev/null${end}`
  it.each<[string, string[]]>([
    ['no argument', []],
    ['two arguments', ['touch ran.txt', 'x']],
    ['a bare command', ['touch ran.txt']],
    ['another tail', [eval_('touch ran.txt', ' && pwd > /tmp/claude-0001-cwd')]],
    ['no tail', [eval_('touch ran.txt', '')]],
    ['a tail that names another file', [eval_('touch ran.txt', ' && pwd -P >| /tmp/ran.txt')]],
    ['a tail that names a file elsewhere', [eval_('touch ran.txt', ' && pwd -P >| /etc/claude-0001-cwd')]],
    ['more behind the tail', [eval_('true', ' && pwd -P >| /tmp/claude-0001-cwd; touch ran.txt')]],
    ['an unknown shell', [`eval 'touch ran.txt' && pwd -P >| /tmp/claude-0001-cwd`]],
  ])('of what a client starts in another form: %s', (_name, args) => {
    const { status } = startRaw(args, { SHELL: '/usr/bin/fish' })
    expect([status === 0, ran()]).toEqual([false, false])
    // Even where the client says that it is a hook, what looks like a command is none.
    if (args[0]?.includes('eval'))
      expect(startRaw(args, { CLAUDE_PROJECT_DIR: worktree.root, SHELL: '/x/fish' }).status).not.toBe(0)
    expect(ran()).toBe(false)
  })

  it('but what the list has let through runs where there is no sandbox, in whatever form it comes', () => {
    writeFileSync(at('mode'), 'list\nno engine\n')
    const starts: [string, NodeJS.ProcessEnv][] = [
      [eval_('echo a >> ran.txt', ' && pwd -P >| /tmp/claude-0001-cwd'), {}],
      [eval_('echo a >> ran.txt', ' && pwd'), {}],
      [`eval 'echo a >> ran.txt' && pwd -P >| /tmp/claude-0001-cwd`, { SHELL: '/bin/sh' }],
      ['echo a >> ran.txt', {}],
    ]
    for (const [line, env] of starts) expect([line, startRaw([line], env).status]).toEqual([line, 0])
    expect(readFileSync(join(worktree.root, 'ran.txt'), 'utf8')).toBe('a\n'.repeat(starts.length))
    rmSync('/tmp/claude-0001-cwd', { force: true })
  })

  it('where the file for the folder is a link', async () => {
    const target = join(worktree.home, 'victim')
    writeFileSync(target, 'kept')
    const link = join(worktree.base, 'tmp/claude-0001-cwd')
    symlinkSync(target, link)
    expect(await worktree.run('true')).toMatchObject({ code: 126 })
    expect(readFileSync(target, 'utf8')).toBe('kept')
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
  })

  it('in the sandbox of Claude Code itself: the first command is refused, then the list decides', async () => {
    const env = { SANDBOX_RUNTIME: '1' }
    expect(await worktree.run('echo ran', { env })).toMatchObject({ code: 126 })
    expect(existsSync(at('started/test-session.nested'))).toBe(true)
    expect(await worktree.run('echo ran', { env })).toMatchObject({ code: 0, output: 'ran\n' })
    expect(await worktree.run('touch ran.txt')).toMatchObject({ code: 1 })
  })
})

describe('a hook', () => {
  it('of somebody else runs as it is', () => {
    expect(startRaw(['touch ran.txt; echo $0'], { CLAUDE_PROJECT_DIR: worktree.root })).toMatchObject({ status: 0 })
    expect(ran()).toBe(true)
    expect(existsSync(at('started/test-session.hook'))).toBe(true)
  })
})

describe('the canary', () => {
  beforeEach(async () => {
    worktree.remove()
    worktree = await sandboxedWorktree({}, {})
  })

  /** An engine that leaves out part of what it is told. */
  const engines: [name: string, change: string, finds: RegExp][] = [
    ['isolates nothing', 'pass = true', /./],
    [
      'mounts everything writable',
      `words = words.map((word) => (word === '--ro-bind' ? '--bind' : word))`,
      /wrote|changed/,
    ],
    ['shares the network', `words = words.filter((word) => word !== '--unshare-net')`, /network|socket/],
    ['shares the processes', `words = words.filter((word) => word !== '--unshare-pid')`, /ended|outlived|started/],
    [
      'ignores the filter',
      `words = words.flatMap((word, i) => word === '--seccomp' || words[i - 1] === '--seccomp' ? [] : [word])`,
      /socket/,
    ],
    ['cannot be started', 'process.exit(1)', /started|work/],
    ['hangs', 'await new Promise((resolve) => setTimeout(resolve, 60_000))', /started|work/],
  ]
  it.each(engines)('finds an engine that %s', { timeout: 60_000 }, async (_name, change, finds) => {
    renameSync(at('bwrap'), at('real'))
    const text = `#!${process.execPath}
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
let pass = false
let words = process.argv.slice(2)
const given = words.indexOf('--args')
words.splice(given, 2, ...readFileSync(Number(words[given + 1]), 'utf8').split('\\0').slice(0, -1))
${change}
const command = words.slice(words.indexOf('--') + 1)
const ran = pass
  ? spawnSync(command[0], command.slice(1), { stdio: 'inherit', env: { ...process.env, PLAN_GATE_ARGS: 'whole' } })
  : spawnSync('${at('real')}', words, { stdio: ['inherit', 'inherit', 'inherit', 3, 4] })
process.exit(ran.status ?? 1)
`
    writeFileSync(at('bwrap.mjs'), text)
    writeFileSync(at('bwrap'), `#!/bin/sh\nexec ${process.execPath} ${at('bwrap.mjs')} "$@"\n`)
    chmodSync(at('bwrap'), 0o755)
    const gitDirs = readGitDirs(worktree.root)
    if (gitDirs === null) throw new Error('no git directory')
    const proof = await proveSandbox(worktree.root, gitDirs, { approved: 'protect' })
    expect(proof).toEqual({ kind: 'fails', why: expect.stringMatching(finds) })
  })

  it('finds that this one holds', async () => {
    const gitDirs = readGitDirs(worktree.root)
    if (gitDirs === null) throw new Error('no git directory')
    expect(await proveSandbox(worktree.root, gitDirs, { approved: 'protect' })).toEqual({
      kind: 'holds',
      rehearsal: true,
      ms: expect.any(Number),
    })
  })
})

describe('twenty calls at once', () => {
  it('write nothing once the approval has ended in their middle', { timeout: 60_000 }, async () => {
    worktree.approve()
    const inMiddle = (name: string, delay: (i: number) => string) =>
      Array.from({ length: 20 }, (_, i) => worktree.run(`sleep ${delay(i)}; touch ${name}-${i}.txt`))
    const begun = inMiddle('begun', (i) => (i * 0.03).toFixed(2))
    await new Promise((resolve) => setTimeout(resolve, 300))
    rmSync(join(worktree.root, '.claude/review/approval.json'))
    closeApproved(worktree.gitDir)
    const written = readdirSync(worktree.root)
    const later = inMiddle('later', () => '0')
    const codes = (await Promise.all([...begun, ...later])).map(({ code }) => code)
    expect(readdirSync(worktree.root)).toEqual(written)
    // Some had written before, some were ended, and all of the later ones were refused.
    expect(written.filter((name) => name.startsWith('begun')).length).toBeGreaterThan(0)
    expect(codes.slice(0, 20).filter((code) => code !== 0).length).toBeGreaterThan(0)
    expect(codes.slice(20)).toEqual(Array.from({ length: 20 }, () => 1))
  })
})
