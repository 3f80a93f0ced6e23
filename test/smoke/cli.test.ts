import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../support/run-cli.ts'
import { askGate } from '../support/run-hook.ts'
import { snapshot, statusOf, temporaryFolder, temporaryRepo } from '../support/temporary-repo.ts'

it('demo shows the whole loop', async () => {
  const { stdout } = await runCli(['demo', '--json'], { cwd: temporaryFolder() })
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ event: 'result', failures: 0 })
})

it('bootstrap opens a gated worktree, doctor finds it whole, finish takes it away', async () => {
  const repo = temporaryRepo('shop')
  await runCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'], { cwd: repo })
  const worktree = `${repo}-x`
  expect(statusOf(worktree)).toBe('')
  expect(askGate(worktree, 'Write', { file_path: join(worktree, 'a.ts'), content: '' })).toMatch(/not allowed/)
  expect((await runCli(['status'], { cwd: worktree })).stdout).toContain('there is no plan yet')
  await runCli(['finish', '--discard', 'unmerged'], { cwd: worktree })
})

it('install and uninstall leave the checkout as it was', async () => {
  const repo = temporaryRepo('shop', { '.claude/settings.json': '{"env":{"A":"1"}}\n' })
  const before = snapshot(repo, ['.git'])
  await runCli(['install', '--reviewer', 'checklist'], { cwd: repo })
  expect(snapshot(repo, ['.git'])).not.toEqual(before)
  await runCli(['uninstall'], { cwd: repo })
  expect(snapshot(repo, ['.git'])).toEqual(before)
})

it.each([
  ['git log --oneline | head', 0],
  ['rm -rf src', 1],
])('explain "%s" ends with %i', async (command, exitCode) => {
  await runCli(['explain', command], { cwd: temporaryRepo(), exitCode })
})

it('routes says who would review', async () => {
  const { stdout } = await runCli(['routes'], { cwd: temporaryRepo() })
  expect(stdout).toMatch(/codex[\s\S]*curl/)
})

it('a document is reviewed by the checklist', async () => {
  const repo = temporaryRepo('shop', {
    'docs/design.md': '# Design\n\nTODO\n',
    'plan-gate.yaml': 'review:\n  routes: [{backend: checklist, when: [always]}]\n',
  })
  const { stdout } = await runCli(['review', '--type', 'sdd', '--content', 'docs/design.md', '--json'], { cwd: repo })
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'CHANGES_REQUIRED' })
})
