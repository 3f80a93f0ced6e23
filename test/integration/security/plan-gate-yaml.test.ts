import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseConfig } from '../../../src/config/load.ts'
import { makeRedactor } from '../../../src/redact/redact.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { runCli } from '../../support/run-cli.ts'
import { askGate, runHook } from '../../support/run-hook.ts'
import { commit, temporaryRepo, write } from '../../support/temporary-repo.ts'
import { bootstrapIn } from '../bootstrap/worktree/bootstrap-in.ts'

/**
 * Promise: the plan-gate.yaml of a repository is trusted like the scripts of its package.json, and what it runs or lets
 * through is said before it happens. What is not trusted is its cost: nothing in it makes a hook hang, and nothing in it
 * makes a review endless. Bombs of YAML are in test/schemas/parse-config-hostile.test.ts.
 */
const yaml = (value: object): string => JSON.stringify(value)

const routes = (count: number, more: object = {}): object[] =>
  Array.from({ length: count }, () => ({ backend: 'hounfour', when: ['always'], ...more }))

describe('is refused with its line:', () => {
  it.each<{ attack: string; config: object; says: RegExp; exitCode?: number }>([
    { attack: '999 routes', config: { review: { routes: routes(999) } }, says: /too long to be a configuration/ },
    { attack: '99 routes', config: { review: { routes: routes(99) } }, says: /99 rows are more than/ },
    {
      attack: 'a route of a month',
      config: { review: { routes: routes(1, { timeout: 2_592_000 }) } },
      says: /at most 3600/,
    },
    {
      attack: 'a million retries',
      config: { review: { routes: routes(1, { retries: 1_000_000 }) } },
      says: /at most 10/,
    },
    {
      attack: 'a limit of a million attempts',
      config: { review: { policy: { max_attempts: 1e6 } } },
      says: /at most 100/,
    },
    { attack: 'a review of a week', config: { plan: { deadline_seconds: 604_800 } }, says: /at most 7200/ },
    {
      attack: 'a condition that is code',
      config: { review: { routes: [{ backend: 'codex', when: ['process.exit()'] }] } },
      says: /not a known condition/,
      exitCode: 0,
    },
    {
      attack: 'a program with an argument',
      config: { gate: { bash: { allow: ['sh -c "touch x"'] } } },
      says: /a command, and at most its subcommand/,
    },
    {
      attack: 'a pattern that tries for ever',
      config: { gate: { tools: { allow: [`${'*a'.repeat(15)}b`] } } },
      says: /\* and \{a,b\} may stand up to three times/,
    },
    {
      attack: 'a pattern of repeated groups',
      config: { gate: { tools: { allow: ['+(a*)+(a*)b'] } } },
      says: /the name of a tool/,
    },
    {
      attack: 'a thousand patterns',
      config: { gate: { tools: { allow: Array.from({ length: 1_000 }, () => '*a*a*b') } } },
      says: /at most 100 entries/,
    },
    {
      attack: 'a branch that is a flag',
      config: { worktree: { base: '--upload-pack=x' } },
      says: /a branch, a tag or a commit/,
    },
    {
      attack: 'a model that is a flag',
      config: { review: { models: { code: '--yolo' } } },
      says: /the name of a model/,
    },
  ])('$attack', async ({ config, says, exitCode = 2 }) => {
    const repo = temporaryRepo('shop', { 'plan-gate.yaml': yaml(config) })
    const { stdout, stderr } = await runCli(['routes'], { cwd: repo, exitCode })
    expect(`${stdout}${stderr}`).toMatch(says)
  })
})

