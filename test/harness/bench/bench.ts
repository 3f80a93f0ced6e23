import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { markSession, wrapperPath } from '../../../src/gate/sandbox/rules.ts'
import { harmlessTools } from '../../../src/gate/tools.ts'
import { pluginHooks } from '../../../src/install/hook-entries.ts'
import { shellWord } from '../../../src/text/own-commands.ts'
import { codexBinary, ensureClients } from '../../support/claude-clients.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { hookArgs } from '../../support/hook-args.ts'
import { benchBootstrap, benchReport } from './bench-commands.ts'
import { benchFollow } from './bench-follow.ts'
import { benchMemory, type MemoryRow } from './bench-memory.ts'
import { benchPeers } from './bench-peers.ts'
import { benchPlanWrite } from './bench-plan-write.ts'
import { benchSandbox } from './bench-sandbox.ts'
import { type Measured, measure, type Program, round } from './measure.ts'

/**
 * `npm run bench [-- --json] [--runs N] [--quick] [--peers]`: how long a person waits for plan-gate, against what it stands
 * on. Ends with 1 where a bar is missed. `npm run bench` has built what is measured.
 */
const json = process.argv.includes('--json')
const quick = process.argv.includes('--quick')
const runs = Number(process.argv[process.argv.indexOf('--runs') + 1]) || 30

type Row = Measured & { against: string; ratio: number; limit: number | null }
const rows: Row[] = []

tell('the real clients, from the npm registry (some 600 MB, once)', 'installing')
await ensureClients()
const path = process.env.PATH
// Codex brings the engine of the sandbox.
process.env.PATH = `${join(await codexBinary(), '../../../.bin')}:${path}`
tell('the hooks')
for (const sandbox of [false, true]) await benchGate(sandbox)
if (process.argv.includes('--peers')) rows.push(...benchPeers(runs))
await benchPlugin()
await benchStatusLine()
await benchWholeCall()
for (const files of quick ? [1_000] : [1_000, 10_000, 100_000]) {
  tell(`drift, ${files} files`)
  await benchDrift(files)
}
tell('reviews')
rows.push(...(await benchPlanWrite(quick ? 7 : 15)))
rows.push(...(await benchFollow(runs)))
tell('the sandbox')
rows.push(await benchSandbox(quick ? 2 : 6))
tell('bootstrap, report and memory')
process.env.PATH = path
rows.push(...benchBootstrap(quick ? 3 : 10))
rows.push(...(await benchReport(quick ? 3 : 10)))
const memory = await benchMemory(quick ? 3 : 5)
const copied = await copiedBytes()
if (json) console.log(JSON.stringify({ node: process.version, runs, rows, memory, copied }))
else printTable(memory)
const missed = [
  ...rows.filter(({ ratio, limit }) => limit !== null && ratio > limit).map(({ name }) => name),
  ...(copied.bytes > copied.limit ? ['what is copied into a worktree'] : []),
]
if (missed.length > 0) console.error(`Missed: ${missed.join(', ')}.`)
process.exitCode = missed.length > 0 ? 1 : 0

/** Minutes pass before the table. */
function tell(part: string, does = 'measuring'): void {
  if (!json) console.error(`${does} ${part} …`)
}

/** Hooks, skills and configuration, with the code caches and without the engine of the sandbox, which Codex ships. */
async function copiedBytes(): Promise<{ bytes: number; limit: number }> {
  const worktree = await gatedWorktree()
  try {
    const { files } = worktree.installed.record
    const bytes = files.reduce((sum, { path }) => sum + statSync(worktree.at(path)).size, 0)
    return { bytes, limit: 1_000_000 }
  } finally {
    worktree.remove()
  }
}

