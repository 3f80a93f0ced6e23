import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { type CliRun, fakePrograms, runCli, startCli } from '../../../support/run-cli.ts'
import { statusOf, temporaryRepo, write } from '../../../support/temporary-repo.ts'

/** Prints its version; otherwise writes how it was started, and which signal ended it, to the file RECORD. */
const claude = `case "$1" in --version) echo '2.1.326 (Claude Code)'; exit ;; esac
exec node "$(dirname "$0")/claude.mjs" "$@"`

const claudeProgram = `
import { writeFileSync } from 'node:fs'
const note = (signal) =>
  writeFileSync(
    process.env.RECORD,
    JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), env: process.env, signal }),
  )
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
  process.on(signal, () => {
    note(signal)
    process.exit(9)
  })
note(null)
console.log('claude is on stdout')
if (process.env.WAIT) {
  console.error('claude waits')
  setTimeout(() => {}, 30_000)
} else process.exitCode = 7
`

type Recorded = { argv: string[]; cwd: string; env: { [name: string]: string }; signal: string | null }

function scene(): { repo: string; worktree: string; run: CliRun & { programs: string }; recorded: () => Recorded } {
  const repo = temporaryRepo('shop', { 'docs/login.md': '# Login\n' })
  const programs = fakePrograms(dirname(repo), { claude })
  write(programs, { 'claude.mjs': claudeProgram })
  const record = join(dirname(repo), 'record.json')
  return {
    repo,
    worktree: `${repo}-login`,
    run: { cwd: repo, programs, env: { RECORD: record }, exitCode: 7 },
    recorded: () => JSON.parse(readFileSync(record, 'utf8')),
  }
}

const launch = ['bootstrap', 'docs/login.md', '--reviewer', 'checklist']

it('passes the prompt first, the hooks by --settings, the worktree as working directory, and returns the exit code', async () => {
  const { worktree, run, recorded } = scene()
  const { stdout, stderr } = await runCli([...launch, '--', '--model', 'opus', '-p', '--name', 'a "b"', '--'], run)
  const { argv, cwd } = recorded()
  expect(cwd).toBe(worktree)
  expect([argv[0], argv[1], ...argv.slice(3)]).toEqual([
    '/plan-with-review docs/login.md',
    '--settings',
    '--setting-sources',
    'user,project',
    '--model',
    'opus',
    '-p',
    '--name',
    'a "b"',
    '--',
  ])
  const file = JSON.parse(readFileSync(join(worktree, '.claude/settings.json'), 'utf8'))
  expect(file.env).toEqual({ CLAUDE_CODE_SHELL_PREFIX: expect.stringMatching(/\/plan-gate\/sandbox\/run$/) })
  expect(JSON.parse(argv[2] ?? '')).toEqual({
    disableAllHooks: false,
    env: { NODE_OPTIONS: '', ...file.env },
    hooks: file.hooks,
    // Rules in --settings are not relative to the worktree.
    statusLine: file.statusLine,
    permissions: {
      deny: file.permissions.deny.map((rule: string) => rule.replace('Edit(/.claude', `Edit(/${worktree}/.claude`)),
    },
  })
  expect(stdout).toBe('claude is on stdout\n')
  const end = `\nplan-gate: there is no plan yet; the gate is closed\n  ${worktree}\nGo on with:\n  plan-gate open ${worktree}\n`
  expect(stderr.slice(-end.length)).toBe(end)
  expect(statusOf(worktree)).toBe('')
})

it('removes the variables of a surrounding session', async () => {
  const { repo, run, recorded } = scene()
  const env = {
    ...run.env,
    CLAUDECODE: '1',
    CLAUDE_PROJECT_DIR: repo,
    CLAUDE_CODE_SESSION_ID: 'outer',
    CLAUDE_CODE_SIMPLE: '1',
    NODE_OPTIONS: '--no-warnings',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  }
  await runCli(launch, { ...run, env })
  const { env: given } = recorded()
  const leaked = Object.keys(given).filter((name) => /^CLAUDE|^NODE_OPTIONS$/.test(name))
  expect({ leaked, kept: given.ANTHROPIC_BASE_URL }).toEqual({ leaked: [], kept: 'http://127.0.0.1:9' })
})

it('removes a GIT_DIR of another repository', async () => {
  const { repo, run, recorded } = scene()
  await runCli(launch, { ...run, env: { ...run.env, GIT_DIR: join(repo, '.git'), GIT_WORK_TREE: repo } })
  expect(Object.keys(recorded().env).filter((name) => /^GIT_(DIR|WORK_TREE)$/.test(name))).toEqual([])
})

const sources = ['--setting-sources', 'user,project']

it('passes flags on without a strategy, and without a --', async () => {
  const { run, recorded } = scene()
  await runCli(['bootstrap', '--reviewer', 'checklist', '--name', 'x', '--', '--model', 'opus'], run)
  expect([recorded().argv[0], ...recorded().argv.slice(3)]).toEqual([
    '/plan-with-review',
    ...sources,
    '--model',
    'opus',
  ])
  await runCli(['bootstrap', '--reviewer', 'checklist', '--name', 'x'], run)
  expect([recorded().argv[0], ...recorded().argv.slice(3)]).toEqual(['/plan-with-review', ...sources])
})

it('launches nothing with --no-launch, with --dry-run or if the gate does not hold', async () => {
  const { repo, run } = scene()
  const options = { ...run, exitCode: 0 }
  await runCli([...launch, '--no-launch'], options)
  await runCli([...launch, '--dry-run'], options)
  write(repo, { 'plan-gate.yaml': 'worktree:\n  setup: [exit 1]\n' })
  await runCli(launch, { ...run, exitCode: 1 })
  expect(existsSync(String(run.env?.RECORD))).toBe(false)
})

it.each([
  { signal: 'SIGTERM', to: 'plan-gate alone' },
  { signal: 'SIGHUP', to: 'plan-gate alone' },
  { signal: 'SIGINT', to: 'the process group' },
] as const)('lets Claude Code end by itself after a $signal to $to', async ({ signal, to }) => {
  const { run, recorded } = scene()
  const child = startCli(launch, { ...run, env: { ...run.env, WAIT: '1' } })
  const ended = new Promise((resolve) => child.once('close', (code, by) => resolve({ code, by })))
  await saying(child.stderr, 'claude waits')
  process.kill(to === 'plan-gate alone' ? Number(child.pid) : -Number(child.pid), signal)
  expect(await ended).toEqual({ code: 9, by: null })
  expect(recorded().signal).toBe(signal)
})

it('returns 128 and the number of the signal that ended Claude Code', async () => {
  const { run } = scene()
  write(run.programs, { 'claude.mjs': 'process.kill(process.pid, "SIGKILL")' })
  await runCli(launch, { ...run, exitCode: 137 })
})

const saying = (stream: NodeJS.ReadableStream, words: string): Promise<void> =>
  new Promise((resolve) => {
    let said = ''
    stream.on('data', (chunk) => {
      said += chunk
      if (said.includes(words)) resolve()
    })
  })
