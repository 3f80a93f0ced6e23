import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { codexBinary } from '../../support/claude-clients.ts'
import { cli, project } from '../../support/project.ts'
import { fakePrograms } from '../../support/run-cli.ts'
import { runProgram } from '../../support/run-program.ts'
import { cleanEnvironment, statusOf, temporaryRepo, write } from '../../support/temporary-repo.ts'

/**
 * Each kind of breakage that `doctor` claims to find, at least two of each, made for real in a worktree that bootstrap
 * has opened. The first command of doctor's remedy is taken out of its own output and run by a shell, as a person would.
 */
type Place = {
  folder: string
  repo: string
  worktree: string
  home: string
  programs: string
  env: { [name: string]: string }
  at: (path: string) => string
}

type Setup = {
  args?: readonly string[]
  /** Another node, or another package, than the one that the tests run. */
  start?: (folder: string) => readonly [node: string, cli: string]
  programs?: { [name: string]: string }
  withSandbox?: boolean
}

type Breakage = {
  name: string
  row: string
  says: RegExp
  break: (place: Place) => unknown | undefined
  headline?: RegExp
} & Setup

const claude = `[ "$1" = --version ] && echo '2.1.328 (Claude Code)'; exit 0`

const codexHelp = [
  'json',
  'sandbox',
  'cd',
  'skip-git-repo-check',
  'output-last-message',
  'output-schema',
  'ephemeral',
  'model',
]
  .map((flag) => `      --${flag} <X>\n`)
  .join('')
/** Logged in while the file `login` is there, which `codex login` makes. */
const codex = `cd "$(dirname "$0")"
case "$*" in
  --version) echo 'codex-cli 0.169.0' ;;
  *--help) cat codex-help.txt ;;
  'login status') [ -e login ] ;;
  login) touch login ;;
esac`

/** Installs what the test has put aside, as the registry would. */
const npm = `cd "$(dirname "$0")"
case "$*" in
  'i -g @anthropic-ai/claude-code') mv claude.aside claude ;;
  'i -g @openai/codex' | 'i -g @openai/codex@latest') mv codex.aside codex ;;
  *) exit 9 ;;
esac`

const settings = (name: string): string => `.claude/${name}.json`
const edit = (file: string, from: RegExp | string, to: string): void => {
  const text = readFileSync(file, 'utf8')
  const edited = text.replace(from, to)
  if (edited === text) throw new Error(`${from} is not in ${file}`)
  writeFileSync(file, edited)
}
const aside = (place: Place, program: string): void =>
  renameSync(join(place.programs, program), join(place.programs, `${program}.aside`))
const gitDirOf = ({ worktree }: Place): string => readGitDirs(worktree)?.own ?? ''
const withCodex: Setup = { args: ['--reviewer', 'codex'], programs: { codex } }

function otherNode(folder: string): readonly [string, string] {
  const node = join(folder, 'programs/other-node')
  try {
    linkSync(process.execPath, node)
  } catch {
    copyFileSync(process.execPath, node)
  }
  return [node, cli]
}

function otherPackage(folder: string): readonly [string, string] {
  const copy = join(folder, 'package')
  for (const name of ['dist', 'skills', 'templates', 'package.json'])
    cpSync(join(project, name), join(copy, name), { recursive: true })
  return [process.execPath, join(copy, 'dist/cli.mjs')]
}

const pluginInstalled = {
  '.claude/plugins/installed_plugins.json': '{"version": 2, "plugins": {"plan-gate@market": [{"scope": "user"}]}}',
}

