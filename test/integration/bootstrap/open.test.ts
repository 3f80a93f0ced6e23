import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readInstructions } from '../../../bootstrap/launch.ts'
import { noteCall } from '../../../src/gate/call-notes.ts'
import { readTrust, trustItems, untrustItems } from '../../../src/install/trust.ts'
import { launchesDir } from '../../../src/state/own-paths.ts'
import { readLaunch, recordLaunch, recordSession } from '../../../src/state/sessions.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { project } from '../../support/project.ts'
import { type CliRun, fakePrograms, runCli } from '../../support/run-cli.ts'
import { runProgram } from '../../support/run-program.ts'
import { cleanEnvironment, git, temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'

/** Prints its version; otherwise writes how it was started to the file RECORD. */
const claude = `case "$1" in --version) echo '2.1.326 (Claude Code)'; exit ;; esac
exec node "$(dirname "$0")/claude.mjs" "$@"`
const recorder = `
import { writeFileSync } from 'node:fs'
const { PLAN_GATE_LAUNCH: nonce } = process.env
writeFileSync(process.env.RECORD, JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), nonce }))
`

type Recorded = { argv: string[]; cwd: string; nonce: string }

async function scene(files: { [path: string]: string } = {}, names = ['login']) {
  const repo = temporaryRepo('shop', { 'src/a.ts': '', 'docs/login.md': '# Login\n', ...files })
  const programs = fakePrograms(dirname(repo), { claude })
  write(programs, { 'claude.mjs': recorder })
  const record = join(dirname(repo), 'record.json')
  const run: CliRun & { programs: string } = { cwd: repo, programs, env: { RECORD: record } }
  for (const name of names)
    await runCli(['bootstrap', 'docs/login.md', '--name', name, '--no-launch', '--reviewer', 'checklist'], run)
  const recorded = (): Recorded => JSON.parse(readFileSync(record, 'utf8')) as Recorded
  return { repo, worktree: `${repo}-login`, run, recorded }
}

describe('open', () => {
  it.each([
    { args: ['open'], from: 'shop-login/src' },
    { args: ['open'], from: 'shop' },
    { args: ['open', 'login'], from: 'shop' },
    { args: ['open', 'plan/login'], from: 'shop' },
    { args: ['open', '../shop-login'], from: 'shop' },
  ])('$args in $from starts Claude Code in the worktree, as bootstrap does', async ({ args, from }) => {
    const { worktree, run, recorded } = await scene()
    await runCli(args, { ...run, cwd: join(dirname(worktree), from) })
    const { argv, cwd, nonce } = recorded()
    expect([cwd, argv[0], argv[1], argv.slice(3)]).toEqual([
      worktree,
      '/plan-with-review docs/login.md',
      '--settings',
      ['--setting-sources', 'user,project'],
    ])
    expect(nonce).toMatch(/^[0-9a-f]{32}$/)
  })

  it.each([
    ['an open plan', false, ['open', 'login'], '/plan-with-review docs/login.md'],
    ['an approved plan', true, ['open', 'login'], '/implement-approved-plan'],
    ['an approved plan, with bootstrap', true, ['bootstrap', '--name', 'login'], '/implement-approved-plan'],
    [
      'an approved plan, with the document',
      true,
      ['bootstrap', 'docs/login.md', '--name', 'login'],
      '/implement-approved-plan',
    ],
    [
      'an open plan, with the document',
      false,
      ['bootstrap', 'docs/login.md', '--name', 'login'],
      '/plan-with-review docs/login.md',
    ],
  ])('goes on with %s where it stands', async (_, isApproved, args, prompt) => {
    const { worktree, run, recorded } = await scene()
    write(worktree, { 'docs/plan.md': '# Plan\n' })
    if (isApproved) await runCli(['approve', '--force', '--reason', 'a test'], { ...run, cwd: worktree })
    await runCli(args[0] === 'open' ? args : [...args, '--reviewer', 'checklist'], run)
    expect(recorded().argv[0]).toBe(prompt)
    await runCli(['open', 'login', '--', '--resume', 'abc'], run)
    expect(recorded().argv[0]).toBe('--settings')
  })

  it.each([
    ['SEGV', 139],
    ['TERM', 143],
    ['KILL', 137],
  ])('prints how to go on after Claude Code was ended by SIG%s', async (signal, exitCode) => {
    const { worktree, run } = await scene()
    const version = `[ "$1" = --version ] && { echo '2.1.326 (Claude Code)'; exit; }`
    const programs = fakePrograms(dirname(worktree), { claude: `${version}\nkill -${signal} $$` })
    const { stderr } = await runCli(['open', 'login'], { ...run, programs, exitCode })
    expect(stderr).toMatch(new RegExp(`Go on with:\n  plan-gate open ${worktree}\n$`))
  })

  it('passes flags on, and goes on with a session without a prompt', async () => {
    const { worktree, run, recorded } = await scene()
    const session = { session_id: 's-1', client_version: null, source: 'startup', cwd: worktree, launched: true }
    recordSession(worktree, session, new Date())
    await runCli(['open', 'login', '--', '--continue'], run)
    expect([recorded().argv[0], recorded().argv.at(-1)]).toEqual(['--settings', '--continue'])
  })

  it('loads nothing of the repository where it brings something, but the text of its CLAUDE.md', async () => {
    const hook = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'x' }] }] } }
    const { worktree, run, recorded } = await scene({
      '.claude/settings.json': JSON.stringify(hook),
      'CLAUDE.md': 'Be kind.\n',
    })
    await runCli(['open', 'login'], run)
    const own = readGitDirs(worktree)?.own ?? ''
    const { argv } = recorded()
    expect([argv[0], ...argv.slice(3)]).toEqual([
      '/plan-gate:plan-with-review docs/login.md',
      ...['--setting-sources', 'user', '--strict-mcp-config'],
      ...['--plugin-dir', join(own, 'plan-gate/plugin')],
      ...['--append-system-prompt-file', join(own, 'plan-gate/instructions.md')],
    ])
    expect(readFileSync(join(own, 'plan-gate/instructions.md'), 'utf8')).toMatch(/Be kind\./)
    expect(readdirSync(join(own, 'plan-gate/plugin/skills')).sort()).toEqual(
      readdirSync(join(project, 'skills')).sort(),
    )
    const started = join(own, 'plan-gate/plugin/.claude-plugin/cli.mjs')
    const { stdout } = await runProgram(process.execPath, [started, 'status'], {
      cwd: worktree,
      env: cleanEnvironment(),
      timeoutMs: 30_000,
    })
    expect(stdout).toMatch(/^plan {6}there is no plan yet; the gate is closed$/m)
    await runCli(['open', 'login', '--trust'], run)
    expect(recorded().argv.slice(3)).toEqual(['--setting-sources', 'user,project'])
  })

  it('runs no hook that came into the settings since, even if it looks like one of the gate; nor does doctor', async () => {
    const { worktree, run } = await scene()
    const file = join(worktree, '.claude/settings.json')
    const settings = JSON.parse(readFileSync(file, 'utf8')) as { hooks: { PreToolUse: object[] } }
    const command = `touch '${worktree}/ran'; exit 2 # /.claude/hooks/plan-gate/`
    settings.hooks.PreToolUse.unshift({ hooks: [{ type: 'command', command: 'sh', args: ['-c', command] }] })
    write(worktree, { '.claude/settings.json': JSON.stringify(settings) })
    await runCli(['open', 'login'], run)
    const { stdout } = await runCli(['doctor'], { ...run, cwd: worktree, exitCode: 1 })
    expect([existsSync(join(worktree, 'ran')), stdout]).toEqual([false, ''])
  })

  it('lists several worktrees with where their plans stand, and asks for a name', async () => {
    const { repo, run } = await scene({}, ['login', 'logout'])
    write(`${repo}-logout`, { 'docs/plan.md': '# Plan\n' })
    await runCli(['approve', '--force', '--reason', 'x'], { ...run, cwd: `${repo}-logout` })
    recordSession(`${repo}-logout`, { session_id: 's', client_version: null, source: 'startup', cwd: repo }, new Date())
    const list = await runCli(['open', '--list'], run)
    expect(list.stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, '<time>').split('\n')).toEqual([
      `worktree  ${repo}-logout on plan/logout`,
      '          The plan is approved: tell Claude to carry it out. Last used <time>.',
      '          plan-gate open logout',
      `worktree  ${repo}-login on plan/login`,
      '          There is no plan yet: tell Claude what you want, and it writes docs/plan.md.',
      '          plan-gate open login',
      '',
    ])
    const several = await runCli(['open'], { ...run, exitCode: 2 })
    expect(several.stdout).toBe(list.stdout)
    expect(several.stderr).toContain('Name one: plan-gate open <name>.')
    const json = (await runCli(['open', '--list', '--json'], run)).stdout.trim().split('\n')
    expect(json.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'worktree', root: `${repo}-logout`, next_step: { state: 'approved' }, open: 'plan-gate open logout' },
      { event: 'worktree', root: `${repo}-login`, next_step: { state: 'no-plan' }, last_used: null },
    ])
    const none = await runCli(['open', 'signup'], { ...run, exitCode: 2 })
    expect(none.stderr).toContain('No worktree with a gate is called "signup"')
  })

  it.each([
    '--bare',
    '--safe-mode',
    '--settings=x.json',
    '--settings',
    '--setting-sources',
    '--plugin-dir',
    '--plugin-url=https://example.com/x.zip',
    '--worktree',
    '-w',
    '-cw',
    '--tmux',
    '--bg',
    '--cloud',
    '--managed-settings={}',
    '--plugin-dir-no-mcp',
    '--agents',
    '--a-flag-of-tomorrow',
    '-x',
    '-cx',
  ])('refuses %s, which would undo it, before anything is started or made', async (flag) => {
    const repo = temporaryRepo()
    for (const command of ['open', 'bootstrap'])
      expect((await runCli([command, '--', flag], { cwd: repo, exitCode: 2 })).stderr).toContain(
        `plan-gate: ${flag.split('=')[0]} cannot be used with plan-gate: `,
      )
    expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
  })
})

