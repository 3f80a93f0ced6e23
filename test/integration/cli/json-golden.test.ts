import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appendEvent } from '../../../src/state/ledger.ts'
import { commandNames } from '../../../src/text/own-commands.ts'
import { hookArgs } from '../../support/hook-args.ts'
import { fakePrograms, startCli } from '../../support/run-cli.ts'
import { cleanEnvironment, commit, git, makeRepo, write } from '../../support/temporary-repo.ts'

// Below /dev, where a memory disk may be, each file is special.
delete process.env.TMPDIR

/**
 * What every command of the built plan-gate prints with `--json`, and its exit code, compared with files in json-golden:
 *
 * - `<command>.json` is the whole output. `layout` says how the values in `output` stand in stdout, and it is only used
 *   where it gives back the very bytes.
 * - `<command>.shape.json` is the same with `<text>` for each string that contains white space: sentences and command
 *   lines. What is left is the format: keys and their order, numbers, names, paths, digests.
 *
 * UPDATE_GOLDEN=1 writes the whole outputs anew after a deliberate change of wording; the shapes are still compared.
 * UPDATE_GOLDEN=shape writes both, after a deliberate change of the format.
 */
const goldenFolder = join(import.meta.dirname, 'json-golden')
const packageFolder = join(import.meta.dirname, '..', '..', '..')
const cliFile = join(packageFolder, 'dist', 'cli.mjs')
const update = process.env.UPDATE_GOLDEN ?? ''

/** Those that start Claude Code, or ask about what it loads, are tested with it. */
const withoutGolden: readonly string[] = ['open', 'trust', 'untrust']
const commands = commandNames.filter((name) => !withoutGolden.includes(name))

/** One per command, and one for what is refused before a command is known or its flags are understood. */
const goldenNames = [...commands, 'errors'].sort()

type Output = {
  title: string
  args: readonly string[]
  exit_code: number | null
  /** lines: a compact value on each line; indented: one value over several lines; raw: `output` has the lines. */
  layout: 'lines' | 'indented' | 'raw'
  output: readonly unknown[]
}

const outputs: { readonly [name: string]: Output[] } = Object.fromEntries(goldenNames.map((name) => [name, []]))
const golden = (name: string): Output[] => outputs[name] ?? expect.unreachable(`there is no golden file for ${name}`)

// ---- What varies ----------------------------------------------------------------------------------------------------

const gitVersion = /\d+\.\d+\.\d+/.exec(git(packageFolder, '--version'))?.[0] ?? ''
const packageVersion = (JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string })
  .version