const kinds: { [kind: string]: Breakage[] } = {
  'hook bundles': [
    {
      name: 'one was changed',
      row: 'install',
      says: /^\.claude\/hooks\/plan-gate\/reviews\.mjs\.br was changed$/,
      break: ({ at }) => appendFileSync(at('.claude/hooks/plan-gate/reviews.mjs.br'), ' '),
    },
    {
      name: 'all are missing',
      row: 'install',
      says: /^11 files \(.*, …\) are missing$/,
      break: ({ at }) => rmSync(at('.claude/hooks/plan-gate'), { recursive: true }),
    },
  ],
  skills: [
    {
      name: 'one was edited',
      row: 'install',
      says: /plan-with-review\/SKILL\.md was changed$/,
      break: ({ at }) => appendFileSync(at('.claude/skills/plan-with-review/SKILL.md'), 'Skip the plan.\n'),
    },
    {
      name: 'all are removed',
      row: 'install',
      says: /^2 files .* are missing$/,
      break: ({ at }) => rmSync(at('.claude/skills'), { recursive: true }),
    },
  ],
  'entries in the settings': [
    {
      name: 'gone',
      row: 'settings (project)',
      says: /the gate’s hooks are missing or changed$/,
      break: ({ at }) => writeFileSync(at(settings('settings')), '{"theme": "dark"}\n'),
    },
    {
      name: 'gone with the file',
      row: 'settings (project)',
      says: /it is missing/,
      break: ({ at }) => rmSync(at(settings('settings'))),
    },
  ],
  'settings that Claude Code skips': [
    {
      name: 'no JSON',
      row: 'settings (project)',
      says: /line \d+: Claude Code would skip the whole file: /,
      break: ({ at }) => edit(at(settings('settings')), '"hooks": {', '"hooks": {,'),
    },
    {
      name: 'an unknown onFailure',
      row: 'settings (project)',
      says: /line \d+: .* has onFailure "deny"/,
      break: ({ at }) => edit(at(settings('settings')), '"onFailure": "block"', '"onFailure": "deny"'),
    },
    {
      name: 'a negative timeout',
      row: 'settings (project)',
      says: /line \d+: .* has timeout -1/,
      break: ({ at }) => edit(at(settings('settings')), '"timeout": 10', '"timeout": -1'),
    },
    {
      name: 'an unknown type, in the user’s local file',
      row: 'settings (local)',
      says: /line 1: .* has a hook of type "script"/,
      break: ({ at }) =>
        writeFileSync(
          at(settings('settings.local')),
          '{"hooks":{"Stop":[{"hooks":[{"type":"script"}]}]},"theme":"dark"}',
        ),
    },
    {
      name: 'no JSON, in the user’s local file',
      row: 'settings (local)',
      says: /skip the whole file/,
      break: ({ at }) => writeFileSync(at(settings('settings.local')), '{'),
    },
  ],
  'hooks switched off': [
    {
      name: 'in the local settings',
      row: 'settings (local)',
      says: /line 2: disableAllHooks is true$/,
      break: ({ at }) => writeFileSync(at(settings('settings.local')), '{\n"disableAllHooks": true, "theme": "dark" }'),
    },
    {
      name: 'in the user’s settings',
      row: 'settings (user)',
      says: /disableAllHooks is true$/,
      break: ({ home }) => write(home, { '.claude/settings.json': '{"disableAllHooks": true, "theme": "dark"}' }),
    },
    {
      name: 'in the main checkout’s local settings',
      row: 'settings (main checkout)',
      says: /disableAllHooks is true$/,
      break: ({ repo }) => write(repo, { [settings('settings.local')]: '{"disableAllHooks": true}' }),
    },
  ],
  'the plugin switched off, or a stranger to this gate': [
    {
      name: 'it does not know the gate',
      row: 'plugin',
      says: /^plan-gate@market does not know this gate/,
      headline: /^The gate holds, with warnings\.$/,
      break: ({ home }) => {
        write(home, pluginInstalled)
        rmSync(join(home, '.claude/plan-gate'), { recursive: true })
      },
    },
    {
      name: 'in the user’s settings',
      row: 'plugin',
      says: /\/home\/\.claude\/settings\.json switches plan-gate@market off/,
      headline: /^The gate holds, with warnings\.$/,
      break: ({ home }) =>
        write(home, { ...pluginInstalled, '.claude/settings.json': '{"enabledPlugins": {"plan-gate@market": false}}' }),
    },
    {
      name: 'in the local settings',
      row: 'plugin',
      says: /settings\.local\.json switches plan-gate@market off/,
      headline: /^The gate holds, with warnings\.$/,
      break: ({ home, at }) => {
        write(home, pluginInstalled)
        writeFileSync(at(settings('settings.local')), '{"enabledPlugins": {"plan-gate@market" : false}}')
      },
    },
  ],
  'an invalid configuration': [
    {
      name: 'a wrong value',
      row: 'plan-gate.yaml',
      says: /^plan-gate\.yaml:2:/,
      headline: /^The gate holds; plan-gate\.yaml is invalid/,
      break: ({ worktree }) => write(worktree, { 'plan-gate.yaml': 'plan:\n  max_revisions: many\n' }),
    },
    {
      name: 'two unknown keys',
      row: 'plan-gate.yaml',
      says: /plan-gate\.yaml:1:.*plan-gate\.yaml:3:/,
      headline: /^The gate holds; plan-gate\.yaml is invalid/,
      break: ({ worktree }) => write(worktree, { 'plan-gate.yaml': 'plans: 1\nplan:\n  max_revision: 3\n' }),
    },
  ],
  'damaged records': [
    {
      name: 'an approval that is no JSON',
      row: 'approval',
      says: /approval\.json is not JSON/,
      headline: /^The gate holds, with warnings/,
      break: ({ at }) => writeFileSync(at('.claude/review/approval.json'), '{"is_optimal": tr'),
    },
    {
      name: 'a ledger that was edited',
      row: 'ledger',
      says: /events\.jsonl is damaged in line \d+: its number is 1$/,
      headline: /^The gate holds; the record of the reviews is damaged/,
      break: ({ at }) => {
        appendFileSync(at('.claude/review/events.jsonl'), readFileSync(at('.claude/review/events.jsonl')))
      },
    },
  ],
  'the node of the hooks': [
    {
      name: 'was removed',
      row: 'install',
      says: /other-node, the node that starts the hooks, is gone$/,
      start: otherNode,
      break: ({ programs }) => rmSync(join(programs, 'other-node')),
    },
    {
      name: 'is no program any more',
      row: 'install',
      says: /other-node, the node that starts the hooks, cannot be started \(EACCES\)$/,
      start: otherNode,
      break: ({ programs }) => {
        rmSync(join(programs, 'other-node'))
        writeFileSync(join(programs, 'other-node'), '')
      },
    },
  ],
  'the package': [
    {
      name: 'was removed',
      row: 'install',
      says: /package, the plan-gate it is from, is gone$/,
      headline: /^The gate holds, with warnings/,
      start: otherPackage,
      break: ({ folder }) => rmSync(join(folder, 'package'), { recursive: true }),
    },
    {
      name: 'was moved',
      row: 'install',
      says: /package, the plan-gate it is from, is gone$/,
      headline: /^The gate holds, with warnings/,
      start: otherPackage,
      break: ({ folder }) => renameSync(join(folder, 'package'), join(folder, 'package-2')),
    },
  ],
  'moved folders': [
    {
      name: 'the worktree',
      row: 'worktree',
      says: /^This worktree was moved/,
      break: ({ worktree, folder }) => {
        renameSync(worktree, join(folder, 'other place'))
        return { worktree: join(folder, 'other place') }
      },
    },
    {
      name: 'the main checkout',
      row: 'worktree',
      says: /^The main checkout of this worktree was moved/,
      withSandbox: true,
      break: ({ repo, folder }) => {
        renameSync(repo, join(folder, 'store'))
        return { repo: join(folder, 'store') }
      },
    },
  ],
  'what hides our files from git': [
    {
      name: 'the .gitignore is gone',
      row: 'git',
      says: /lists files of plan-gate \(1\)/,
      headline: /^The gate holds, with warnings/,
      break: ({ at }) => rmSync(at('.claude/.gitignore')),
    },
    {
      name: 'the lines in info/exclude are gone',
      row: 'git',
      says: /lists files of plan-gate \(\d+\)/,
      headline: /^The gate holds, with warnings/,
      break: ({ repo }) => writeFileSync(join(repo, '.git/info/exclude'), ''),
    },
  ],
  'links and folders in the way': [
    {
      name: '.claude is a link',
      row: 'install',
      says: /^\.claude is a symbolic link, not a directory$/,
      break: ({ at, folder }) => {
        renameSync(at('.claude'), join(folder, 'claude'))
        symlinkSync(join(folder, 'claude'), at('.claude'))
      },
    },
    {
      name: 'the settings are a link',
      row: 'settings (project)',
      says: /settings\.json is a symbolic link/,
      break: ({ at, folder }) => {
        renameSync(at(settings('settings')), join(folder, 'mine.json'))
        symlinkSync(join(folder, 'mine.json'), at(settings('settings')))
      },
    },
    {
      name: 'a folder in the place of a bundle',
      row: 'install',
      says: /reviews\.mjs\.br is a directory/,
      break: ({ at }) => {
        rmSync(at('.claude/hooks/plan-gate/reviews.mjs.br'))
        mkdirSync(at('.claude/hooks/plan-gate/reviews.mjs.br'))
      },
    },
  ],
  'reflection without its hooks': [
    {
      name: 'switched on by plan-gate.yaml',
      row: 'reflection',
      says: /switched on after the install/,
      headline: /^The gate holds, with warnings/,
      ...withCodex,
      break: ({ worktree, env }) => {
        write(worktree, { 'plan-gate.yaml': 'reflect:\n  enabled: true\n' })
        spawnSync(process.execPath, [cli, 'config', '--apply'], { cwd: worktree, env })
      },
    },
    {
      name: 'switched on by the environment',
      row: 'reflection',
      says: /switched on after the install/,
      headline: /^The gate holds, with warnings/,
      ...withCodex,
      break: ({ env }) => ({ env: { ...env, PLAN_GATE_REFLECT: '1' } }),
    },
  ],
  'Claude Code': [
    {
      name: 'is missing',
      row: 'Claude Code',
      says: /not on PATH/,
      headline: /^The gate holds, with warnings/,
      break: (place) => aside(place, 'claude'),
    },
    {
      name: 'is too old',
      row: 'Claude Code',
      says: /2\.1\.200 is older/,
      headline: /^The gate holds; Claude Code is missing or too old\.$/,
      break: ({ programs }) => {
        const old = `case "$1" in update) printf '#!/bin/sh\\necho 2.1.328' > "$0" ;; *) echo 2.1.200 ;; esac`
        fakePrograms(dirname(programs), { claude: old })
      },
    },
  ],
  'the reviewer': [
    {
      name: 'is missing',
      row: 'reviewer',
      says: /`codex` is not on PATH/,
      headline: /^The gate holds; the reviewer is missing\.$/,
      ...withCodex,
      break: (place) => aside(place, 'codex'),
    },
    {
      name: 'is logged out',
      row: 'reviewer',
      says: /has no credentials/,
      headline: /^The gate holds; the reviewer is missing\.$/,
      ...withCodex,
      break: ({ programs }) => rmSync(join(programs, 'login')),
    },
  ],
  'the sandbox': [
    {
      name: 'its engine was removed',
      row: 'sandbox',
      says: /./,
      headline: /^The gate holds, with warnings|does not hold/,
      withSandbox: true,
      break: (place) => rmSync(join(gitDirOf(place), 'plan-gate/sandbox/bwrap')),
    },
    {
      name: 'its wrapper was removed',
      row: 'install',
      says: /through which commands start, is gone$/,
      withSandbox: true,
      break: (place) => rmSync(join(gitDirOf(place), 'plan-gate/sandbox/run')),
    },
  ],
}

