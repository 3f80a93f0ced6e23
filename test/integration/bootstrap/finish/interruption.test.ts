import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type PendingRemoval, writePendingRemoval } from '../../../../bootstrap/worktree.ts'
import { project } from '../../../support/project.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { runProgram } from '../../../support/run-program.ts'
import { cleanEnvironment, git, write } from '../../../support/temporary-repo.ts'
import { offline } from '../worktree/bootstrap-in.ts'
import { archivesOf, expectGone, finish, merged, type Opened } from './finishable.ts'

/** What a run does after the archive is written, in order. */
const steps: readonly [string, (fixture: Opened, pending: PendingRemoval) => void][] = [
  ['the record', ({ repo }, pending) => writePendingRemoval(join(repo, '.git'), pending)],
  ['the folder moved', ({ worktree }, { moved }) => renameSync(worktree, moved)],
  ['git’s entry removed', ({ repo, worktree }) => void git(repo, 'worktree', 'remove', worktree)],
  ['the branch deleted', ({ repo }) => void git(repo, 'branch', '--quiet', '-d', 'plan/x')],
  ['half of the folder removed', (_, { moved }) => rmSync(join(moved, '.claude'), { recursive: true })],
  ['all of it removed', (_, { moved }) => rmSync(moved, { recursive: true })],
]

describe('a run that was interrupted after', () => {
  it.each(steps.map(([name], index) => ({ name, done: steps.slice(0, index + 1) })))(
    '$name is resumed by the next one',
    async ({ done }) => {
      const fixture = await merged()
      const { repo, worktree } = fixture
      const pending: PendingRemoval = {
        dir: worktree,
        moved: join(dirname(repo), '.shop-x.plan-gate-00000000'),
        branch: { name: 'plan/x', head: git(worktree, 'rev-parse', 'HEAD') },
        archive: '/archived/before',
      }
      for (const [, act] of done) act(fixture, pending)
      const output = await finish(repo, [worktree])
      expect(output).toMatchObject({ kind: 'finished', worktree, branch: 'plan/x' })
      if (done.length > 1) {
        expect(output.notes).toEqual(['Finished what an interrupted run had left.'])
        expect(output.archive).toBe('/archived/before')
      }
      expectGone(fixture)
    },
  )

  it('the archive was written, and not renamed yet, does not take that for the archive', async () => {
    const fixture = await merged()
    const { repo, worktree } = fixture
    await finish(repo, [worktree, '--keep-branch'])
    const [done = ''] = archivesOf(repo)
    git(repo, 'worktree', 'add', '--quiet', worktree, 'plan/x')
    await runCli([...offline, '--name', 'x'], { cwd: repo })
    cpSync(join(done, 'events.jsonl'), join(worktree, '.claude/review/events.jsonl'))
    renameSync(done, join(dirname(done), `.${basename(done)}.plan-gate-partial`))
    const { archive } = await finish(repo, [worktree])
    expect(archive).not.toMatch(/partial/)
    expect(archivesOf(repo)).toEqual([archive])
  })

  it('is listed by finish without a folder', async () => {
    const fixture = await merged()
    const { repo, worktree } = fixture
    const branch = { name: 'plan/x', head: git(worktree, 'rev-parse', 'HEAD') }
    const moved = join(dirname(repo), '.shop-x.plan-gate-00000000')
    writePendingRemoval(join(repo, '.git'), { dir: worktree, moved, branch, archive: '/archived/before' })
    renameSync(worktree, moved)
    const { stderr } = await runCli(['finish'], { cwd: repo, exitCode: 2 })
    expect(stderr).toContain(`Name the worktree: plan-gate finish ${worktree}`)
  })

  it('keeps a worktree that was opened there since, and its branch', async () => {
    const fixture = await merged()
    const { repo, worktree } = fixture
    const branch = { name: 'plan/x', head: git(worktree, 'rev-parse', 'HEAD') }
    const moved = join(dirname(repo), '.shop-x.plan-gate-00000000')
    writePendingRemoval(join(repo, '.git'), { dir: worktree, moved, branch, archive: '/archived/before' })
    renameSync(worktree, moved)
    await runCli([...offline, '--name', 'x'], { cwd: repo })
    write(worktree, { 'new.txt': 'work' })
    const { notes } = await finish(repo, [worktree])
    expect(notes.join('\n')).toMatch(/plan\/x is kept[\s\S]*exists again and was kept/)
    expect([existsSync(moved), readFileSync(join(worktree, 'new.txt'), 'utf8')]).toEqual([false, 'work'])
    expect(git(worktree, 'status', '--porcelain')).toBe('?? new.txt')
    await finish(repo, [worktree, '--discard', 'uncommitted'])
    expectGone(fixture)
  })
})