it('lets flags that Claude Code is known to have through, and texts', async () => {
  const { run, recorded } = await scene()
  const flags = [
    '-cp',
    '-rabc',
    '--model=opus',
    '--allowedTools',
    'Bash(git *)',
    '--append-system-prompt',
    '- be kind',
    '-n',
    'x y',
  ]
  await runCli(['open', 'login', '--', ...flags], run)
  expect(recorded().argv.slice(-flags.length)).toEqual(flags)
})

describe('a launch', () => {
  it('is known by its nonce to the Claude Code that used it first, and to no other', () => {
    const gitDir = temporaryFolder()
    const nonce = recordLaunch(gitDir, false)
    const by = (pid: string, given = nonce) => readLaunch(gitDir, { PLAN_GATE_LAUNCH: given, CLAUDE_PID: pid })
    expect([by('10')?.loads_repository, by('10')?.loads_repository, by('11'), by('10', 'f'.repeat(32))]).toEqual([
      false,
      false,
      null,
      null,
    ])
  })

  it('ends with what it has started: nothing is left that a later session could name', async () => {
    const { run, worktree } = await scene()
    await runCli(['open', 'login'], run)
    const gitDirs = readGitDirs(worktree)
    expect(readdirSync(join(gitDirs?.own ?? '', launchesDir))).toEqual([])
  })
})

