import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fakePrograms, runCli } from '../../support/run-cli.ts'
import { runProgram } from '../../support/run-program.ts'
import { cleanEnvironment, git, temporaryRepo } from '../../support/temporary-repo.ts'
import { offline } from './worktree/bootstrap-in.ts'

type Place = { repo: string; worktree: string; programs: string }

async function place(): Promise<Place> {
  const repo = temporaryRepo()
  await runCli([...offline, '--name', 'x'], { cwd: repo })
  const claude = `[ "$1" = --version ] && echo '2.1.328 (Claude Code)'; exit 0`
  return { repo, worktree: `${repo}-x`, programs: fakePrograms(dirname(repo), { claude }) }
}

const move = (from: string, name: string): string => {
  const to = join(dirname(from), name)
  renameSync(from, to)
  return to
}

/** What was moved, and from where it is noticed. */
const moves: [string, (place: Place) => Place][] = [
  ['the worktree', (at) => ({ ...at, worktree: move(at.worktree, 'elsewhere') })],
  ['the main checkout', (at) => ({ ...at, repo: move(at.repo, 'store') })],
  ['the worktree, twice', (at) => ({ ...at, worktree: move(move(at.worktree, 'one'), 'two words') })],
]

describe.each(moves)('%s was moved', (_, moved) => {
  it.each(['status', 'open', 'finish', 'doctor'])(
    'is what `%s` says there, and its command puts everything right',
    async (command) => {
      const { worktree, repo, programs } = moved(await place())
      const said = await runCli([command], { cwd: worktree, programs, exitCode: command === 'doctor' ? 1 : 2 })
      expect(said.stderr).toMatch(/was moved/)
      await repair(said.stderr, worktree)
      await expectWhole({ repo, worktree, programs })
    },
  )

  it.each(['open x', 'finish x', 'doctor', 'status'])(
    'is what `%s` says in the main checkout, with the same end',
    async (line) => {
      const { worktree, repo, programs } = moved(await place())
      const said = await runCli(line.split(' '), { cwd: repo, programs, exitCode: { doctor: 1, status: 0 }[line] ?? 2 })
      expect(said.stdout + said.stderr).toMatch(/moved/)
      await repair(said.stdout + said.stderr, repo)
      await expectWhole({ repo, worktree, programs })
    },
  )
})

async function repair(said: string, cwd: string): Promise<void> {
  const [command = ''] = /git -C .* worktree repair.*/.exec(said) ?? []
  const { exitCode, stderr } = await runProgram('/bin/sh', ['-c', command], {
    cwd,
    env: cleanEnvironment(),
    timeoutMs: 60_000,
  })
  expect([command, exitCode, stderr]).toEqual([command, 0, expect.anything()])
}

async function expectWhole({ repo, worktree, programs }: Place): Promise<void> {
  const failures = (await runCli(['doctor'], { cwd: worktree, programs })).stderr
  expect(failures).toMatch(/self-test {2}passed/)
  await runCli(['status'], { cwd: worktree })
  await runCli(['open'], { cwd: worktree, programs })
  await runCli(['finish', worktree], { cwd: repo })
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
}
