import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'shell-quote'
import { beforeAll, describe, expect, it } from 'vitest'
import { outputs } from '../../../src/cli/schema.ts'
import type { CompletionOutput } from '../../../src/schemas/output.ts'
import { runCli } from '../../support/run-cli.ts'
import { temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'

const names = Object.keys(outputs)
const anywhere = { cwd: import.meta.dirname }
let commands: CompletionOutput['commands']
beforeAll(async () => {
  commands = (JSON.parse((await runCli(['completion', '--json'], anywhere)).stdout) as CompletionOutput).commands
})

const optionsOf = (name: string): string[] =>
  commands.find((command) => command.name === name)?.options.flatMap((option) => [...option.names]) ?? []

describe('every command', () => {
  it('has a published output in src/cli/schema.ts', () => {
    expect(commands.map(({ name }) => name).sort()).toEqual([...names].sort())
    expect(names.filter((name) => !optionsOf(name).includes('--json'))).toEqual([])
  })

  it.each(names)('%s --help has at least two examples, and each is a command line that it takes', async (name) => {
    const { stdout, stderr } = await runCli([name, '--help'], anywhere)
    const examples = stdout.split('\n').flatMap((line) => /^ {2}\$ (.*?)(?: {2,}.*)?$/.exec(line)?.[1] ?? [])
    const lines = examples.map((example) => commandIn(example))
    const unknown = lines.flatMap((words) => flagsIn(words).filter((flag) => !optionsOf(name).includes(flag)))
    expect({ own: lines.every(([word]) => word === name), two: lines.length > 1, unknown, stderr }).toEqual({
      own: true,
      two: true,
      unknown: [],
      stderr: '',
    })
    expect(stdout.split('\n').filter((line) => line.length > 120)).toEqual([])
    expect((await runCli(['help', name], anywhere)).stdout).toBe(stdout)
  })

  it.each(names)('%s suggests --json for --jsn', async (name) => {
    const { stdout, stderr } = await runCli([name, '--jsn'], { ...anywhere, exitCode: 2 })
    expect([stdout, stderr]).toEqual([
      '',
      `plan-gate: unknown option '--jsn'.\n  → Did you mean --json? See \`plan-gate ${name} --help\`.\n`,
    ])
  })
})

/** The arguments after `plan-gate`, up to the next shell operator. */
function commandIn(example: string): string[] {
  const words = parse(example.replace(/^npx |^source <\(/, ''))
  const end = words.findIndex((word) => typeof word !== 'string')
  return words.slice(1, end === -1 ? undefined : end).map(String)
}

const flagsIn = (words: readonly string[]): string[] =>
  words.slice(0, words.includes('--') ? words.indexOf('--') : undefined).filter((word) => word.startsWith('-'))

describe('suggestions', () => {
  it.each<[string[], string]>([
    [['stauts'], 'unknown command "stauts".\n  → Did you mean `plan-gate status`? See `plan-gate --help`.'],
    [['stauts', '--help'], 'Did you mean `plan-gate status`?'],
    [['help', 'stauts'], 'Did you mean `plan-gate status`?'],
    [['aprove', '--force'], 'Did you mean `plan-gate approve`?'],
    [['xyzzy'], 'unknown command "xyzzy".\n  → See `plan-gate --help`.'],
    [['toString'], 'unknown command "toString".\n  → See `plan-gate --help`.'],
    [['--verison'], 'Did you mean --version? See `plan-gate --help`.'],
    [['install', '--reviwer', 'x'], 'Did you mean --reviewer?'],
    [['install', '--reviewer', 'codx'], 'Did you mean codex?'],
    [['drift', 'acept'], 'Did you mean accept?'],
    [['completion', 'bsh'], 'Did you mean bash?'],
    [['schema', 'staus'], 'Did you mean status?'],
    [['status', 'x'], 'too many arguments'],
    [['log', '-n'], "option '-n, --last <count>' argument missing"],
  ])('%j', async (args, says) => {
    const { stdout, stderr } = await runCli(args, { ...anywhere, exitCode: 2 })
    expect([stdout, stderr]).toEqual(['', expect.stringContaining(says)])
  })
})

describe('without a command', () => {
  it('shows the help, on stderr if there are no arguments', async () => {
    const asked = await runCli(['--help'], anywhere)
    const nothing = await runCli([], { ...anywhere, exitCode: 2 })
    expect([nothing.stdout, nothing.stderr, asked.stderr]).toEqual(['', asked.stdout, ''])
    expect((await runCli(['help'], anywhere)).stdout).toBe(asked.stdout)
    for (const name of names) expect(asked.stdout).toMatch(new RegExp(`^  ${name} +\\S`, 'm'))
  })
})

const stack = /\n\s+at .*:\d+:\d+/

describe('no stack is shown', () => {
  const needsRepository = names.filter(
    (name) => !['schema', 'completion', 'demo', 'explain', 'routes', 'review', 'calibrate'].includes(name),
  )

  it.each(needsRepository)('%s reports that there is no repository, to people and as JSON', async (name) => {
    const cwd = temporaryFolder()
    const more: { [name: string]: string[] } = { approve: ['--force', '--reason', 'x'], waive: ['F1', '--reason', 'x'] }
    const args = [name, ...(more[name] ?? [])]
    const { stdout, stderr } = await runCli([...args, '--json'], { cwd, exitCode: 2 })
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { message: string; next_step: string }
    expect(last).toMatchObject({
      event: 'error',
      exit_code: 2,
      message: expect.stringContaining('is not in a git repository'),
    })
    expect(stderr).toBe(`plan-gate: ${last.message}\n  → ${last.next_step}\n`)
  })

  it.each([
    ['status', (repo: string) => writeFileSync(join(repo, 'plan-gate.yaml'), '[')],
    ['status', (repo: string) => writeFileSync(join(repo, '.claude'), '')],
    ['log', (repo: string) => mkdirSync(join(repo, '.claude/review/events.jsonl'), { recursive: true })],
    ['verify', (repo: string) => mkdirSync(join(repo, '.claude/review/approval.json'), { recursive: true })],
    ['diff', (repo: string) => mkdirSync(join(repo, '.claude/review/version_counter'), { recursive: true })],
    ['drift', (repo: string) => writeFileSync(join(repo, '.git/HEAD'), 'nonsense')],
    ['install', (repo: string) => writeFileSync(join(repo, '.git/index'), 'nonsense')],
  ])('%s in a damaged checkout (%#)', async (name, damage) => {
    const cwd = temporaryRepo()
    damage(cwd)
    const outcome = await runCli([name], { cwd }).catch((error: Error) => ({ stderr: error.message }))
    expect(outcome.stderr).not.toMatch(stack)
  })

  it('where git is missing', async () => {
    const { stderr } = await runCli(['status'], { cwd: temporaryRepo(), env: { PATH: '/nowhere' }, exitCode: 2 })
    expect(stderr).toMatch(/^plan-gate: git is not on PATH\.\n {2}→ Install git/)
  })

  it('but with PLAN_GATE_DEBUG=1', async () => {
    const cwd = temporaryFolder()
    const { stderr } = await runCli(['status'], { cwd, env: { PLAN_GATE_DEBUG: '1' }, exitCode: 2 })
    expect(stderr).toMatch(/^plan-gate: [\s\S]*\n {2}→ [\s\S]*\n\s+at /)
  })
})