describe('trust', () => {
  it('counts for every worktree of the repository, and ends with any changed byte', async () => {
    const env = (value: string) => ({ '.claude/settings.json': JSON.stringify({ env: { TEAM: value } }) })
    const { worktree, repo } = await scene(env('blue'), ['login', 'logout'])
    const trust = async (root: string) => {
      const gitDirs = readGitDirs(root)
      if (gitDirs === null) throw new Error('no git directory')
      return { gitDirs, ...(await readTrust(root, gitDirs)) }
    }
    const first = await trust(worktree)
    expect([first.loadsRepository, first.items.map(({ id, state }) => `${id} ${state}`)]).toEqual([
      false,
      ['env:TEAM new'],
    ])
    trustItems(first.gitDirs, first.items)
    expect([(await trust(worktree)).loadsRepository, (await trust(`${repo}-logout`)).loadsRepository]).toEqual([
      true,
      true,
    ])
    write(`${repo}-logout`, env('red'))
    const changed = await trust(`${repo}-logout`)
    expect([changed.loadsRepository, changed.items[0]?.state]).toEqual([false, 'changed'])
    // Another commit elsewhere takes nothing away here.
    trustItems(changed.gitDirs, changed.items)
    expect([(await trust(worktree)).loadsRepository, (await trust(`${repo}-logout`)).loadsRepository]).toEqual([
      true,
      true,
    ])
    untrustItems(first.gitDirs, ['env:TEAM'])
    expect((await trust(worktree)).loadsRepository).toBe(false)
  })
})

