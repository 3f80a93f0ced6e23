import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clearedVariables } from '../../../src/system/environment.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { snapshot, write } from '../../support/temporary-repo.ts'

/** Promise: what the environment of a session says to node and its libraries has no effect on a hook. */
let worktree: GatedWorktree
let command: readonly [program: string, ...args: string[]]
beforeAll(async () => {
  worktree = await gatedWorktree({ 'README.md': 'x\n' })
  const hook = worktree.installed.entries.PreToolUse?.[0]?.hooks[0]
  if (hook?.args === undefined) throw new Error('no entry of the gate')
  command = [hook.command, ...hook.args.map((arg) => arg.replace('${CLAUDE_PROJECT_DIR}', worktree.root))]
  write(worktree.root, {
    'evil/required.cjs': "require('fs').writeFileSync('evil/ran', '')",
    // Node would end with an error that names it.
    'evil/openssl.cnf': 'nodejs_conf = x\n[x]\nproviders = y\n[y]\nz = w\n[w]\nmodule = /nowhere.so\nactivate = 1\n',
  })
})
afterAll(() => worktree.remove())

/** Until a process uses no more processor time: on a busy machine its start takes longer than any fixed wait. */
async function isWaiting(pid: number | undefined): Promise<void> {
  const used = (): string => {
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ''
    return stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).join()
  }
  for (let [before, tries] = ['', 0]; tries < 12 && (before !== used() || used() === '0,0'); tries += 1) {
    before = used()
    await sleep(300)
  }
}

/** The end of the hook, and what it left. It gets its input late, as it does from a busy client. */
async function run([program, ...args]: typeof command, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(program, args, {
    cwd: worktree.root,
    env: { PATH: process.env.PATH, HOME: worktree.at('.git'), CLAUDE_PROJECT_DIR: worktree.root, ...env },
  })
  const ended = Promise.all([
    new Promise((resolve) => child.on('close', resolve)),
    text(child.stdout),
    text(child.stderr),
  ])
  await isWaiting(child.pid)
  child.stdin.on('error', () => {}).end(JSON.stringify(event()))
  const [exitCode, stdout, stderr] = await ended
  return { exitCode, stdout, stderr, left: Object.keys(snapshot(worktree.root, ['.git', '.claude'])) }
}

const event = () => ({
  hook_event_name: 'PreToolUse',
  permission_mode: 'default',
  cwd: worktree.root,
  session_id: 's',
  tool_name: 'Write',
  tool_input: { file_path: worktree.at('a.ts'), content: 'x' },
})

describe('a hook', () => {
  const isNew = Number(process.versions.node.split('.')[0]) >= 22
  it.each([
    { NODE_OPTIONS: '--require ./evil/required.cjs' },
    { OPENSSL_CONF: 'evil/openssl.cnf' },
    { NODE_CHANNEL_FD: '0' },
    { NODE_DEBUG: 'fs,module' },
    { NODE_V8_COVERAGE: 'evil/coverage' },
    ...(isNew ? [{ NODE_COMPILE_CACHE: 'evil/compiled' }] : []),
  ])('answers as ever with %j', async (env) => {
    const asEver = await run(command)
    expect(asEver).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('"deny"') })
    expect(await run(command, env)).toEqual(asEver)
    // Without the clearing, node obeys it.
    const bare = command.slice(command.indexOf(process.execPath)) as unknown as typeof command
    expect(await run(bare, env)).not.toEqual(asEver)
  })

  it.runIf(spawnSync('strace', ['-V']).status === 0)('opens no file that a cleared variable names', () => {
    const env = Object.fromEntries(clearedVariables().map((name) => [name, `:/named-by-${name}`]))
    const { stderr } = spawnSync('strace', ['-f', '-e', 'trace=%file', ...command], {
      cwd: worktree.root,
      env: { PATH: process.env.PATH, HOME: worktree.at('.git'), CLAUDE_PROJECT_DIR: worktree.root, ...env },
      input: JSON.stringify(event()),
      encoding: 'utf8',
    })
    expect(stderr).toContain(`execve("${process.execPath}"`)
    expect(stderr.split('\n').filter((line) => line.includes('named-by-'))).toEqual([])
  })
})