const escaped = (literal: string): string => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** All that is replaced, in this order. Each stands in JSON text, and what replaces it leaves JSON text behind. */
const varying = (folder: string): readonly (readonly [RegExp, string])[] => [
  // The version of node and the path of its program, in the row about it.
  [new RegExp(`(?<=")${escaped(`${process.version} at ${process.execPath}`)}(?=")`, 'g'), '<node>'],
  // The version of git, in the row about it.
  [new RegExp(`(?<="name":"git","status":"ok","detail":")${escaped(gitVersion)}(?=")`, 'g'), '<git>'],
  // The folder of the scene.
  [new RegExp(escaped(folder), 'g'), '<temp>'],
  // The home folder of the test.
  [new RegExp(escaped(cleanEnvironment().HOME ?? ''), 'g'), '<home>'],
  // The folder of plan-gate itself.
  [new RegExp(`${escaped(packageFolder)}(?=/)`, 'g'), '<package>'],
  // The version of plan-gate, where a value is nothing else.
  [new RegExp(`(?<="(?:installed|version|plan_gate)":")${escaped(packageVersion)}(?=")`, 'g'), '<version>'],
  // Times: git's are fixed, so each of these is one of plan-gate's own.
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z/g, '<time>'],
  // The same in the name of an archive.
  [/(?<=\/plan-gate-archive\/[\w-]+-)\d{8}T\d{6}Z(?=["/])/g, '<time>'],
  // How long ago a session was last heard of.
  [/(?<= )\d+(?= s ago\b)/g, '0'],
  // Durations.
  [/(?<="(?:ms|duration_ms|total_duration_ms)": ?)\d+(?:\.\d+)?(?=[,}\n])/g, '0'],
  [/(?<="seconds": ?)\d+(?:\.\d+)?(?=[,}\n])/g, '0'],
  // Processes: as a number, in the sentence about a review, and before the name of a program that runs.
  [/(?<="pid":)\d+(?=[,}])/g, '0'],
  [/(?<=\(process )\d+(?=\))/g, '<pid>'],
  [/\b\d+(?= sleep 60\b)/g, '<pid>'],
  // The folder that `plan-gate demo` makes.
  [/(?<=\/plan-gate-)(?:run-)?demo-(?:\d+-\d+-)?[A-Za-z0-9]{6}(?=\/)/g, 'demo-<random>'],
  // The digest of a line of the ledger, which has a time in it; that of the first line is all zeros.
  [/(?<="prev":")(?!0{64})[0-9a-f]{64}(?=")/g, '<digest>'],
  [/(?<=\d events, head )[0-9a-f]{12}(?=[",])/g, '<digest>'],
  // The sizes of the bundles in .claude/hooks, and of their caches, change with each build.
  [/(?<=\.mjs(?:\.cache|\.br)?","detail":")\d+ bytes(?=")/g, '<size> bytes'],
]

function normalised(stdout: string, folder: string): string {
  return varying(folder).reduce((printed, [pattern, by]) => printed.replace(pattern, by), stdout)
}

// ---- What is kept ---------------------------------------------------------------------------------------------------

function laidOut(stdout: string): Pick<Output, 'layout' | 'output'> {
  const lines = parsed(stdout.split('\n').slice(0, -1))
  if (lines !== null && lines.map((value) => `${JSON.stringify(value)}\n`).join('') === stdout)
    return { layout: 'lines', output: lines }
  const whole = parsed([stdout])
  if (whole !== null && `${JSON.stringify(whole[0], null, 2)}\n` === stdout)
    return { layout: 'indented', output: whole }
  return { layout: 'raw', output: stdout.split('\n') }
}

function parsed(texts: readonly string[]): unknown[] | null {
  try {
    return texts.map((each) => JSON.parse(each) as unknown)
  } catch {
    return null
  }
}

function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') return /\s/.test(value) ? '<text>' : value
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}

const asFile = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const wholeFile = (name: string): string => asFile(golden(name))
const shapeFile = (name: string): string =>
  asFile(golden(name).map((each) => ({ ...each, output: each.output.map(shapeOf) })))

// ---- How it is run --------------------------------------------------------------------------------------------------

type Env = { readonly [name: string]: string }
type Run = {
  cwd: string
  env?: Env
  programs?: string
  stdin?: string
  /** Where it is kept; the file of the command when absent. */
  file?: string
}

type Scene = {
  /** Everything of the scene is below it. */
  folder: string
  /** Runs plan-gate with these arguments and `--json`, and keeps what it prints. */
  run: (title: string, args: readonly string[], run: Run) => Promise<void>
  /** Keeps what was printed by a run that the scene has made itself. */
  keep: (title: string, args: readonly string[], exitCode: number | null, stdout: string) => void
}

type Kept = { name: string; output: Output }

function sceneIn(folder: string): Scene & { kept: readonly Kept[] } {
  const kept: Kept[] = []
  const keep = (
    title: string,
    args: readonly string[],
    exitCode: number | null,
    stdout: string,
    name?: string,
  ): void => {
    const output = { title, args, exit_code: exitCode, ...laidOut(normalised(stdout, folder)) }
    kept.push({ name: name ?? args[0] ?? '', output })
  }
  return {
    folder,
    kept,
    keep: (title, args, exitCode, stdout) => keep(title, args, exitCode, stdout),
    run: async (title, args, run) => {
      const all = args.includes('--json') ? args : [...args, '--json']
      const [exitCode, stdout] =
        run.stdin === undefined ? await started(all, run) : await fed([cliFile, ...all], run, run.stdin)
      keep(title, all, exitCode, stdout, run.file)
    },
  }
}

async function started(args: readonly string[], run: Run): Promise<[exitCode: number | null, stdout: string]> {
  const cli = startCli(args, run)
  const force = setTimeout(() => cli.kill('SIGKILL'), 60_000)
  const exited = once(cli, 'exit') as Promise<[number | null]>
  const [stdout, , [exitCode]] = await Promise.all([text(cli.stdout), text(cli.stderr), exited])
  clearTimeout(force)
  return [exitCode, stdout]
}

/** A script with a standard input. Nothing waits for it that need not: one scene would hold up the others. */
async function fed(
  args: readonly string[],
  { cwd, env }: Run,
  input: string,
): Promise<[exitCode: number | null, stdout: string]> {
  const options = { cwd, env: { ...cleanEnvironment(), ...env }, timeout: 60_000 }
  const program = spawn(process.execPath, args, options)
  const exited = once(program, 'exit') as Promise<[number | null]>
  // A script that has ended reads nothing.
  program.stdin.on('error', () => {})
  program.stdin.end(input)
  const [stdout, , [exitCode]] = await Promise.all([text(program.stdout), text(program.stderr), exited])
  return [exitCode, stdout]
}

// ---- What there is to be looked at ----------------------------------------------------------------------------------

const files = {
  'src/app.ts': 'export {}\n',
  'docs/design.md': '# Design\n\nOne file prints one word.\n',
  'docs/strategy.md': '# Greet\n\nSay hello to whoever starts the program.\n',
}

type Sections = { goal?: string; approach?: string; changes?: string }

/** A plan with everything that the checklist asks for. */
const planText = ({ goal, approach, changes }: Sections = {}): string => `# Greet

## Goal

${goal ?? 'Running `node src/app.ts` prints hello.'}

## Context

\`src/app.ts:1\` exports nothing and prints nothing.

## Approach

${approach ?? 'Change the line.'}

## Changes

${changes ?? '- `src/app.ts` (changed): print hello.'}

## Risks

A wrong word would be printed; the test shows it.

## Open Questions

None.
`

const manyChanges = `- \`src/app.ts\` (changed): print hello.
- \`src/greet.ts\` (new): the words.
- \`docs/old.md\` (deleted)
- \`docs/design.md\` → \`docs/greeting.md\`
- \`src/words/\`: a folder of words
- \`test/**/*.test.ts\` are extended
- \`src/{a,b}.ts\`, Makefile and src/plain.ts
`

/** An installed hook, as Claude Code runs it. 2 is the exit code of a denial. */
async function runHook(root: string, name: string, event: object, env: Env = {}): Promise<void> {
  const input = JSON.stringify({ session_id: 's-1', cwd: root, permission_mode: 'bypassPermissions', ...event })
  const run = { cwd: root, env: { ...env, CLAUDE_PROJECT_DIR: root } }
  const [exitCode] = await fed(hookArgs(root, name), run, input)
  if (exitCode !== 0 && exitCode !== 2) throw new Error(`the hook ${name} ended with ${exitCode}`)
}

/** docs/plan.md gets this text, and the installed hook hears of it. */
async function savePlan(root: string, content: string, env: Env = {}): Promise<void> {
  write(root, { 'docs/plan.md': content })
  const tool_input = { file_path: join(root, 'docs/plan.md'), content }
  const event = { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input, tool_response: {} }
  await runHook(root, 'post-tool-use', event, env)
}

const ask = (root: string, tool_name: string, tool_input: object): Promise<void> =>
  runHook(root, 'pre-tool-use', { hook_event_name: 'PreToolUse', tool_name, tool_input })

const startSession = (root: string): Promise<void> =>
  runHook(root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })

/** A reviewer that is a program: `model-invoke`. */
type FakeReviewer = {
  programs: string
  /** For the hooks. */
  env: Env
  /** What it answers, one call after the other; the last of these answers stays. */
  answers: (...answers: readonly (object | Failure)[]) => void
}
type Failure = { exitCode: number; stderr: string }

function fakeReviewer(folder: string): FakeReviewer {
  const queue = join(folder, 'answers')
  mkdirSync(queue)
  const programs = fakePrograms(folder, {
    'model-invoke': `first=$(ls '${queue}' | head -n 1)
. '${queue}'/"$first"
[ "$(ls '${queue}' | wc -l)" -eq 1 ] || rm '${queue}'/"$first"
exit $status`,
  })
  return {
    programs,
    env: { PATH: `${programs}:${cleanEnvironment().PATH}` },
    answers: (...answers) => {
      for (const name of readdirSync(queue)) rmSync(join(queue, name))
      for (const [index, answer] of answers.entries()) writeFileSync(join(queue, `${index}`), scriptFor(answer))
    },
  }
}

const scriptFor = (answer: object | Failure): string =>
  'exitCode' in answer
    ? `printf '%s\\n' '${answer.stderr}' >&2\nstatus=${answer.exitCode}\n`
    : `cat <<'ANSWER'\n${JSON.stringify(answer)}\nANSWER\nstatus=0\n`

type Said = { findings?: readonly object[]; previous?: readonly object[]; question?: string; risks?: number }

const says = (verdict: string, { findings = [], previous = [], question, risks = 0 }: Said = {}): object => ({
  context_summary: 'One file, one line.',
  complexity: { risk_area_count: risks, files_affected: 1, scope_category: risks > 5 ? 'high' : 'low' },
  verdict,
  is_optimal: verdict === 'APPROVED',
  summary: `The reviewer says ${verdict}.`,
  question: question ?? null,
  findings,
  previous_findings: previous,
})

const fixed = (id: string): object => ({ id, status: 'fixed', reason: 'It says so in Approach.' })

const finding = (problem: string, more: object = {}): object => ({
  id: null,
  severity: 'major',
  section: '## Approach',
  problem,
  evidence: 'Change the line.',
  fix: 'Say what is printed.',
  ...more,
})

const hounfour = `plan:
  max_revisions: 3
review:
  routes:
    - {backend: hounfour, when: [model_invoke_available], fail_mode: hard_fail, capabilities: [multi_pass]}
hounfour:
  flatline_routing: true
`

// ---- The scenes -----------------------------------------------------------------------------------------------------

/** What a checkout says of itself before there is a plan. */
async function lookAround({ run }: Scene, title: string, cwd: string): Promise<void> {
  const looks = [
    ...['status', 'log', 'verify', 'doctor', 'drift', 'drift accept', 'routes', 'config', 'report', 'diff', 'continue'],
    ...['explain --plan', 'approve', 'approve --force --reason Because.', 'verify --export approval.json'],
  ]
  for (const look of looks) await run(title, look.split(' '), { cwd })
  for (const command of ['git log | head', 'rm -rf /']) await run(title, ['explain', command], { cwd })
}

async function opening(scene: Scene): Promise<void> {
  const { folder, run } = scene
  const repo = makeRepo(join(folder, 'shop'), files)
  const opened = `${repo}-x`
  const args = ['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x']
  await lookAround(scene, 'in a repository without the gate', repo)
  await run('a dry run', [...args, '--dry-run'], { cwd: repo })
  await run('a new worktree', args, { cwd: repo })
  await lookAround(scene, 'in a new worktree', opened)
  await run('a dry run where it is open', [...args, '--dry-run'], { cwd: repo })
  await run('where it is open', args, { cwd: repo })
  const dry = ['bootstrap', '--no-launch', '--reviewer', 'checklist', '--dry-run']
  await run('from a strategy', [...dry, 'docs/strategy.md'], { cwd: repo })
  const places = ['--name', 'y', '--branch', 'topic', '--base', 'main', '--dir', '../elsewhere']
  await run('all places named', [...dry, ...places], { cwd: repo })
  await run('from inside of a worktree', [...dry, '--name', 'z'], { cwd: opened })
  await run('a missing strategy', [...dry, 'docs/none.md'], { cwd: repo })
  await run('a base that is not there', [...dry, '--name', 'y', '--base', 'nowhere'], { cwd: repo })
  await run('a name that cannot be one', [...dry, '--name', 'a b/..'], { cwd: repo })
  await run('a folder that is taken', [...dry, '--name', 'y', '--dir', '.'], { cwd: repo })
  await run('no client to start', ['bootstrap', '--reviewer', 'checklist', '--name', 'y'], { cwd: repo })
  await run('no key for the reviewer', ['bootstrap', '--no-launch', '--reviewer', 'curl', '--name', 'y'], { cwd: repo })
  await run('nobody to review', ['bootstrap', '--no-launch', '--name', 'y'], { cwd: repo })
}

/** Setup commands, files that are copied, and a client that is started. */
async function launching({ folder, run }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), {
    ...files,
    '.gitignore': 'local.env\n',
    '.worktreeinclude': 'local.env\n',
    'plan-gate.yaml': 'worktree:\n  setup: [echo ready, "true"]\n',
  })
  write(repo, { 'local.env': 'A=1\n' })
  const programs = fakePrograms(folder, {
    claude: 'case "$1" in --version) echo "2.1.300 (Claude Code)" ;; *) exit 7 ;; esac',
  })
  const args = ['bootstrap', 'docs/strategy.md', '--reviewer', 'checklist', '--json', '--', '--model', 'opus']
  await run('a client that is started', args, { cwd: repo, programs })
  await run('with a client on PATH', ['doctor'], { cwd: `${repo}-strategy`, programs })
  const failing = 'worktree:\n  setup: [exit 3]\n'
  commit(repo, { 'plan-gate.yaml': failing })
  const failed = ['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'y']
  await run('a setup command that fails', failed, { cwd: repo })
  await run('without the setup commands', [...failed, '--no-setup'], { cwd: repo })
}

async function installing({ folder, run }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), files)
  const here = { cwd: repo }
  await run('a dry run', ['install', '--dry-run', '--reviewer', 'checklist'], here)
  await run('for the first time', ['install', '--reviewer', 'checklist'], here)
  await run('once more', ['install', '--reviewer', 'checklist'], here)
  await run('a dry run where it is installed', ['install', '--dry-run', '--reviewer', 'checklist'], here)
  await run('for a team, a dry run', ['install', '--dry-run', '--reviewer', 'checklist', '--track'], here)
  await startSession(repo)
  await run('with a session', ['status'], here)
  await run('with a session', ['doctor'], here)
  await ask(repo, 'Write', { file_path: join(repo, 'src/app.ts'), content: '' })
  await ask(repo, 'Bash', { command: 'rm -rf src && git push' })
  await ask(repo, 'mcp__shop__sell', { what: 'all' })
  await run('with denials', ['status'], here)
  await run('with denials', ['log'], here)
  await run('with denials and nothing else', ['report'], here)
  write(repo, { 'by-hand.txt': '', 'src/app.ts': 'export const one = 1\n' })
  rmSync(join(repo, 'docs/strategy.md'))
  await run('three files', ['drift'], here)
  git(repo, 'commit', '--quiet', '--allow-empty', '--message', 'Moved')
  await run('three files and a commit', ['drift', 'show'], here)
  git(repo, 'config', 'core.pager', 'less -R')
  await run('three files, a commit and a setting of git', ['drift'], here)
  await run('a setting of git that runs a program', ['explain', 'git log'], here)
  await run('three files, a commit and a setting of git', ['drift', 'accept'], here)
  await run('after it was accepted', ['drift'], here)
  await run('after drift', ['log'], here)
  await savePlan(repo, planText({ approach: 'TODO' }))
  await run('a plan that is not complete', ['status'], here)
  await run('a plan that is not complete', ['explain', '--plan'], here)
  await savePlan(repo, planText({ changes: manyChanges }))
  await run('many changes', ['explain', '--plan'], here)
  await savePlan(repo, planText())
  await run('approved by the checklist', ['status'], here)
  await run('approved by the checklist', ['doctor'], here)
  await run('approved by the checklist', ['drift'], here)
  rmSync(join(repo, '.claude/skills/plan-with-review/SKILL.md'))
  writeFileSync(join(repo, '.claude/hooks/plan-gate/session-events.mjs.br'), '// altered\n')
  write(repo, { '.claude/settings.local.json': '{"disableAllHooks": true}\n' })
  await run('with files that are gone, altered and switch the gate off', ['doctor'], here)
  await run('with files that are gone, altered and switch the gate off', ['install', '--reviewer', 'checklist'], here)
  rmSync(join(repo, '.claude/settings.local.json'))
  await run('with files that are gone and altered', ['uninstall'], here)
  await run('where it is not installed', ['uninstall'], here)
  await run('nobody to review', ['install'], here)
  write(repo, { '.claude/settings.json': '[]\n' })
  await run('settings that are no settings', ['install', '--reviewer', 'checklist'], here)
  await run('settings that are no settings', ['doctor'], here)
}

