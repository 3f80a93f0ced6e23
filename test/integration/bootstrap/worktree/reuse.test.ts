import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { hooksDir } from '../../../../src/state/own-paths.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { branchesOf, commit, git, snapshot, statusOf, temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { bootstrapIn, jsonLines, offline } from './bootstrap-in.ts'

const again = ['--name', 'x']

it('reuses the worktree of that name, with the work in it', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  commit(worktree, { 'work.txt': 'done' })
  commit(repo, { 'main.txt': 'goes on' })
  const before = snapshot(worktree, ['.claude', '.git'])
  const opened = await bootstrapIn(repo)
  expect(opened).toMatchObject({ worktree, branch: 'plan/x' })
  expect(snapshot(worktree, ['.claude', '.git'])).toEqual(before)
  const told = opened.lines.find(({ event, step }) => event === 'done' && step === 'worktree')
  expect(told).toMatchObject({ detail: `${worktree} (reused)` })
})

it('changes no byte when nothing is broken', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  const files = () => snapshot(join(worktree, '.claude'))
  const before = files()
  await bootstrapIn(repo)
  expect(files()).toEqual(before)
})

it('repairs what was deleted, changed or emptied', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  const files = () => snapshot(join(worktree, '.claude'))
  const before = files()
  rmSync(join(worktree, hooksDir, 'pre-tool-use.mjs'))
  rmSync(join(worktree, '.claude/skills/plan-with-review'), { recursive: true })
  chmodSync(join(worktree, hooksDir, 'reviews.mjs.br'), 0o600)
  write(worktree, {
    [`${hooksDir}/session-events.mjs.br`]: 'process.exit(0)',
    '.claude/settings.json': '{ "hooks": {} }\n',
  })
  await bootstrapIn(repo)
  expect(files()).toEqual(before)
})

it('keeps what the user added to the settings when it repairs them', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  const settings = () => JSON.parse(readFileSync(join(worktree, '.claude/settings.json'), 'utf8'))
  const { hooks, permissions, env, statusLine } = settings()
  write(worktree, { '.claude/settings.json': '{ "model": "opus", "hooks": {}, "permissions": { "allow": ["Read"] } }' })
  await bootstrapIn(repo)
  expect(settings()).toEqual({
    model: 'opus',
    hooks,
    permissions: { allow: ['Read'], ...permissions },
    env,
    statusLine,
  })
})

it('reuses the branch that the worktree is on', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  git(worktree, 'checkout', '--quiet', '-b', 'feature')
  expect(await bootstrapIn(repo)).toMatchObject({ worktree, branch: 'feature' })
  git(worktree, 'checkout', '--quiet', '--detach')
  expect(await bootstrapIn(repo)).toMatchObject({ worktree, branch: null })
})

it('refuses a --branch that differs from the worktree’s', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  git(repo, 'branch', 'other')
  const before = snapshot(dirname(repo))
  const { stderr } = await runCli([...offline, ...again, '--branch', 'other'], { cwd: repo, exitCode: 2 })
  expect(stderr).toContain(
    `plan-gate: The worktree ${worktree} is on plan/x, not on other.\n  → Leave --branch out to reuse it`,
  )
  expect(snapshot(dirname(repo))).toEqual(before)
  await bootstrapIn(repo, { args: [...again, '--branch', 'plan/x'] })
})

it.each([
  { name: 'the folder', remove: (worktree: string) => rmSync(worktree, { recursive: true }) },
  {
    name: 'everything in the folder',
    remove: (worktree: string) => {
      for (const entry of Object.keys(snapshot(worktree)).filter((path) => /^[^/]+\/?$/.test(path)))
        rmSync(join(worktree, entry), { recursive: true })
    },
  },
])('brings a worktree back when somebody deleted $name', async ({ remove }) => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  commit(worktree, { 'work.txt': 'done' })
  const head = git(worktree, 'rev-parse', 'HEAD')
  remove(worktree)
  expect(await bootstrapIn(repo)).toMatchObject({ worktree, branch: 'plan/x' })
  expect(git(worktree, 'rev-parse', 'HEAD')).toBe(head)
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(2)
})

it('creates it again on the branch that it was on', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  git(worktree, 'checkout', '--quiet', '-b', 'feature')
  commit(worktree, { 'work.txt': 'done' })
  rmSync(worktree, { recursive: true })
  expect(await bootstrapIn(repo)).toMatchObject({ worktree, branch: 'feature' })
  expect(readFileSync(join(worktree, 'work.txt'), 'utf8')).toBe('done')
  expect(branchesOf(repo)).toEqual(['feature', 'main', 'plan/x'])
})