it('trust is the user’s: no command of a tool call gives it, in whichever worktree that runs', async () => {
  const env = { '.claude/settings.json': JSON.stringify({ env: { TEAM: 'blue' } }) }
  const { worktree, repo, run } = await scene(env, ['login', 'logout'])
  const own = readGitDirs(worktree)?.own ?? ''
  const call = { tool_name: 'Bash', tool_input: { command: 'x' }, tool_use_id: 'toolu_1' }
  noteCall(own, call, worktree, { wasOpen: true, asked: false, couldChangeAnything: true })
  const inside = { ...run, env: { ...run.env, CLAUDECODE: '1' }, exitCode: 1 }
  for (const args of [
    ['trust', '--all'],
    ['open', '--trust'],
    ['bootstrap', '--name', 'logout', '--trust', '--no-launch', '--reviewer', 'checklist'],
  ])
    expect(
      (await runCli(args, { ...inside, cwd: args[0] === 'bootstrap' ? repo : `${repo}-logout` })).stderr,
    ).toContain('a tool call of Claude Code is running')
  expect(JSON.parse((await runCli(['trust', '--json'], { cwd: worktree })).stdout)).toMatchObject({
    loads_repository: false,
  })
})

describe('the text of CLAUDE.md', () => {
  it('has its imports as far as they are in the worktree, each once', () => {
    const folder = temporaryFolder()
    const root = join(folder, 'wt')
    write(folder, { 'outside.md': 'SECRET', 'home/x.md': 'SECRET' })
    write(root, {
      'CLAUDE.md': 'Root @docs/a.md @../outside.md @/etc/hostname @~/x.md @docs/link.md @.git/config @docs',
      '.claude/CLAUDE.md': 'Inner @../docs/b.md',
      'docs/a.md': 'A @b.md @../CLAUDE.md',
      'docs/b.md': 'B',
      '.git/config': 'SECRET',
    })
    symlinkSync('../../outside.md', join(root, 'docs/link.md'))
    const text = readInstructions(root) ?? ''
    expect([...text.matchAll(/^## (.*)$/gm)].map(([, path]) => path)).toEqual([
      'CLAUDE.md',
      'docs/a.md',
      'docs/b.md',
      '.claude/CLAUDE.md',
    ])
    expect(text).not.toMatch(/SECRET/)
  })

  it('is none where there is no such file, or no plain one', () => {
    const root = temporaryFolder()
    expect(readInstructions(root)).toBe(null)
    mkdirSync(join(root, 'CLAUDE.md'))
    expect(readInstructions(root)).toBe(null)
  })
})