/** A plan from its first revision to its last, and what the record says of it. */
async function reviewing(scene: Scene): Promise<void> {
  const { folder, run } = scene
  const repo = makeRepo(join(folder, 'shop'), { ...files, 'plan-gate.yaml': hounfour })
  const { programs, env, answers } = fakeReviewer(folder)
  const here = { cwd: repo, programs }
  const look = async (title: string, ...names: readonly string[]): Promise<void> => {
    for (const name of names) await run(title, name.split(' '), here)
  }
  await run('a reviewer that is a program', ['install'], here)
  await look('before the first revision', 'status', 'routes', 'config', 'doctor', 'findings')
  await run('before the first revision', ['waive', 'F1', '--reason', 'It can wait.'], here)

  answers(
    says('CHANGES_REQUIRED', {
      findings: [
        finding('It is unclear.'),
        finding('The test is missing.', { severity: 'minor', section: '## Risks' }),
      ],
    }),
  )
  await savePlan(repo, planText(), env)
  await look('the first revision is sent back', 'status', 'log', 'verify', 'diff', 'diff v1', 'report', 'continue')

  answers({ exitCode: 1, stderr: '{"code":"PROVIDER_UNAVAILABLE","message":"The model is away."}' })
  await savePlan(repo, planText({ approach: 'Change the line, and the test.' }), env)
  await look('the reviewer could not answer', 'status', 'log -n 2', 'diff')

  answers(
    says('DECISION_NEEDED', {
      question: 'Which language shall it greet in?',
      findings: [finding('It is unclear.', { id: 'F1' }), finding('Nobody said so.', { severity: 'critical' })],
      previous: [{ id: 'F2', status: 'fixed', reason: 'The test is there.' }],
    }),
  )
  await savePlan(repo, planText({ approach: 'Change the line, and the test of it.' }), env)
  await look('the second revision leaves a decision', 'status', 'diff v1 v2', 'diff 2 1', 'diff v1', 'diff v9')

  const unclear = finding('It is unclear.', { id: 'F1', severity: 'advice' })
  answers(says('CHANGES_REQUIRED', { findings: [unclear], previous: [{ ...fixed('F3'), status: 'not_fixed' }] }))
  await savePlan(repo, planText({ approach: 'Change the line to hello.' }), env)
  await savePlan(repo, planText({ approach: 'Change the line to hello at last.' }), env)
  await look('the limit is reached', 'status', 'log', 'continue', 'continue', 'status', 'verify', 'diff v3')
  await run('not approved', ['verify', '--export', 'approval.json'], here)

  const rejected = { id: 'F1', status: 'rejected', reason: 'It was clear.' }
  answers(says('APPROVED', { previous: [rejected, fixed('F3')] }))
  await savePlan(repo, planText({ approach: 'Change the line to hello, with a test.' }), env)
  await look('the fourth revision is approved', 'status', 'log -n 3', 'verify', 'diff', 'diff v1 v4', 'report', 'drift')
  await run('approved already', ['approve', '--force', '--reason', 'Because.'], here)
  await exporting(scene, repo)

  write(repo, { 'docs/plan.md': '# Mine\n' })
  await look('changed after its approval', 'status', 'verify', 'diff', 'explain --plan')
  await run('past the reviewer', ['approve', '--force', '--reason', 'F2 is accepted.'], here)
  await look('approved by hand', 'status', 'log -n 5', 'verify')
  await run('approved by hand', ['verify', '--export', 'by-hand.json'], here)
  await run('an approval by hand will not do', verifyArgs('--approval', 'by-hand.json', '--no-manual'), here)

  answers(says('CHANGES_REQUIRED', { findings: [finding('It is another plan.')] }))
  await savePlan(repo, planText({ goal: 'It prints goodbye.' }), env)
  await look('a second and a third cycle', 'status', 'log', 'verify', 'report', 'diff', 'findings', 'findings --open')
  await look('a second and a third cycle', 'findings --late', 'waive F99 --reason Because.')
  await appendEvent(repo, { type: 'thread-started', thread })
  write(repo, { '.claude/review/progress.json': progress(), '.claude/review/codex_thread_id': `${thread}\n` })
  await look('a review that is running', 'status', 'report')
  rmSync(join(repo, '.claude/review/progress.json'))
  const last = JSON.parse(readFileSync(join(repo, '.claude/review/plan_v1.codex.json'), 'utf8')) as {
    findings: { id: string }[]
  }
  const id = last.findings[0]?.id ?? ''
  await look(
    'what holds the plan up',
    `waive ${id}`,
    `waive ${id} --reason Because.`,
    'findings',
    'status',
    `waive ${id} --undo`,
  )
  await keepingRecord(scene, repo, programs)
}

