import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { hooksDir } from '../../../../src/state/own-paths.ts'
import { runCli } from '../../../support/run-cli.ts'
import { commit, git, snapshot, temporaryFolderOf, temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { bootstrapIn, type JsonLine, jsonLines, offline } from './bootstrap-in.ts'

type Would = JsonLine & { action: string; path: string; detail: string }

const args = [...offline, '--name', 'x', '--dry-run']

/** Runs with --dry-run and checks that nothing changed, the git directory included. */
async function dryRun(cwd: string, more: string[] = []): Promise<{ would: Would[]; result: JsonLine | undefined }> {
  const before = snapshot(temporaryFolderOf(cwd))
  const { stdout, stderr } = await runCli([...args, ...more, '--json'], { cwd })
  expect(stderr).toBe('')
  expect(snapshot(temporaryFolderOf(cwd))).toEqual(before)
  const lines = jsonLines(stdout)
  return { would: lines.filter((line): line is Would => line.event === 'would'), result: lines.at(-1) }
}

const files = (would: readonly Would[], action: string): string[] =>
  [...new Set(would.filter((line) => line.action === action).map(({ path }) => path))].sort()

it('lists what a new worktree will have, and changes nothing', async () => {
  const repo = temporaryRepo('shop', { 'README.md': '', 'plan-gate.yaml': 'worktree:\n  setup: [make deps]\n' })
  const { would, result } = await dryRun(repo)
  expect(result).toEqual({ event: 'result', kind: 'dry-run', worktree: `${repo}-x`, branch: 'plan/x' })
  expect(would.filter(({ path }) => path === `${repo}-x`).map(({ action, detail }) => `${action} ${detail}`)).toEqual([
    'create worktree on the new branch plan/x',
    'run make deps',
  ])
  expect(files(would, 'change')).toEqual(['info/exclude'])

  write(repo, { 'plan-gate.yaml': '' })
  const { worktree } = await bootstrapIn(repo)
  const made = Object.keys(snapshot(join(worktree, '.claude')))
    .filter((path) => !path.endsWith('/'))
    .map((path) => `.claude/${path}`)
  expect(files(would, 'create')).toEqual([worktree, ...made.map((path) => join(worktree, path))].sort())
})

it('lists copied files and the document, and says what of the checkout stays behind', async () => {
  const repo = temporaryRepo('shop', { 'README.md': '', '.gitignore': '.env\n*.log\n', '.worktreeinclude': '.env\n' })
  write(repo, {
    '.env': 'KEY=1\n',
    'x.log': '',
    'docs/strategy.md': '# Wanted\n',
    'README.md': 'edited',
    'new\u001b.ts': '',
  })
  const before = snapshot(temporaryFolderOf(repo))
  const { stdout } = await runCli(['bootstrap', 'docs/strategy.md', ...args.slice(1), '--json'], { cwd: repo })
  expect(snapshot(temporaryFolderOf(repo))).toEqual(before)
  const lines = jsonLines(stdout)
  const would = lines.filter((line): line is Would => line.event === 'would')
  expect(lines.flatMap(({ event, detail }) => (event === 'notice' ? [detail] : []))).toEqual([
    expect.stringMatching(
      /^2 files of this checkout are not committed, .*: README\.md, new.{1,6}\.ts\. Commit .*--base\.$/,
    ),
  ])
  write(repo, { 'plan-gate.yaml': '' })
  await runCli(['bootstrap', 'docs/strategy.md', ...offline.slice(1), '--name', 'x'], { cwd: repo })
  const made = git(`${repo}-x`, 'ls-files', '--others').split('\n')
  expect(files(would, 'create').filter((path) => path !== `${repo}-x`)).toEqual(
    made.map((path) => join(`${repo}-x`, path)).sort(),
  )
  expect(made).toEqual(expect.arrayContaining(['.env', '.claude/review/strategy.md']))
})

it('lists every setting, each rule and each excluded line', async () => {
  const repo = temporaryRepo()
  const { would } = await dryRun(repo)
  const { worktree } = await bootstrapIn(repo)
  const { hooks, permissions } = JSON.parse(readFileSync(join(worktree, '.claude/settings.json'), 'utf8'))
  const details = (path: string) => would.filter((line) => line.path === path).map(({ detail }) => detail)
  expect(details(join(worktree, '.claude/settings.json'))).toEqual([
    ...Object.keys(hooks).map((event) => `hooks.${event}`),
    ...permissions.deny.map((rule: string) => `permissions.deny ${rule}`),
    'statusLine',
    'env.CLAUDE_CODE_SHELL_PREFIX',
  ])
  expect(readFileSync(join(repo, '.git/info/exclude'), 'utf8').split('\n')).toEqual(
    expect.arrayContaining(details('info/exclude')),
  )
})

it('lists what it will repair in an existing worktree', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  rmSync(join(worktree, hooksDir, 'pre-tool-use.mjs'))
  write(worktree, { [`${hooksDir}/session-events.mjs.br`]: 'process.exit(0)' })
  chmodSync(join(worktree, hooksDir, 'reviews.mjs.br'), 0o644)
  const { would, result } = await dryRun(repo)
  expect(result).toMatchObject({ kind: 'dry-run', worktree, branch: 'plan/x' })
  expect(files(would, 'create')).toContain(join(worktree, hooksDir, 'pre-tool-use.mjs'))
  expect(files(would, 'change')).toEqual([join(worktree, hooksDir, 'session-events.mjs.br'), 'info/exclude'])
  expect(files(would, 'keep')).toContain(join(worktree, '.claude/settings.json'))
})

it.each([
  { name: 'in a bare repository', make: bareRepo },
  { name: 'where a worktree folder was deleted', make: withGoneWorktree },
])('changes nothing $name', async ({ make }) => {
  const { would } = await dryRun(await make())
  expect(files(would, 'create').length).toBeGreaterThan(5)
})

it('prints for people what it prints as JSON', async () => {
  const repo = temporaryRepo()
  const { would } = await dryRun(repo)
  const { stdout, stderr } = await runCli(args, { cwd: repo })
  expect(stdout).toBe('')
  for (const { action, path, detail } of would) expect(stderr).toContain(`${action.padEnd(6)} ${path}  ${detail}\n`)
  expect(stderr).toMatch(/\nNothing was changed\.\n$/)
})

it('keeps settings that the repository has', async () => {
  const repo = temporaryRepo('shop', { '.claude/settings.json': '{ "model": "opus" }\n' })
  commit(repo, {})
  const { would } = await dryRun(repo)
  expect(files(would, 'create')).toContain(`${repo}-x/.claude/settings.local.json`)
  expect(would.map(({ path }) => path)).not.toContain(`${repo}-x/.claude/settings.json`)
})

function bareRepo(): string {
  const repo = temporaryRepo()
  git(dirname(repo), 'clone', '--quiet', '--bare', repo, 'bare.git')
  return join(dirname(repo), 'bare.git')
}

async function withGoneWorktree(): Promise<string> {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  rmSync(worktree, { recursive: true })
  return repo
}