/** Where the sandbox holds, it decides about commands before an approval; elsewhere the list does, which has to parse. */
async function benchGate(sandbox: boolean): Promise<void> {
  const worktree = await gatedWorktree()
  const { own } = worktree.gitDirs
  const env: NodeJS.ProcessEnv = { CLAUDE_PROJECT_DIR: worktree.root }
  try {
    if (sandbox) {
      if (worktree.installed.sandbox.kind !== 'holds') throw new Error(worktree.installed.sandbox.why)
      env.CLAUDE_CODE_SHELL_PREFIX = wrapperPath(own) ?? ''
      for (const mark of ['proven', 'command'] as const) markSession(own, 'bench', mark)
    }
    const ask = (name: string, tool_name: string, tool_input: object, exitCode: number): Program => ({
      ...hookProgram(worktree, 'pre-tool-use', `gate${sandbox ? ' with the sandbox' : ''}: ${name}`, exitCode),
      env,
      input: line({
        hook_event_name: 'PreToolUse',
        session_id: 'bench',
        cwd: worktree.root,
        permission_mode: 'default',
        tool_name,
        tool_input,
      }),
    })
    const bash = (name: string, command: string, exitCode: number): Program => ask(name, 'Bash', { command }, exitCode)
    const [node, ...asked] = measure(
      [
        emptyNode(worktree),
        ask('denied Write', 'Write', { file_path: worktree.at('src/a.ts'), content: 'x' }, 2),
        ask('allowed Write of the plan', 'Write', { file_path: worktree.at('docs/plan.md'), content: 'x' }, 0),
        bash(`${sandbox ? 'allowed' : 'denied'} command that writes`, 'rm -rf src', sandbox ? 0 : 2),
        bash('allowed command', 'git log --oneline -5', 0),
        bash('compound command', 'git log --oneline -5 | head -3 && ls src', 0),
      ],
      runs,
    )
    for (const row of asked) add(row, 'bare node', node?.median_ms ?? 0, row.name.includes('compound') ? 1.3 : 1.15)
  } finally {
    worktree.remove()
  }
}

/** In a repository without a gate, and where it is the only one: in a subfolder, which has no settings. */
async function benchPlugin(): Promise<void> {
  const elsewhere = temporaryRepository()
  // The gate is registered there, and not in the user's own folder.
  process.env.CLAUDE_CONFIG_DIR = join(elsewhere, '.claude')
  const worktree = await gatedWorktree({ 'src/a.ts': 'a\n' })
  try {
    await worktree.installed.prove()
    const ask = (name: string, folder: string, exitCode: number): Program => ({
      name,
      file: '/usr/bin/env',
      args: pluginHooks(harmlessTools).hooks.PreToolUse?.[0]?.hooks[0]?.args ?? [],
      input: line({
        hook_event_name: 'PreToolUse',
        session_id: 'bench-plugin',
        cwd: folder,
        tool_name: 'Write',
        tool_input: { file_path: join(folder, 'b.ts'), content: 'x' },
      }),
      env: { CLAUDE_PROJECT_DIR: folder, CLAUDE_CONFIG_DIR: process.env.CLAUDE_CONFIG_DIR },
      cwd: folder,
      exitCode,
    })
    const [node, none, denied] = measure(
      [
        emptyNode(worktree),
        ask('plugin: a repository without a gate', join(elsewhere, 'src'), 0),
        ask('plugin: denied Write in a subfolder', worktree.at('src'), 2),
      ],
      runs,
    )
    if (none !== undefined) add(none, 'bare node', node?.median_ms ?? 0, 1.1)
    if (denied !== undefined) add(denied, 'bare node', node?.median_ms ?? 0, 1.2)
  } finally {
    worktree.remove()
    delete process.env.CLAUDE_CONFIG_DIR
    rmSync(elsewhere, { recursive: true, force: true })
  }
}

function temporaryRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  mkdirSync(join(folder, 'src'))
  execFileSync('git', ['init', '--quiet', folder])
  return folder
}

/** With all that it reads in place: an approved plan of some length, and a ledger longer than what is read of it. */
async function benchStatusLine(): Promise<void> {
  const worktree = await gatedWorktree()
  try {
    worktree.write('docs/plan.md', '# Plan\n\nA line of the plan.\n'.repeat(1_000))
    worktree.approve()
    const ledger = worktree.read('.claude/review/events.jsonl')
    worktree.write('.claude/review/events.jsonl', ledger.repeat(2_000))
    const statusLine: Program = { ...hookProgram(worktree, 'status-line', 'status line', 0), input: line({}) }
    const [node, shown] = measure([emptyNode(worktree), statusLine], runs)
    if (shown !== undefined) add(shown, 'bare node', node?.median_ms ?? 0, 1.6)
  } finally {
    worktree.remove()
  }
}