const thread = '01234567-89ab-4cde-8f01-23456789abcd'

/** A review that this very process is at. */
const progress = (sign?: string): string => {
  const [now, later] = [new Date().toISOString(), new Date(Date.now() + 540_000).toISOString()]
  const running = { pass: 1, passes: 3, backend: 'codex', started_at: now, deadline_at: later, revision: 1 }
  return JSON.stringify({ ...running, pid: process.pid, does: 'plan', ...(sign === undefined ? {} : { sign }) })
}

const verifyArgs = (...more: readonly string[]): string[] => ['verify', '--plan', 'docs/plan.md', ...more]

/** The approval as files, and what they prove. */
async function exporting({ run }: Scene, repo: string): Promise<void> {
  const here = { cwd: repo }
  const approval = ['--approval', 'docs/plan.approval.json']
  const ledger = ['--ledger', 'docs/plan.events.jsonl']
  await run('with the ledger', ['verify', '--export', 'docs/plan.approval.json', ...ledger], here)
  await run('into no folder', ['verify', '--export', 'nowhere/approval.json'], here)
  const args = verifyArgs(...approval)
  await run('the files', args, here)
  await run('the files and the ledger', [...args, ...ledger, '--no-manual'], here)
  commit(repo, { 'src/app.ts': 'console.log("hello")\n', 'src/more.ts': 'export {}\n' })
  await run('the files and the changes', [...args, '--base', 'HEAD~1'], here)
  await run('the files and the changes, strictly', [...args, '--base', 'HEAD~1', '--strict-scope'], here)
  await run('a base that is not there', [...args, '--base', 'nowhere'], here)
  await run('an approval that is not there', verifyArgs('--approval', 'none.json'), here)
  await run('a plan that is not there', ['verify', '--plan', 'none.md', ...approval], here)
  await run('a plan without an approval', verifyArgs(), here)
  await run('flags that need a plan', ['verify', '--no-manual', '--base', 'HEAD', '--strict-scope'], here)
  await run('another plan', ['verify', '--plan', 'docs/design.md', ...approval], here)
  write(repo, { 'wrong.json': '{"plan_hash": 1}\n', 'wrong.jsonl': '{"seq":1}\n' })
  await run('an approval that is none', verifyArgs('--approval', 'wrong.json'), here)
  await run('a ledger that is none', [...args, '--ledger', 'wrong.jsonl'], here)
}

