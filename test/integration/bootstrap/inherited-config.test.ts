import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type BootstrapOptions, bootstrap } from '../../../bootstrap/bootstrap.ts'
import { git as runGit } from '../../../src/system/git.ts'
import { askGate } from '../../support/run-hook.ts'

let folder: string
let repo: string
const options: BootstrapOptions = {
  strategy: null,
  name: 'x',
  branch: null,
  base: null,
  dir: null,
  reviewer: 'checklist',
  reflect: false,
  setup: true,
  launch: false,
  allowOldClient: false,
  dryRun: false,
  trust: false,
  ask: null,
  claudeFlags: [],
}
const git = (...args: string[]) =>
  runGit(repo, ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'commit.gpgSign=false', ...args])
const config = (pattern: string): void =>
  writeFileSync(join(repo, 'plan-gate.yaml'), `gate:\n  tools:\n    allow: ['${pattern}']\n`)
const ask = (worktree: string, tool: string) => askGate(worktree, tool, {})

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'carried-')))
  repo = join(folder, 'repo')
  mkdirSync(repo)
  await git('init', '--quiet')
  await git('commit', '--quiet', '--allow-empty', '-m', 'first')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('an uncommitted plan-gate.yaml applies in the worktree, without showing up in its status', async () => {
  config('mcp__docs__*')
  const before = await git('status', '--porcelain')
  const { worktree } = await bootstrap(repo, options, () => {})
  expect(ask(worktree, 'mcp__docs__search')).toBeNull()
  expect(ask(worktree, 'mcp__lab__write')).toMatch(/not known to be read-only/)
  expect([await runGit(worktree, ['status', '--porcelain']), await git('status', '--porcelain')]).toEqual(['', before])
})

it('a second bootstrap inherits a changed one', async () => {
  config('mcp__docs__*')
  await bootstrap(repo, options, () => {})
  config('mcp__lab__*')
  const { worktree } = await bootstrap(repo, options, () => {})
  expect(ask(worktree, 'mcp__lab__write')).toBeNull()
})

it('a committed one is not replaced by changes in the checkout', async () => {
  config('mcp__docs__*')
  await git('add', '-A')
  await git('commit', '--quiet', '-m', 'config')
  config('mcp__lab__*')
  const { worktree } = await bootstrap(repo, options, () => {})
  expect(ask(worktree, 'mcp__docs__search')).toBeNull()
  expect(ask(worktree, 'mcp__lab__write')).toMatch(/not known to be read-only/)
})
