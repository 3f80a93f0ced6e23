import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type PendingRemoval, writePendingRemoval } from '../../../../bootstrap/remove-worktree.ts'
import { project } from '../../../support/project.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { runProgram } from '../../../support/run-program.ts'
import { cleanEnvironment, git, write } from '../../../support/temporary-repo.ts'
import { offline } from '../worktree/bootstrap-in.ts'
import { archivesOf, expectGone, finish, merged, type Opened } from './finishable.ts'

/** What a run does after the archive is written, one thing after the other. */
const steps: readonly [string, (place: Opened, finishing: PendingRemoval) => void][] = [
  ['the record', ({ repo }, finishing) => writePendingRemoval(join(repo, '.git'), finishing)],
  ['the folder moved', ({ worktree }, { moved }) => renameSync(worktree, moved)],
  ['git’s entry removed', ({ repo, worktree }) => void git(repo, 'worktree', 'remove', worktree)],
  ['the branch deleted', ({ repo }) => void git(repo, 'branch', '--quiet', '-d', 'plan/x')],
  ['the half of the folder removed', (_, { moved }) => rmSync(join(moved, '.claude'), { recursive: true })],
  ['all of it removed', (_, { moved }) => rmSync(moved, { recursive: true })],
]

describe('a run that was cut short after', () => {
  it.each(steps.map(([name], index) => ({ name, done: steps.slice(0, index + 1) })))(
    '$name is finished by the next one',
    async ({ done }) => {
      const place = await merged()
      const { repo, worktree } = place
      const finishing: PendingRemoval = {
        dir: worktree,
        moved: join(dirname(repo), '.shop-x.plan-gate-00000000'),
        branch: { name: 'plan/x', head: git(worktree, 'rev-parse', 'HEAD') },
        archive: '/archived/before',
      }
      for (const [, act] of done) act(place, finishing)
      const output = await finish(repo, [worktree])
      expect(output).toMatchObject({ kind: 'finished', worktree, branch: 'plan/x' })
      if (done.length > 1) {
        expect(output.notes).toEqual(['An earlier run had been cut short; the rest is done.'])
        expect(output.archive).toBe('/archived/before')
      }
      expectGone(place)
    },
  )

  it('is named to whoever does not know any more', async () => {
    const place = await merged()
    const { repo, worktree } = place
    const branch = { name: 'plan/x', head: git(worktree, 'rev-parse', 'HEAD') }
    const moved = join(dirname(repo), '.shop-x.plan-gate-00000000')
    writePendingRemoval(join(repo, '.git'), { dir: worktree, moved, branch, archive: '/archived/before' })
    renameSync(worktree, moved)
    const { stderr } = await runCli(['finish'], { cwd: repo, exitCode: 2 })
    expect(stderr).toContain(`Name the worktree: plan-gate finish ${worktree}`)
  })

  it('takes nothing of a worktree that was opened there since, nor its branch', async () => {
    const place = await merged()
    const { repo, worktree } = place
    const branch = { name: 'plan/x', head: git(worktree, 'rev-parse', 'HEAD') }
    const moved = join(dirname(repo), '.shop-x.plan-gate-00000000')
    writePendingRemoval(join(repo, '.git'), { dir: worktree, moved, branch, archive: '/archived/before' })
    renameSync(worktree, moved)
    await runCli([...offline, '--name', 'x'], { cwd: repo })
    write(worktree, { 'new.txt': 'work' })
    const { notes } = await finish(repo, [worktree])
    expect(notes.join('\n')).toMatch(/plan\/x is kept[\s\S]*is there again, and stays/)
    expect([existsSync(moved), readFileSync(join(worktree, 'new.txt'), 'utf8')]).toEqual([false, 'work'])
    expect(git(worktree, 'status', '--porcelain')).toBe('?? new.txt')
    await finish(repo, [worktree, '--discard', 'uncommitted'])
    expectGone(place)
  })
})

/** Large enough to be caught in the middle of each step. */
async function large(): Promise<Opened> {
  const place = await merged()
  const files = Array.from({ length: 1_500 }, (_, index) => [`node_modules/${index % 50}/${index}.js`, `${index}\n`])
  const reviews = Array.from({ length: 100 }, (_, index) => [
    `.claude/review/history/cycle-0001/${index}.md`,
    'x'.repeat(9_000),
  ])
  write(place.worktree, Object.fromEntries([...files, ...reviews]))
  return place
}

const archived = (repo: string): boolean => existsSync(join(repo, '.git/plan-gate-archive'))
const recorded = (repo: string): boolean =>
  readdirSync(join(repo, '.git')).some((name) => name.startsWith('plan-gate-finishing'))

describe('whenever it is killed, nothing is lost and the next run does the rest', () => {
  it.each<[NodeJS.Signals, number, string, (repo: string) => boolean]>([
    ['SIGKILL', 0, 'archived', archived],
    ['SIGKILL', 0, 'recorded', recorded],
    ['SIGKILL', 15, 'recorded', recorded],
    ['SIGINT', 0, 'archived', archived],
    ['SIGINT', 5, 'recorded', recorded],
  ])('%s %i ms after it has %s', async (signal, ms, _, begun) => {
    const place = await large()
    const { repo, worktree } = place
    const head = git(worktree, 'rev-parse', 'HEAD')
    const run = startCli(['finish', worktree], { cwd: repo })
    const ended = once(run, 'exit')
    while (!begun(repo) && run.exitCode === null) await sleep(1)
    await sleep(ms)
    run.kill(signal)
    await ended
    if (existsSync(worktree) || recorded(repo)) await finish(repo, [worktree])
    expectGone(place)
    const [archive = '', ...more] = archivesOf(repo)
    expect([more, existsSync(join(archive, 'finished.json'))]).toEqual([[], true])
    expect(readdirSync(join(archive, 'history/cycle-0001'))).toHaveLength(100)
    expect(git(repo, 'merge-base', '--is-ancestor', head, 'main')).toBe('')
  })

  it('two at once: one does it, and the other does no harm', async () => {
    const place = await large()
    const { repo, worktree } = place
    const runs = [1, 2].map(() => startCli(['finish', worktree], { cwd: repo }))
    const codes = await Promise.all(runs.map(async (run) => ((await once(run, 'exit')) as [number])[0]))
    expect(codes).toContain(0)
    expectGone(place)
  })
})

it('works where plan-gate itself lies in the worktree that goes', async () => {
  const place = await merged()
  const own = join(place.worktree, 'node_modules/plan-gate')
  for (const name of ['dist', 'skills', 'templates', 'package.json'])
    cpSync(join(project, name), join(own, name), { recursive: true })
  const run = { cwd: place.worktree, env: cleanEnvironment(), timeoutMs: 60_000 }
  const { exitCode, stderr } = await runProgram(process.execPath, [join(own, 'dist/cli.mjs'), 'finish'], run)
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('deleted   plan/x')])
  expectGone(place)
})