/** What is left of a record that was damaged, and of one that was kept. */
async function keepingRecord({ run }: Scene, repo: string, programs: string): Promise<void> {
  const here = { cwd: repo, programs }
  const ledger = join(repo, '.claude/review/events.jsonl')
  const intact = readFileSync(ledger, 'utf8')
  writeFileSync(ledger, intact.replace('"type":"reviewed","prev"', '"type":"reviewed","other":1,"prev"'))
  for (const name of ['status', 'verify', 'log', 'report'])
    await run('a ledger that was changed', name === 'log' ? ['log', '-n', '2'] : [name], here)
  writeFileSync(ledger, `${intact}{"seq":`)
  for (const name of ['verify', 'log']) await run('a ledger with half a line', [name], here)
  writeFileSync(ledger, intact)
  write(repo, { '.claude/review/plan_v1.snapshot.md': '# Another\n' })
  await run('a revision that was changed', ['verify'], here)
  await run('reviews that are kept', ['uninstall', '--keep-reviews', '../kept'], here)
  await run('after it was taken out', ['status'], here)
  await run('reviews that were kept', ['report', '--from', '../kept'], here)
  await run('reviews that are not there', ['report', '--from', '../none'], here)
  await run('a folder without reviews', ['report', '--from', '..'], here)
}

/** `plan-gate review` of what is no plan of the gate. */
async function reviewingOther({ folder, run }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), { ...files, 'plan-gate.yaml': hounfour, 'docs/plan.md': planText() })
  const { programs, answers } = fakeReviewer(folder)
  const here = { cwd: repo, programs }
  const diff = ['review', '--diff']
  const design = ['review', '--type', 'sdd', '--content', 'docs/design.md']
  await run('nothing differs', diff, here)
  write(repo, { 'src/app.ts': 'export const one = 1\n', 'src/new.ts': 'export const two = 2\n' })
  const twice = [finding('It is one.', { section: 'src/app.ts:1' }), finding('Why two?', { severity: 'minor' })]
  answers(says('CHANGES_REQUIRED', { findings: twice }))
  await run('a change', [...diff, '--output', 'review.json'], here)
  const settled = [
    { id: 'F1', status: 'fixed', reason: 'It is two now.' },
    { id: 'F2', status: 'rejected', reason: 'It has to be.' },
  ]
  answers(says('APPROVED', { previous: settled }))
  await run('a change, again', [...diff, 'HEAD', '--previous', 'review.json'], here)
  answers(says('CHANGES_REQUIRED', { findings: [finding('It is one.', { id: 'F1' })] }))
  await run('a change, and only a part of it is settled', [...diff, '--previous', 'review.json'], here)
  await run('reviewed too often', [...diff, '--iteration', '4'], here)
  answers(says('DECISION_NEEDED', { question: 'Which of both?' }))
  await run('a decision', [...design, '--fast'], here)
  const hard = says('CHANGES_REQUIRED', { risks: 9, findings: [finding('It is one.')] })
  answers(hard, hard, says('APPROVED'))
  await run('three passes', [...design, '--context', 'docs/strategy.md', '--expertise', 'docs/strategy.md'], here)
  answers(says('APPROVED'))
  await run('the plan', ['review', '--type', 'plan', '--tool-access', '--timeout', '60'], here)
  for (const type of ['prd', 'sprint', 'code']) {
    answers(says('APPROVED'))
    await run(`of the type ${type}`, ['review', '--type', type, '--content', 'docs/design.md'], here)
  }
  const failures: readonly [string, Failure][] = [
    ['no credentials', { exitCode: 4, stderr: '{"code":"MISSING_API_KEY","message":"There is no key."}' }],
    ['out of time', { exitCode: 3, stderr: '{"code":"TIMEOUT","message":"It took too long."}' }],
    ['no quota', { exitCode: 6, stderr: '{"code":"BUDGET_EXCEEDED","message":"The budget is used up."}' }],
    ['a text that is too long', { exitCode: 7, stderr: '{"code":"CONTEXT_TOO_LARGE","message":"Too long."}' }],
    ['a reviewer that fails', { exitCode: 1, stderr: 'Something went wrong.' }],
  ]
  for (const [title, failure] of failures) {
    answers(failure)
    await run(title, design, here)
  }
  answers({ verdict: 'PERHAPS' })
  await run('an answer without a verdict', design, here)
  await run('no program', design, { cwd: repo })
  const wrong = [
    ['review'],
    ['review', '--type', 'poem', '--content', 'docs/design.md'],
    ['review', '--type', 'sdd'],
    ['review', '--type', 'sdd', '--content', 'docs/none.md'],
    [...design, '--diff'],
    [...design, '--timeout', 'soon'],
    [...design, '--iteration', '0'],
    [...design, '--output', 'docs/design.md'],
    [...design, '--output', 'nowhere/review.json'],
    [...design, '--previous', 'docs/strategy.md'],
    [...design, '--expertise', '-', '--context', '-'],
    [...diff, 'nowhere'],
  ]
  for (const args of wrong) await run('what cannot be reviewed', args, here)
  write(repo, { 'plan-gate.yaml': 'review:\n  routes:\n    - {backend: checklist, when: [always]}\n' })
  await run('by the checklist', diff, here)
  write(repo, { 'docs/todo.md': '# Words\n\n## Greeting\n\nTODO\n\n## Changes\n\n- `src/none.ts`: TBD\n' })
  for (const type of ['plan', 'prd', 'code'])
    await run('by the checklist', ['review', '--type', type, '--content', 'docs/todo.md'], here)
  const env = { PLAN_GATE_FAST: 'perhaps', PLAN_GATE_TIMEOUT: '0' }
  await run('with variables that make no sense', ['review', '--type', 'plan'], { ...here, env })
  write(repo, { 'plan-gate.yaml': 'review:\n  phases:\n    sdd: false\n' })
  await run('switched off', design, here)
  write(repo, { 'plan-gate.yaml': 'review:\n  enabled: false\n' })
  await run('switched off altogether', diff, here)
  rmSync(join(repo, 'plan-gate.yaml'))
  await run('nobody to ask', design, { cwd: repo })
}

