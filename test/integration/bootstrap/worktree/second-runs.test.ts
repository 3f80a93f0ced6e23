import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { runCli } from '../../../support/run-cli.ts'
import { temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { bootstrapIn, jsonLines, offline } from './bootstrap-in.ts'

/** Regressions. */

it('lists nothing as created if nothing will be', async () => {
  const repo = temporaryRepo()
  await bootstrapIn(repo)
  const { stdout } = await runCli([...offline, '--name', 'x', '--dry-run', '--json'], { cwd: repo })
  expect(jsonLines(stdout).filter(({ action }) => action === 'create')).toEqual([])
})

it('hides a temporary .gitignore of a killed install', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  write(worktree, { [`.claude/..gitignore.${spawnSync('true').pid}.abc.tmp`]: '/.git' })
  await bootstrapIn(repo)
})
