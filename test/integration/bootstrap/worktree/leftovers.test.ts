import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../../support/run-cli.ts'
import { branchesOf, commit, git, snapshot, temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { bootstrapIn, offline, openingsOf } from './bootstrap-in.ts'

/** What a killed run can leave, created by hand: each state is too short to be hit by a signal. */
describe('continues from', () => {
  const states: { name: string; leave: (repo: string, worktree: string) => void }[] = [
    { name: 'an empty folder', leave: (_, worktree) => mkdirSync(worktree) },
    {
      name: 'a locked entry whose folder is empty',
      leave: (repo, worktree) => {
        addEmpty(repo, worktree)
        write(repo, { '.git/worktrees/shop-x/locked': 'initializing' })
        rmSync(join(worktree, '.git'))
      },
    },
    {
      name: 'a locked entry whose folder is missing',
      leave: (repo, worktree) => {
        addEmpty(repo, worktree)
        write(repo, { '.git/worktrees/shop-x/locked': 'initializing' })
        rmSync(worktree, { recursive: true })
      },
    },
    {
      name: 'a locked worktree without files',
      leave: (repo, worktree) => {
        addEmpty(repo, worktree)
        write(repo, { '.git/worktrees/shop-x/locked': 'initializing' })
      },
    },
    { name: 'a worktree without files', leave: addEmpty },
    {
      name: 'a worktree with half its files and a locked index',
      leave: (repo, worktree) => {
        addEmpty(repo, worktree)
        git(worktree, 'symbolic-ref', 'HEAD', 'refs/heads/plan/x')
        write(worktree, { 'a.txt': 'cut sh', 'b.txt': 'b\n' })
        write(repo, { '.git/worktrees/shop-x/index.lock': '' })
      },
    },
    {
      name: 'a worktree with all its files and no branch',
      leave: (repo, worktree) => {
        addEmpty(repo, worktree)
        git(worktree, 'reset', '--quiet', '--hard')
        git(worktree, 'symbolic-ref', 'HEAD', 'refs/heads/plan/x')
        write(repo, { '.git/refs/heads/plan/x.lock': '', '.git/worktrees/shop-x/HEAD.lock': '' })
      },
    },
    {
      name: 'a worktree whose folder was deleted since',
      leave: (repo, worktree) => {
        addEmpty(repo, worktree)
        git(worktree, 'symbolic-ref', 'HEAD', 'refs/heads/plan/x')
        rmSync(worktree, { recursive: true })
      },
    },
  ]

  it.each(states)('$name', async ({ leave }) => {
    const { repo, worktree, head } = cutShort()
    leave(repo, worktree)
    // An interrupted run is finished with its own options.
    commit(repo, { 'later.txt': '' })
    expect(await bootstrapIn(repo)).toMatchObject({ worktree, branch: 'plan/x' })
    expect(branchesOf(repo)).toEqual(['main', 'plan/x'])
    expect([head, git(repo, 'rev-parse', 'HEAD')]).toContain(git(worktree, 'rev-parse', 'HEAD'))
    expect(openingsOf(repo)).toEqual([])
    expect(readdirSync(join(repo, '.git/worktrees'))).toHaveLength(1)
    expect(Object.keys(snapshot(join(repo, '.git'))).filter((path) => path.endsWith('.lock'))).toEqual([])
    commit(worktree, { 'work.txt': '' })
  })

  it('an existing branch that was to be gone on with', async () => {
    const { repo, worktree } = cutShort()
    git(repo, 'branch', 'existing')
    addEmpty(repo, worktree)
    git(worktree, 'symbolic-ref', 'HEAD', 'refs/heads/existing-is-being-opened')
    expect(await bootstrapIn(repo, { args: ['--name', 'x', '--branch', 'existing'] })).toMatchObject({
      worktree,
      branch: 'existing',
    })
    expect(branchesOf(repo)).toEqual(['existing', 'main'])
  })
})

it('hides what a killed install left of the settings', async () => {
  const repo = temporaryRepo()
  const { worktree } = await bootstrapIn(repo)
  write(worktree, { [`.claude/.settings.json.${spawnSync('true').pid}.abc.tmp`]: '{' })
  await bootstrapIn(repo)
})

describe('takes over nothing that it has not made:', () => {
  const refused = (repo: string, exitCode = 2) => runCli([...offline, '--name', 'x'], { cwd: repo, exitCode })

  it('a branch that somebody made since', async () => {
    const { repo } = cutShort()
    git(repo, 'branch', 'plan/x', 'HEAD')
    expect((await refused(repo)).stderr).toContain('The branch plan/x exists already')
  })

  it('a branch that somebody made since, with the worktree half made', async () => {
    const { repo, worktree } = cutShort()
    addEmpty(repo, worktree)
    git(repo, 'branch', 'plan/x', 'HEAD')
    git(worktree, 'symbolic-ref', 'HEAD', 'refs/heads/plan/x')
    expect((await refused(repo)).stderr).toContain('The branch plan/x exists already')
    await bootstrapIn(repo, { args: ['--name', 'x', '--branch', 'plan/x'] })
  })

  it('files that somebody put into the folder since', async () => {
    const { repo, worktree } = cutShort()
    addEmpty(repo, worktree)
    write(repo, { '.git/worktrees/shop-x/locked': 'initializing' })
    write(worktree, { 'precious.txt': '' })
    expect((await refused(repo)).stderr).toContain(`git worktree remove --force --force ${worktree}`)
    expect(Object.keys(snapshot(worktree))).toEqual(['.git', 'precious.txt'])
  })
})

function cutShort(): { repo: string; worktree: string; head: string } {
  const repo = temporaryRepo('shop', { 'a.txt': 'a\n', 'b.txt': 'b\n' })
  return { repo, worktree: `${repo}-x`, head: git(repo, 'rev-parse', 'HEAD') }
}

function addEmpty(repo: string, worktree: string): void {
  git(repo, 'worktree', 'add', '--quiet', '--no-checkout', '--detach', worktree)
}