async function finishing({ folder, run }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), { ...files, '.gitignore': 'ignored/\n' })
  const open = async (name: string): Promise<string> => {
    await started(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', name, '--json'], { cwd: repo })
    return `${repo}-${name}`
  }
  const x = await open('x')
  await run('nothing is in the way', ['finish', '--dry-run'], { cwd: x })
  await run('in the main checkout', ['finish', '--dry-run'], { cwd: repo })
  await run('a folder that is no worktree', ['finish', '--dry-run', 'src'], { cwd: repo })
  commit(x, { 'src/work.ts': 'export {}\n' })
  write(x, { 'ignored/a.txt': '', 'uncommitted.txt': '' })
  git(x, 'worktree', 'lock', '--reason', 'Not yet.', x)
  await startSession(x)
  write(x, { '.claude/review/progress.json': progress() })
  const program = spawn('sleep', ['60'], { cwd: x, stdio: 'ignore' })
  await run('all is in the way', ['finish', '--dry-run'], { cwd: x })
  await run('all is in the way', ['finish'], { cwd: x })
  await run('some of it may be lost', ['finish', '--dry-run', '--discard', 'uncommitted'], { cwd: x })
  program.kill()
  await once(program, 'exit')
  rmSync(join(x, '.claude/review/progress.json'))
  git(x, 'worktree', 'unlock', x)
  await run('unmerged', ['finish', '--discard', 'uncommitted'], { cwd: x })
  rmSync(join(x, 'uncommitted.txt'))
  git(repo, 'merge', '--quiet', 'plan/x')
  await run('a session', ['finish'], { cwd: x })
  rmSync(join(x, '.claude/review/sessions'), { recursive: true })
  git(x, 'switch', '--quiet', '--detach')
  await run('on no branch', ['finish', '--dry-run'], { cwd: x })
  git(x, 'switch', '--quiet', 'plan/x')
  await run('merged', ['finish', '--archive', '../archive'], { cwd: x })
  await run('finished already', ['finish', '../shop-x'], { cwd: repo })
  const y = await open('y')
  commit(y, { 'src/y.ts': 'export {}\n' })
  const keeping = ['finish', '../shop-y', '--keep-branch', '--archive']
  await run('an archive that is taken', [...keeping, '../archive'], { cwd: repo })
  await run('the branch is kept', [...keeping, '../archive-y'], { cwd: repo })
  const z = await open('z')
  commit(z, { 'src/z.ts': 'export {}\n' })
  write(z, { 'uncommitted.txt': '' })
  const both = ['--discard', 'unmerged', '--discard', 'uncommitted']
  await run('both are lost', ['finish', '../shop-z', ...both], { cwd: repo })
  await run('an archive', ['report', '--from', '../archive'], { cwd: repo })
}

const wrongConfigs: { readonly [title: string]: string } = {
  'keys that are not known': 'plan:\n  max_revision: 3\nreviews:\n  fast: true\nworktree:\n  Setup: []\n',
  'values of the wrong kind':
    'plan:\n  max_revisions: many\n  deadline_seconds: [1]\nreview:\n  fast: 1\n  models: x\n',
  'numbers out of bounds': 'plan:\n  max_revisions: 0\nreview:\n  timeout_seconds: 1e9\nreflect:\n  max_calls: -1\n',
  'words that are no choice':
    'plan:\n  exit_plan_mode: maybe\ngate:\n  scope: asks\nreview:\n  execution_mode: Codex\n',
  'expressions that are none':
    'review:\n  redaction:\n    patterns: ["(", "a{2,1}"]\ngate:\n  tools:\n    allow: ["a b"]\n',
  'commands that cannot be allowed': 'gate:\n  bash:\n    allow: ["rm -rf", "a | b", "git log"]\n',
  'routes that are none': 'review:\n  routes:\n    - {backend: codec, when: []}\n    - {when: [always]}\n    - curl\n',
  'conditions that are not known': 'review:\n  routes:\n    - {backend: curl, when: [alway]}\n',
  'a version that is too new': 'review:\n  route_schema: 2\n',
  'a key twice': 'plan:\n  max_revisions: 1\n  max_revisions: 2\n',
  'an older name beside the current one': 'gpt_review:\n  fast: true\nreview:\n  fast: false\n',
  'a bracket that is not closed': 'plan: {max_revisions: 1\nreview:\n  fast: true\n',
  'a quote that is not closed': 'review:\n  models:\n    code: "gpt\n',
  'a tab': 'plan:\n\tmax_revisions: 1\n',
  'no mapping': '- plan\n- review\n',
  'an anchor and a tag': 'plan: &a\n  max_revisions: !!int 3\nreview: *b\n',
}

const soundConfigs: { readonly [title: string]: string } = {
  'an empty file': '',
  'empty blocks': 'plan:\ngate:\n  bash:\nreview:\n',
  'an older name': 'gpt_review:\n  pass_budgets:\n    pass1_output: 5000\n',
  'routes of its own': `review:
  execution_mode: codex
  routes:
    - {backend: curl, when: [openai_key_set], timeout: 30, retries: 2}
    - {backend: codex, when: [codex_available], capabilities: [multi_pass, tool_access, flying], fail_mode: hard_fail}
    - {backend: curl, when: [always], fail_mode: perhaps}
    - {backend: checklist, when: [always], capabilities: [basic]}
`,
  'only curl': 'review:\n  execution_mode: curl\n',
  'every block': `plan: {max_revisions: 2, deadline_seconds: 60, exit_plan_mode: off, required_sections: [Goal], max_bytes: 5000}
gate:
  bash: {allow: [kubectl get, npm ls], compound: false}
  tools: {allow: ["mcp__docs__*"]}
  scope: ask
review:
  reasoning_mode: single-pass
  models: {documents: gpt-x, plan: gpt-y}
  policy: {require_custom_routes_opt_in: true}
  redaction: {patterns: ["corp-[0-9a-f]{32}"]}
  sensitive_files: ["*.secret"]
hounfour: {flatline_routing: true, model_invoke: ./model, agent: me}
reflect: {enabled: true, model: gpt-z, traceability: blocking, max_tokens: 1000}
worktree: {setup: [npm ci], dir: "../work-{name}", base: main}
`,
}

async function configuring({ folder, run }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), files)
  const cwd = repo
  for (const [title, config] of Object.entries(wrongConfigs)) {
    write(repo, { 'plan-gate.yaml': config })
    await run(title, ['config'], { cwd })
    if (/routes|conditions/.test(title)) await run(title, ['routes', '--config', 'plan-gate.yaml'], { cwd })
  }
  write(repo, { 'plan-gate.yaml': Object.values(wrongConfigs).slice(0, 1).join('') })
  const others = [['status'], ['doctor'], ['routes'], ['explain', 'ls']]
  const more = [['review', '--type', 'plan'], ['continue'], ['install', '--reviewer', 'checklist'], ['bootstrap']]
  for (const args of [...others, ...more]) await run('a plan-gate.yaml that is not valid', args, { cwd })
  for (const [title, config] of Object.entries(soundConfigs)) {
    write(repo, { 'plan-gate.yaml': config })
    await run(title, ['config'], { cwd })
    await run(title, ['routes'], { cwd })
  }
  await run('a command that is allowed besides', ['explain', 'kubectl get pods'], { cwd })
  await run('a command of two parts where none is allowed', ['explain', 'ls | head'], { cwd })
  await run('a missing file', ['routes', '--config', 'none.yaml'], { cwd })
  rmSync(join(repo, 'plan-gate.yaml'))
  mkdirSync(join(repo, 'plan-gate.yaml'))
  await run('a folder', ['config'], { cwd })
  rmSync(join(repo, 'plan-gate.yaml'), { recursive: true })
  write(folder, { 'own.yaml': soundConfigs['routes of its own'] ?? '' })
  await run('in CI', ['routes', '--config', '../own.yaml'], { cwd, env: { CI: 'true' } })
  const allowed = { CI: 'true', PLAN_GATE_CUSTOM_ROUTES: '1', OPENAI_API_KEY: ['a', 'key'].join('-') }
  await run('in CI where it is allowed', ['routes', '--config', '../own.yaml'], { cwd, env: allowed })
  await run('the template', ['config', '--template'], { cwd })
}