type Row = { event: string; name: string; status: string; detail: string; remedy: string | null; headline?: string }

async function place({ args = ['--reviewer', 'checklist'], start, programs = {}, withSandbox }: Setup): Promise<Place> {
  const repo = temporaryRepo()
  const folder = dirname(repo)
  const folderOfPrograms = fakePrograms(folder, { claude, npm, ...programs })
  write(folderOfPrograms, { 'codex-help.txt': codexHelp, login: '' })
  if (withSandbox) symlinkSync(await codexBinary(), join(folderOfPrograms, 'codex'))
  const home = join(folder, 'home')
  mkdirSync(home)
  const clean = cleanEnvironment()
  const env = { ...clean, HOME: home, PATH: `${folderOfPrograms}:${clean.PATH}` }
  const worktree = `${repo}-x`
  const [node, program] = start?.(folder) ?? [process.execPath, cli]
  const words = [program, 'bootstrap', '--no-launch', '--name', 'x', ...args]
  const { exitCode, stderr } = await runProgram(node, words, { cwd: repo, env, timeoutMs: 60_000 })
  if (exitCode !== 0) throw new Error(stderr)
  return { folder, repo, worktree, home, programs: folderOfPrograms, env, at: (path) => join(worktree, path) }
}

async function doctor({ worktree, env }: Place): Promise<{ rows: Row[]; headline: string; exitCode: number | null }> {
  const run = await runProgram(process.execPath, [cli, 'doctor', '--json'], { cwd: worktree, env, timeoutMs: 60_000 })
  const lines = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
  expect(run.stdout + run.stderr).not.toMatch(/^\s+at .*:\d+/m)
  const rows = lines.filter(({ event }) => event === 'prerequisite')
  return { rows, headline: lines.at(-1)?.headline ?? '', exitCode: run.exitCode }
}

