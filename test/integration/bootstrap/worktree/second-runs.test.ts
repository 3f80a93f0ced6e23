import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { runCli } from '../../../support/run-cli.ts'
import { temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { bootstrapIn, jsonLines, offline } from './bootstrap-in.ts'

/** What a user may expect of a bootstrap; each was a fault once. */

it('tells nothing to be created where nothing will be', async () => {
  const repo = temporaryRepo()
  await bootstrapIn(repo)
  const { stdout } = await runCli([...offline, '--name', 'x', '--dry-run', '--json'], { cwd: repo })
  expect(jsonLines(stdout).filter(({ action }) => action === 'create')).toEqual([])
})

it('hides what a killed install left of the .gitignore', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  write(worktree, { [`.claude/..gitignore.${spawnSync('true').pid}.abc.tmp`]: '/.git' })
  await bootstrapIn(repo)
})