const commandLines = [
  // Reading.
  ...['ls -la', 'cat src/app.ts', 'head -n 5 src/app.ts | wc -l', 'rg -n "a|b" src'],
  ...['grep -rn alpha . | sort | uniq -c', 'find . -name "*.ts" -type f', 'git status', 'git log --oneline -n 3'],
  ...['git diff HEAD~1 -- src', 'git show HEAD:a', 'git branch --list', 'git remote -v', 'jq .a x.json'],
  ...['sed -n 1,5p a.txt', 'echo "a b" && pwd', 'tree -L 2', 'du -sh .', 'git blame -L 1,3 src/app.ts'],
  ...['sort list.txt', 'ls; ls; ls', 'cat < src/app.ts', 'ls 2>/dev/null', 'wc -l *.ts'],
  // Writing and removing.
  ...['rm -rf /', 'rm src/app.ts', 'touch a', 'mkdir a', 'cp a b', 'mv a b', 'ln -s a b', 'chmod +x a'],
  ...['dd if=a of=b', 'echo a > src/app.ts', 'echo a >> b', 'cat a | tee b', 'sed -i s/a/b/ a.txt'],
  ...['sed "s/a/b/w out" a', 'sort -o a b', 'find . -delete', 'find . -exec rm {} +', 'find . -fprint out.txt'],
  ...['truncate -s 0 a', 'patch < a.diff'],
  // Git.
  ...['git add -A', 'git commit -m x', 'git push', 'git checkout main', 'git switch -c x', 'git branch -D x'],
  ...['git stash', 'git reset --hard', 'git clean -fdx', 'git tag v1', 'git tag -d v1', 'git config a.b c'],
  ...['git config --get a.b', 'git -c core.pager=./x log', 'git -C .. status', 'git log --output=x'],
  ...['git diff --ext-diff', 'git worktree add ../y', 'git remote add x y', 'git grep -O./x a'],
  ...['git symbolic-ref HEAD refs/heads/x', 'git reflog expire --all', 'git frob'],
  // Programs that run others.
  ...['bash -c ls', 'sh x.sh', './x', 'node -e 1', 'python3 x.py', 'npm test', 'npx tsc', 'make', 'env ls'],
  ...['sudo ls', 'xargs rm < list', 'time ls', 'nohup ls', 'eval ls', 'source x', '. ./x', 'exec ls', 'command ls'],
  ...['awk 1 a', 'perl -e 1', 'curl https://example.com', 'wget x', 'ssh host', 'docker ps', 'kubectl get pods'],
  ...['vim a', 'less a', 'frobnicate'],
  // Signs of the shell.
  ...['ls $(rm a)', 'ls `rm a`', 'ls $HOME', 'ls ~', 'ls ~/x', 'ls &', 'ls && rm a', 'ls || rm a', 'ls | rm a'],
  ...['ls |& cat', '(ls)', '{ ls; }', 'if true; then ls; fi', 'for a in b; do ls; done', 'A=1 ls', 'PATH=. ls'],
  ...['a() { ls; }', '! ls', 'ls # a', 'ls \\\n-la', 'ls\nrm a', 'cat <<E\na\nE', 'cat <<< a', 'diff <(ls) <(ls)'],
  ...['[[ -f a ]]', '((1))', 'ls {a,b}', 'ls "', "ls '", 'ls |', '&& ls', 'ls >', '>a', '=ls', 'ls\u00a0-la'],
  ...['ls \u202e', '\\ls', '"ls"', "l's'", ' ls ', '', `cat ${'a'.repeat(3000)}`, 'cat .env', 'cat ~/.ssh/id_rsa'],
  ...['cat .claude/review/approval.json', 'rm .claude/settings.json'],
]

async function explaining({ folder, run }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), files)
  const stdin = commandLines.map((command) => `${JSON.stringify({ command })}\n`).join('')
  await run('many command lines', ['explain', '--stdin'], { cwd: repo, stdin })
  await run('outside of a repository', ['explain', '--stdin'], {
    cwd: folder,
    stdin: '{"command":"ls"}\n\n{"command":"rm a"}',
  })
  await run('a line that is no JSON', ['explain', '--stdin'], { cwd: repo, stdin: '{"command":"ls"}\nls\n' })
  await run('a line without a command', ['explain', '--stdin'], { cwd: repo, stdin: '{"cmd":"ls"}\n' })
  await run('no command', ['explain'], { cwd: repo })
}

async function wrongly({ folder, run }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), files)
  const outside = join(folder, 'outside')
  mkdirSync(outside)
  for (const name of commands)
    await run('a flag that is not known', [name, '--no-such-flag'], { cwd: repo, file: 'errors' })
  for (const name of ['diff', 'finish', 'status'])
    await run('too many arguments', [name, 'a', 'b', 'c'], { cwd: repo, file: 'errors' })
  const wrong = [
    ...['statsu', 'frobnicate', 'Status', '--no-such-flag', 'help statsu', 'status --jsn', 'install --reviewer codec'],
    ...['bootstrap --reviewer nobody', 'drift show-all', 'completion tcsh', 'finish --discard all', 'log -n'],
    ...['log -n x', 'log --last 0', 'diff vx', 'diff 0', 'report --output - --open', 'schema statsu'],
    ...['review --timeout'],
  ]
  for (const args of wrong) await run('what is not understood', args.split(' '), { cwd: repo, file: 'errors' })
  const anywhere = ['schema', 'completion', 'demo']
  for (const name of commands.filter((each) => !anywhere.includes(each))) {
    const more: { readonly [name: string]: readonly string[] } = {
      bootstrap: ['--no-launch', '--reviewer', 'checklist'],
      approve: ['--force', '--reason', 'Because.'],
      explain: ['--plan'],
      install: ['--reviewer', 'checklist'],
      review: ['--diff'],
    }
    await run('outside of a repository', [name, ...(more[name] ?? [])], { cwd: outside, file: 'errors' })
  }
  await run('outside of a repository', ['explain', 'git log'], { cwd: outside, file: 'errors' })
  const bare = join(folder, 'bare.git')
  git(folder, 'init', '--quiet', '--bare', bare)
  await run('in a bare repository', ['status'], { cwd: bare, file: 'errors' })
  await run('in a bare repository', ['install', '--reviewer', 'checklist'], { cwd: bare, file: 'errors' })
  const empty = join(folder, 'empty')
  git(folder, 'init', '--quiet', empty)
  await run('in a repository without a commit', ['status'], { cwd: empty, file: 'errors' })
  const args = ['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x']
  await run('in a repository without a commit', args, { cwd: empty, file: 'errors' })
}