/** All that one tool call starts while a plan is carried out; Claude Code draws the status line beside it. */
async function benchWholeCall(): Promise<void> {
  const worktree = await gatedWorktree()
  try {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    const input = { file_path: worktree.at('src/a.ts'), content: 'x' }
    const event = { session_id: 'bench', cwd: worktree.root, tool_name: 'Write', tool_input: input }
    const before = worktree.write('.git/before.json', line({ hook_event_name: 'PreToolUse', ...event }))
    const after = worktree.write('.git/after.json', line({ hook_event_name: 'PostToolUse', ...event }))
    const run = (hook: string, from: string): string =>
      `${[process.execPath, ...hookArgs(worktree.root, hook)].map(shellWord).join(' ')} < '${from}' > /dev/null`
    const call: Program = {
      name: 'a tool call: both hooks and the status line',
      file: '/bin/sh',
      args: [
        '-c',
        `${run('pre-tool-use', before)} && { ${run('status-line', before)} & ${run('post-tool-use', after)}; wait; }`,
      ],
      env: { CLAUDE_PROJECT_DIR: worktree.root },
      cwd: worktree.root,
      exitCode: 0,
    }
    const [whole] = measure([call], runs)
    if (whole !== undefined) add(whole, '60 ms', 60, 1)
  } finally {
    worktree.remove()
  }
}

async function benchDrift(files: number): Promise<void> {
  const worktree = await gatedWorktree(Object.fromEntries(manyFiles(files)))
  try {
    worktree.git('status')
    const event = {
      hook_event_name: 'PostToolUse',
      session_id: 'bench',
      cwd: worktree.root,
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    }
    const drift = { ...hookProgram(worktree, 'post-tool-use', `drift: ${files} files`, 0), input: line(event) }
    const status: Program = {
      name: 'git status',
      file: 'git',
      args: ['status', '--porcelain'],
      cwd: worktree.root,
      exitCode: 0,
    }
    const [node, git, checked] = measure(
      [emptyNode(worktree), status, drift],
      Math.max(8, Math.round(runs / (files > 10_000 ? 3 : 1))),
    )
    if (checked !== undefined)
      add(checked, 'bare node + 1.5 × git status', (node?.median_ms ?? 0) + 1.5 * (git?.median_ms ?? 0), 1)
  } finally {
    worktree.remove()
  }
}

function emptyNode(worktree: GatedWorktree): Program {
  writeFileSync(worktree.at('.git/empty.mjs'), '')
  return { name: 'bare node', file: process.execPath, args: [worktree.at('.git/empty.mjs')], exitCode: 0 }
}

/** As Claude Code writes it: one line. */
function line(event: object): string {
  return `${JSON.stringify(event)}\n`
}

function hookProgram(worktree: GatedWorktree, hook: string, name: string, exitCode: number): Program {
  return {
    name,
    file: process.execPath,
    args: hookArgs(worktree.root, hook),
    env: { CLAUDE_PROJECT_DIR: worktree.root },
    cwd: worktree.root,
    exitCode,
  }
}

function* manyFiles(count: number): Generator<[string, string]> {
  for (let i = 0; i < count; i += 1) yield [`d${i % 100}/e${Math.floor(i / 100) % 100}/f${i}.txt`, `${i}\n`]
}

function add(measured: Measured, against: string, base: number, limit: number | null): void {
  rows.push({ ...measured, against, ratio: round(measured.median_ms / base), limit })
}

function printTable(memory: readonly MemoryRow[]): void {
  for (const { name, median_ms, spread_ms, against, ratio, limit } of rows)
    console.log(
      `${name.padEnd(44)} ${String(median_ms).padStart(8)} ms ± ${String(spread_ms).padEnd(7)} ${String(ratio).padStart(5)} × ${against}${limit === null ? '' : ` (at most ${limit})`}`,
    )
  console.log(
    `\ncopied into a worktree, with code caches: ${round(copied.bytes / 1000)} kB (at most ${copied.limit / 1000})`,
  )
  console.log('\nthe most memory held')
  for (const { name, peak_mb, against, ratio } of memory)
    console.log(
      `${name.padEnd(44)} ${String(peak_mb).padStart(8)} MB ${' '.repeat(9)} ${String(ratio).padStart(5)} × ${against}`,
    )
}