const consent = ['--discard', 'ignored']

/** Large enough to be interrupted in the middle of each step. */
async function large(): Promise<Opened> {
  const fixture = await merged()
  const files = Array.from({ length: 1_500 }, (_, index) => [`node_modules/${index % 50}/${index}.js`, `${index}\n`])
  const reviews = Array.from({ length: 100 }, (_, index) => [
    `.claude/review/history/cycle-0001/${index}.md`,
    'x'.repeat(9_000),
  ])
  write(fixture.worktree, Object.fromEntries([...files, ...reviews, ['.env', 'KEY=2\n']]))
  return fixture
}

const archived = (repo: string): boolean => existsSync(join(repo, '.git/plan-gate-archive'))
const recorded = (repo: string): boolean =>
  readdirSync(join(repo, '.git')).some((name) => name.startsWith('plan-gate-finishing'))

describe('killed at any time, it loses nothing and the next run does the rest', () => {
  it.each<[NodeJS.Signals, number, string, (repo: string) => boolean]>([
    ['SIGKILL', 0, 'archived', archived],
    ['SIGKILL', 0, 'recorded', recorded],
    ['SIGKILL', 15, 'recorded', recorded],
    ['SIGINT', 0, 'archived', archived],
    ['SIGINT', 5, 'recorded', recorded],
  ])('%s %i ms after it has %s', async (signal, ms, _, begun) => {
    const fixture = await large()
    const { repo, worktree } = fixture
    const head = git(worktree, 'rev-parse', 'HEAD')
    const run = startCli(['finish', worktree, ...consent], { cwd: repo })
    const ended = once(run, 'exit')
    while (!begun(repo) && run.exitCode === null) await sleep(1)
    await sleep(ms)
    run.kill(signal)
    await ended
    if (existsSync(worktree) || recorded(repo)) await finish(repo, [worktree, ...consent])
    expectGone(fixture)
    const [archive = '', ...more] = archivesOf(repo)
    expect([more, existsSync(join(archive, 'finished.json'))]).toEqual([[], true])
    expect(readdirSync(join(archive, 'history/cycle-0001'))).toHaveLength(100)
    expect(readdirSync(join(archive, 'ignored'))).toEqual(['.env'])
    expect(git(repo, 'merge-base', '--is-ancestor', head, 'main')).toBe('')
  })

  it('two at once: one succeeds, and the other does no harm', async () => {
    const fixture = await large()
    const { repo, worktree } = fixture
    const runs = [1, 2].map(() => startCli(['finish', worktree, ...consent], { cwd: repo }))
    const codes = await Promise.all(runs.map(async (run) => ((await once(run, 'exit')) as [number])[0]))
    expect(codes).toContain(0)
    expectGone(fixture)
    expect(archivesOf(repo).map((archive) => existsSync(join(archive, 'ignored/.env')))).toContain(true)
  })
})

it('works if plan-gate itself is installed in the worktree', async () => {
  const fixture = await merged()
  const own = join(fixture.worktree, 'node_modules/plan-gate')
  for (const name of ['dist', 'skills', 'templates', 'package.json'])
    cpSync(join(project, name), join(own, name), { recursive: true })
  const run = { cwd: fixture.worktree, env: cleanEnvironment(), timeoutMs: 60_000 }
  const { exitCode, stderr } = await runProgram(
    process.execPath,
    [join(own, 'dist/cli.mjs'), 'finish', ...consent],
    run,
  )
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('deleted   plan/x')])
  expectGone(fixture)
})