describe('is said before it happens:', () => {
  const setup = 'touch ../setup-ran \u001b[8mhidden\u001b[0m\u202e'
  const config = {
    worktree: { setup: [setup] },
    gate: { bash: { allow: ['make'] }, tools: { allow: ['mcp__docs__*'] } },
    hounfour: { flatline_routing: true, model_invoke: './tools/model-invoke' },
  }

  it('what it runs and lets through, in words that no terminal obeys', async () => {
    const repo = temporaryRepo('shop', { 'plan-gate.yaml': yaml(config) })
    const args = ['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x']
    const { stderr } = await runCli(args, { cwd: repo })
    const [said = '', did = ''] = stderr.split('… worktree')
    for (const line of [
      '✓ plan-gate.yaml  runs in a new worktree: touch ../setup-ran \\u{1b}[8mhidden\\u{1b}[0m\\u{202e}',
      '✓ plan-gate.yaml  allows commands before an approval: make',
      '✓ plan-gate.yaml  allows tools before an approval: mcp__docs__*',
      '✓ plan-gate.yaml  plans are reviewed by ./tools/model-invoke',
    ])
      expect(said).toContain(`${line}\n`)
    expect(did).toContain('… setup: touch ../setup-ran')
    expect(stderr).not.toMatch(/[\u001b\u202e]/)
    expect(existsSync(join(dirname(repo), 'setup-ran'))).toBe(true)
  })

  it('and with --dry-run nothing of it happens, with --no-setup no command is run', async () => {
    const repo = temporaryRepo('shop', { 'plan-gate.yaml': yaml(config) })
    const args = ['bootstrap', '--reviewer', 'checklist', '--name', 'x']
    const { stderr } = await runCli([...args, '--no-launch', '--dry-run'], { cwd: repo })
    expect(stderr).toMatch(/^run {4}.*touch \.\.\/setup-ran/m)
    await runCli([...args, '--no-launch', '--no-setup'], { cwd: repo })
    expect(readdirSync(dirname(repo)).sort()).toEqual(['shop', 'shop-x'])
    // Left out is not done: the next run does it.
    await runCli([...args, '--no-launch'], { cwd: repo })
    expect(existsSync(join(dirname(repo), 'setup-ran'))).toBe(true)
  })

  it('nothing is said of a file that runs nothing and lets nothing through', async () => {
    const { lines } = await bootstrapIn(
      temporaryRepo('shop', { 'plan-gate.yaml': yaml({ plan: { max_revisions: 3 } }) }),
    )
    expect(lines.filter(({ name }) => name === 'plan-gate.yaml')).toEqual([])
  })
})

it('a reviewer that lies in the repository is not written by a tool, approved plan or not', async () => {
  const worktree = await gatedWorktree({
    'tools/model-invoke': '#!/bin/sh\n',
    'plan-gate.yaml': yaml({ hounfour: { model_invoke: 'tools/model-invoke' } }),
    'docs/plan.md': '# Plan\n',
  })
  onTestFinished(() => worktree.remove())
  const ask = (path: string) => askGate(worktree.root, 'Write', { file_path: worktree.at(path) })
  worktree.approve()
  expect(ask('tools/other')).toBeNull()
  expect(ask('tools/model-invoke')).toMatch(/is never written by a tool, approved plan or not/)
})

describe('redaction patterns that never end', () => {
  it.each([
    '(a+)+$',
    '(a|a)*$',
    '(.*a){20}',
    '(?=(a+))a*b\\1',
    '(x{1,9}){1,9}'.repeat(10),
    '(?:a{0,1000}){0,1000}b',
    '([a-z]+)*!',
    '(?<=(a+)+)b',
  ])('%s: nothing is sent, and it is said within a second or two', (pattern) => {
    const before = process.cpuUsage()
    const redaction = makeRedactor([pattern]).text(`${'a'.repeat(50_000)} token=abc`)
    const { user } = process.cpuUsage(before)
    expect(user / 1000).toBeLessThan(10_000)
    // In time or not at all: what was not looked through is not handed back.
    if (redaction.kind === 'failed')
      expect(redaction.why).toMatch(/take too long|no regular expression|find something new/)
  })
})

it('a table that fails everywhere ends at its limits', async () => {
  const repo = temporaryRepo('shop', { 'a.txt': '' })
  write(repo, {
    'a.txt': 'x',
    'tools/fails': '#!/bin/sh\necho x >> ../asked\nexit 1\n',
    'plan-gate.yaml': yaml({
      review: { routes: routes(1, { retries: 10, fail_mode: 'hard_fail' }), policy: { max_attempts: 3 } },
      hounfour: { flatline_routing: true, model_invoke: './tools/fails' },
    }),
  })
  chmodSync(join(repo, 'tools/fails'), 0o755)
  commit(repo, {})
  write(repo, { 'a.txt': 'y' })
  await runCli(['review', '--diff'], { cwd: repo, exitCode: 1 })
  expect(readFileSync(join(repo, '../asked'), 'utf8').trim().split('\n').length).toBeLessThanOrEqual(3)
})

it('a hook answers at once where plan-gate.yaml is as large as it may be', async () => {
  const patterns = Array.from({ length: 100 }, (_, i) => `*a*a*${i}`)
  const worktree = await gatedWorktree({
    'plan-gate.yaml': `${yaml({ gate: { tools: { allow: patterns } }, review: { sensitive_files: ['**/*a*a*a*a*b'] } })}\n${'# x\n'.repeat(500)}`,
  })
  onTestFinished(() => worktree.remove())
  expect(parseConfig(worktree.read('plan-gate.yaml')).kind).toBe('valid')
  expect(askGate(worktree.root, `mcp__${'a'.repeat(120)}`, {})).toMatch(/not known to be read-only/)
  expect(askGate(worktree.root, `mcp__${'a'.repeat(5_000_000)}`, {})).toMatch(/not known to be read-only/)
  const event = { hook_event_name: 'PostToolUse', tool_name: 'mcp__x', tool_input: {}, tool_response: {} }
  expect(runHook(worktree.root, 'post-tool-use', event).stdout).toBe('')
})