it('opens a new one after git worktree remove, and reuses its branch with --branch', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  commit(worktree, { 'work.txt': 'done' })
  git(repo, 'worktree', 'remove', '--force', worktree)
  const { stderr } = await runCli([...offline, ...again], { cwd: repo, exitCode: 2 })
  expect(stderr).toContain('use the branch: --branch plan/x.')
  await bootstrapIn(repo, { args: [...again, '--branch', 'plan/x'] })
  expect(readFileSync(join(worktree, 'work.txt'), 'utf8')).toBe('done')
})

it.each([
  {
    args: ['--branch', 'existing'],
    expected: { folder: 'shop-x', branch: 'existing', files: 'existing.txt first.txt' },
  },
  { args: ['--branch', 'new/one'], expected: { folder: 'shop-x', branch: 'new/one', files: 'first.txt second.txt' } },
  { args: ['--base', 'v1'], expected: { folder: 'shop-x', branch: 'plan/x', files: 'first.txt' } },
  { args: ['--base', 'HEAD~1'], expected: { folder: 'shop-x', branch: 'plan/x', files: 'first.txt' } },
  { args: ['--base', 'existing'], expected: { folder: 'shop-x', branch: 'plan/x', files: 'existing.txt first.txt' } },
  { args: ['--dir', '../new/elsewhere'], expected: { folder: 'shop/new/elsewhere', branch: 'plan/x' } },
  { args: ['--dir', '../../-d'], expected: { folder: '-d', branch: 'plan/x' } },
])('$args', async ({ args, expected: { folder, branch, files } }) => {
  const repo = temporaryRepo('shop', { 'first.txt': '' })
  git(repo, 'tag', 'v1')
  git(repo, 'checkout', '--quiet', '-b', 'existing')
  commit(repo, { 'existing.txt': '' })
  git(repo, 'checkout', '--quiet', 'main')
  commit(repo, { 'second.txt': '' })
  write(repo, { 'src/.gitignore': '', '.gitignore': 'new\n' })
  // From a subfolder, which a relative --dir is relative to.
  const { worktree, branch: opened } = await bootstrapIn(join(repo, 'src'), {
    args: [...again, ...args],
    checkout: null,
  })
  expect({ worktree, branch: opened }).toEqual({ worktree: join(dirname(repo), folder), branch })
  if (files !== undefined) expect(git(worktree, 'ls-files').split('\n').join(' ')).toBe(files)
  expect(branchesOf(repo)).toEqual([...new Set(['existing', 'main', branch])].sort())
})

it('takes worktree.dir from the configuration', async () => {
  const repo = temporaryRepo("it's $& {name}", { 'plan-gate.yaml': 'worktree:\n  dir: "../trees/{repo}/{name}"\n' })
  expect(await bootstrapIn(repo)).toMatchObject({
    worktree: join(dirname(repo), "trees/it's $& {name}/x"),
    branch: 'plan/x',
  })
})

it('concurrent runs succeed, or report the other run', async () => {
  const repo = temporaryRepo()
  const runs = await Promise.all([1, 2, 3].map(() => endOf(startCli([...offline, ...again, '--json'], { cwd: repo }))))
  const ends = runs.map(({ code, stdout }) => ({ code, last: jsonLines(stdout).at(-1) }))
  expect(ends.filter(({ code }) => code === 0).length).toBeGreaterThan(0)
  for (const { code, last } of ends)
    expect(last).toMatchObject(
      code === 0
        ? { event: 'result', worktree: `${repo}-x` }
        : { event: 'error', message: expect.stringMatching(/is being opened by |already exists/), exit_code: 1 },
    )
  expect(statusOf(`${repo}-x`)).toBe('')
  await bootstrapIn(repo)
})

it('opens two worktrees at the same time', async () => {
  const repo = temporaryRepo()
  await Promise.all(['a', 'b', 'c'].map((name) => bootstrapIn(repo, { args: ['--name', name], checkout: null })))
  expect(branchesOf(repo)).toEqual(['main', 'plan/a', 'plan/b', 'plan/c'])
})

it('reuses a worktree that was moved, by its folder', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  renameSync(worktree, `${worktree}-moved`)
  git(repo, 'worktree', 'repair', `${worktree}-moved`)
  expect(await bootstrapIn(repo, { args: ['--dir', `${worktree}-moved`] })).toMatchObject({
    worktree: `${worktree}-moved`,
    branch: 'plan/x',
  })
})

it('resolves symbolic links in --dir', async () => {
  const repo = temporaryRepo()
  symlinkSync(dirname(repo), join(repo, '.git/link'))
  const args = ['--dir', join(repo, '.git/link/new')]
  const { worktree } = await bootstrapIn(repo, { args: [...again, ...args] })
  expect(worktree).toBe(join(dirname(repo), 'new'))
  expect((await bootstrapIn(repo, { args })).worktree).toBe(worktree)
})

function endOf(child: ReturnType<typeof startCli>): Promise<{ code: number | null; stdout: string }> {
  let stdout = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout })))
}