const troubles = (rows: readonly Row[]): string[] =>
  rows.filter(({ status }) => status !== 'ok').map(({ name, status }) => `${name} ${status}`)

/** The first command that the remedy of this row names, as people see it. */
async function printedCommand({ worktree, env }: Place, row: Row): Promise<string> {
  const { stderr } = await runProgram(process.execPath, [cli, 'doctor'], { cwd: worktree, env, timeoutMs: 60_000 })
  const lines = stderr.split('\n')
  const at = lines.findIndex((line) => line.slice(2).startsWith(`${row.name}  ${row.detail.split('\n')[0]}`))
  const remedy = lines.slice(at + 1).find((line) => line.startsWith('    → ')) ?? ''
  return /`([^`]+)`/.exec(remedy)?.[1] ?? /: (git .*)$/.exec(remedy)?.[1] ?? `(no command in ${JSON.stringify(remedy)})`
}

const all = Object.entries(kinds).flatMap(([kind, breakages]) => breakages.map((each) => ({ kind, ...each })))

it('covers thirteen kinds and more, each at least twice', () => {
  const counts = Object.values(kinds).map((breakages) => breakages.length)
  expect([counts.length >= 13, Math.min(...counts) >= 2]).toEqual([true, true])
})

describe('doctor’s remedy, run as it is printed, makes the gate whole again:', () => {
  it.each(all)(
    '$kind: $name',
    async ({ row, says, headline = /^The gate does not hold: /, break: breakIt, ...setup }) => {
      const whole = await place(setup)
      const before = await doctor(whole)
      expect(before.exitCode).toBe(0)
      const broken: Place = { ...whole, ...(breakIt(whole) as Partial<Place> | undefined) }

      const found = await doctor(broken)
      const told = found.rows.filter(
        ({ name, status }) => status !== 'ok' && !troubles(before.rows).includes(`${name} ${status}`),
      )
      expect(told.map(({ name }) => name)).toEqual([row])
      expect(told[0]?.detail).toMatch(says)
      expect(found.headline).toMatch(headline)

      const command = await printedCommand(broken, told[0] as Row)
      const fixed = await runProgram('/bin/sh', ['-c', command], {
        cwd: broken.worktree,
        env: broken.env,
        timeoutMs: 60_000,
      })
      expect([command, fixed.exitCode, fixed.stderr]).toEqual([command, 0, expect.anything()])

      const after = await doctor(broken)
      expect([troubles(after.rows), after.exitCode]).toEqual([troubles(before.rows), 0])
      expect(after.rows.find(({ name }) => name === 'self-test')).toMatchObject({ status: 'ok' })
      expect(statusOf(broken.worktree).replace(/^\?\? (?:plan-gate\.yaml|\.claude\/settings\.local\.json)$/m, '')).toBe(
        '',
      )
    },
  )

  it('keeps what can be kept of settings, and a copy of what it rewrites', async () => {
    const whole = await place({})
    const text = '{\n"disableAllHooks": true, "theme": "dark", "env": { "GIT_DIR": "x", "MINE": "1" } }'
    writeFileSync(whole.at(settings('settings.local')), text)
    writeFileSync(whole.at(settings('settings')), '{,')
    const run = { cwd: whole.worktree, env: whole.env, timeoutMs: 60_000 }
    const { stderr } = await runProgram(process.execPath, [cli, 'install'], run)
    const copies = readdirSync(whole.at('.claude/review/replaced')).map((name) =>
      whole.at(`.claude/review/replaced/${name}`),
    )
    expect(copies.map((copy) => readFileSync(copy, 'utf8')).sort()).toEqual([text, '{,'].sort())
    for (const copy of copies) expect(stderr).toContain(copy.slice(whole.worktree.length + 1))
    expect(JSON.parse(readFileSync(whole.at(settings('settings.local')), 'utf8'))).toEqual({
      theme: 'dark',
      env: { MINE: '1' },
    })
    expect(existsSync(whole.at('.claude/hooks/plan-gate/pre-tool-use.mjs'))).toBe(true)
  })
})
