import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openTerminal } from '../../../src/cli/terminal.ts'
import { appendEvent } from '../../../src/state/ledger.ts'
import { cli } from '../../support/project.ts'
import { runCli } from '../../support/run-cli.ts'
import { runProgram } from '../../support/run-program.ts'
import { cleanEnvironment, git, temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'

type ShellRun = { status: number | null; stdout: string; stderr: string }

/** A shell command in which `plan-gate` is the built one. */
function shell(cwd: string, line: string, env: { [name: string]: string } = {}): ShellRun {
  const run = spawnSync('bash', ['-c', `plan-gate() { "$NODE" "$CLI" "$@"; }\n${line}`], {
    cwd,
    env: { ...cleanEnvironment(), ...env, NODE: process.execPath, CLI: cli },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status: run.status, stdout: run.stdout, stderr: run.stderr }
}

/** More lines than a pipe holds. */
async function repoWithHistory(): Promise<string> {
  const repo = temporaryRepo()
  await runCli(['install', '--reviewer', 'checklist'], { cwd: repo })
  const paths = Array.from({ length: 900 }, (_, index) => `src/some/long/path/to/a/file-${index}.ts`)
  for (let index = 0; index < 30; index += 1) await appendEvent(repo, { type: 'drift-found', paths })
  return repo
}

describe('a reader that goes away', () => {
  it.each(['log --json', 'log', 'log -n 20 --json'])('plan-gate %s | head -1 ends quietly', async (command) => {
    const { status, stdout, stderr } = shell(await repoWithHistory(), `set -o pipefail; plan-gate ${command} | head -1`)
    expect([status, stdout.split('\n').length, stderr]).toEqual([0, 2, ''])
  })

  it('does not change the exit code', () => {
    const { status, stderr } = shell(temporaryRepo(), 'set -o pipefail; plan-gate verify | true')
    expect([status, stderr]).toEqual([1, ''])
  })

  it('ends a command that reads until its input ends', () => {
    const line = `yes '{"command":"ls"}' | plan-gate explain --stdin | head -1`
    const { status, stdout, stderr } = shell(temporaryRepo(), line)
    expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('"allow"'), ''])
  })

  it('does not interrupt an install', () => {
    const repo = temporaryRepo()
    const { stderr } = shell(repo, 'plan-gate install --reviewer checklist --json | head -1')
    expect([stderr, existsSync(join(repo, '.git/plan-gate/install.json'))]).toEqual(['', true])
    const record = JSON.parse(readFileSync(join(repo, '.git/plan-gate/install.json'), 'utf8')) as { complete: boolean }
    expect([record.complete, git(repo, 'status', '--porcelain')]).toEqual([true, ''])
  })

  it.each(['>&-', '2>&-', '>&- 2>&-', '<&-', '< /dev/null'])('status works with %s', (closed) => {
    expect(shell(temporaryRepo(), `plan-gate status ${closed}`)).toMatchObject({ status: 0, stderr: '' })
  })

  it.skipIf(!existsSync('/dev/full'))('a full disk is told, and is a failure', () => {
    const { status, stderr } = shell(temporaryRepo(), 'plan-gate status > /dev/full')
    expect([status, stderr]).toEqual([1, 'plan-gate: the result could not be written to standard output (ENOSPC).\n'])
  })
})

describe('an uncaught exception', () => {
  it.each(["throw new Error('boom')", "void Promise.reject(new Error('boom'))"])(
    'is told like any other: %s',
    async (wrong) => {
      const preload = join(temporaryFolder(), 'preload.mjs')
      const isUp = "process.listenerCount('uncaughtException') > 0"
      writeFileSync(preload, `const clock = setInterval(() => { if (${isUp}) { clearInterval(clock); ${wrong} } }, 1)`)
      const { exitCode, stdout, stderr } = await runProgram(process.execPath, [cli, 'explain', '--stdin', '--json'], {
        cwd: temporaryRepo(),
        env: { ...cleanEnvironment(), NODE_OPTIONS: `--import ${preload}` },
        timeoutMs: 20_000,
        // It would wait for commands.
        converse: () => {},
      })
      const next_step = 'This is a bug. Run it again with PLAN_GATE_DEBUG=1 and report what it prints.'
      expect([exitCode, stderr]).toEqual([1, `plan-gate: boom\n  → ${next_step}\n`])
      expect(JSON.parse(stdout)).toEqual({ event: 'error', message: 'boom', next_step, exit_code: 1 })
    },
  )
})

describe('colour', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
    for (const stream of streams) Object.defineProperty(stream, 'isTTY', { value: undefined, configurable: true })
  })
  const streams = [process.stdout, process.stderr]

  it.each<
    [
      string,
      { out: boolean; err: boolean; json?: boolean; env?: { [name: string]: string } },
      [out: boolean, err: boolean],
    ]
  >([
    ['on a terminal', { out: true, err: true }, [true, true]],
    ['not where the results go into a pipe', { out: false, err: true }, [false, true]],
    ['not where the notes go into a file', { out: true, err: false }, [true, false]],
    ['not with NO_COLOR', { out: true, err: true, env: { NO_COLOR: '1' } }, [false, false]],
    ['with a NO_COLOR that is empty', { out: true, err: true, env: { NO_COLOR: '' } }, [true, true]],
    ['not on a terminal that has none', { out: true, err: true, env: { TERM: 'dumb' } }, [false, false]],
    ['not with --json', { out: true, err: true, json: true }, [false, false]],
  ])('%s', (_, { out, err, json = false, env = {} }, expected) => {
    vi.stubEnv('NO_COLOR', undefined)
    vi.stubEnv('TERM', 'xterm')
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    for (const [index, isTTY] of [out, err].entries())
      Object.defineProperty(streams[index], 'isTTY', { value: isTTY, configurable: true })
    const { paint, paintOut } = openTerminal(json)
    expect([paintOut('red', 'x') !== 'x', paint('red', 'x') !== 'x']).toEqual(expected)
  })
})