/** The reviewer is a program that approves everything. */
async function calibrating({ folder, run }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), { ...files, 'plan-gate.yaml': hounfour })
  const reviewer = fakeReviewer(folder)
  reviewer.answers(says('APPROVED'))
  // What its passes take is kept in its home, and tells the next run what to expect.
  const here = { cwd: repo, programs: reviewer.programs, env: { HOME: folder } }
  const small = ['calibrate', '--plans', '1', '--repeat', '1', '--classes', 'rollback-removed']
  await run('a dry run', ['calibrate', '--dry-run'], here)
  await run('a dry run on changes to code', ['calibrate', '--diff', '--dry-run', '--only-shipped'], here)
  await run('without consent', small, here)
  await run('a measurement', [...small, '--yes'], here)
  await run('a class that is not there', ['calibrate', '--classes', 'rollback'], here)
  await run('a row that is not there', ['calibrate', '--routes', 'codex'], here)
  await run('nothing of its own', ['calibrate', '--only-own'], here)
}

async function describing({ folder, run }: Scene): Promise<void> {
  const cwd = folder
  await run('the list', ['schema'], { cwd })
  await run('one of them', ['schema', 'error'], { cwd })
  await run('the commands', ['completion'], { cwd })
  await run('the same with a shell', ['completion', 'bash'], { cwd })
}

async function demonstrating({ folder, run }: Scene): Promise<void> {
  const env = { TMPDIR: folder }
  await run('a throwaway repository', ['demo'], { cwd: folder, env })
  await run('a repository that is kept', ['demo', '--keep'], { cwd: folder, env })
}

/**
 * `watch` tells what it finds at each look, so it must not look while half of something has happened, nor be stopped in
 * the middle of a look. It looks once a second, and soon after files have changed. Here it is stopped between two looks,
 * until the next one is due; that one comes as soon as it goes on, and finds all that has happened.
 */
async function watching({ folder, keep }: Scene): Promise<void> {
  const repo = makeRepo(join(folder, 'shop'), { ...files, 'plan-gate.yaml': hounfour })
  const { programs, env, answers } = fakeReviewer(folder)
  await started(['install', '--json'], { cwd: repo, programs })
  const args = ['watch', '--json']
  const watch = startCli(args, { cwd: repo })
  const closed = once(watch, 'close') as Promise<[number | null]>
  let printed = ''
  watch.stdout.setEncoding('utf8').on('data', (piece: string) => {
    printed += piece
  })
  const told = async (pattern: RegExp, from: number): Promise<void> => {
    const giveUpAt = Date.now() + 20_000
    while (!pattern.test(printed.slice(from))) {
      if (Date.now() > giveUpAt) throw new Error(`watch has not told ${pattern}, only\n${printed}`)
      await sleep(20)
    }
  }
  // The last look was at this time, or at most so much later.
  let [lookedAt, later] = [0, 0]
  const betweenLooks = async (): Promise<void> => {
    const sinceLook = (): number => (Date.now() - lookedAt) % 1_000
    do await sleep(50)
    while (sinceLook() < 250 + later || sinceLook() > 850)
  }
  /** The pattern is that of the last line about it. */
  const happens = async (act: () => Promise<void> | void, pattern: RegExp): Promise<void> => {
    await betweenLooks()
    watch.kill('SIGSTOP')
    const from = printed.length
    await act()
    await sleep(1_100)
    lookedAt = Date.now()
    watch.kill('SIGCONT')
    await told(pattern, from)
    later = Math.min(500, Date.now() - lookedAt)
  }
  try {
    await told(/"kind":"missing"/, 0)
    lookedAt = Date.now()
    await happens(() => write(repo, { 'docs/plan.md': '# Plan\n' }), /not approved yet/)
    await happens(() => ask(repo, 'Bash', { command: 'rm -rf src' }), /"happening":"denial"/)
    await happens(() => write(repo, { '.claude/review/progress.json': progress('reads') }), /"happening":"sign"/)
    rmSync(join(repo, '.claude/review/progress.json'))
    answers(says('CHANGES_REQUIRED', { findings: [finding('It is unclear.'), finding('It is long.')] }))
    await happens(() => savePlan(repo, planText(), env), /"id":"F2"/)
    answers(says('APPROVED', { previous: [fixed('F1'), fixed('F2')] }))
    await happens(() => savePlan(repo, planText({ approach: 'Say hello.' }), env), /"open":true/)
    await happens(() => write(repo, { 'docs/plan.md': '# Mine\n' }), /has changed since/)
    await happens(() => rmSync(join(repo, '.claude/review'), { recursive: true }), /"happening":"gate"/)
  } finally {
    watch.kill('SIGCONT')
    watch.kill('SIGTERM')
  }
  const [exitCode] = await closed
  keep('what happens from the first plan to its approval', args, exitCode, printed)
}

/** In this order they stand in the golden files. The longest are started first. */
const scenes: readonly ((scene: Scene) => Promise<void>)[] = [
  ...[watching, reviewing, opening, installing, wrongly, reviewingOther, configuring, finishing, launching],
  ...[demonstrating, calibrating, describing, explaining],
]

/** A few at a time: mostly they wait for a process of their own. */
const atATime = 3

async function playAll(folder: string): Promise<readonly Kept[]> {
  const kept: (readonly Kept[])[] = []
  const waiting = [...scenes.entries()]
  const playNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, play] = next
      const scene = sceneIn(join(folder, play.name))
      mkdirSync(scene.folder)
      await play(scene)
      kept[index] = scene.kept
    }
  }
  await Promise.all(Array.from({ length: atATime }, playNext))
  return kept.flat()
}

const scenesFolder = realpathSync(mkdtempSync(join(tmpdir(), 'plan-gate-golden-')))

beforeAll(async () => {
  for (const { name, output } of await playAll(scenesFolder)) golden(name).push(output)
  if (update === '') return
  mkdirSync(goldenFolder, { recursive: true })
  for (const name of goldenNames) {
    writeFileSync(join(goldenFolder, `${name}.json`), wholeFile(name))
    if (update === 'shape') writeFileSync(join(goldenFolder, `${name}.shape.json`), shapeFile(name))
  }
}, 240_000)

afterAll(() => rmSync(scenesFolder, { recursive: true, force: true, maxRetries: 5 }))

const fileOf = (name: string): string => readFileSync(join(goldenFolder, name), 'utf8')

describe('what is printed with --json has kept its shape', () => {
  it.each(goldenNames)('%s', (name) => {
    expect(shapeFile(name)).toBe(fileOf(`${name}.shape.json`))
  })
})

describe('what is printed with --json is what it was', () => {
  it.each(goldenNames)('%s', (name) => {
    expect(wholeFile(name)).toBe(fileOf(`${name}.json`))
  })

  it('and there are no other files', () => {
    expect(readdirSync(goldenFolder).sort()).toEqual(
      goldenNames.flatMap((name) => [`${name}.json`, `${name}.shape.json`]).sort(),
    )
  })
})
