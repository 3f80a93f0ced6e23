import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { FinishOutput } from '../../../../src/schemas/output.ts'
import { type CliRun, runCli } from '../../../support/run-cli.ts'
import { branchesOf, commit, git, snapshot, statusOf, temporaryRepo } from '../../../support/temporary-repo.ts'
import { offline } from '../worktree/bootstrap-in.ts'

export type Opened = { repo: string; worktree: string }

/** A repository and a worktree of it that bootstrap has opened, on plan/x. */
export async function opened(files: { [path: string]: string } = {}, args: readonly string[] = []): Promise<Opened> {
  const repo = temporaryRepo('shop', { 'README.md': '# Shop\n', '.gitignore': 'node_modules/\n.env\n', ...files })
  await runCli([...offline, '--name', 'x', ...args], { cwd: repo })
  return { repo, worktree: `${repo}-x` }
}

/** With work on the branch that is merged into main. */
export async function merged(): Promise<Opened> {
  const fixture = await opened()
  commit(fixture.worktree, { 'src/work.js': 'export {}\n' }, 'The work')
  git(fixture.repo, 'merge', '--quiet', '--no-edit', 'plan/x')
  return fixture
}

export const finish = async (
  cwd: string,
  args: readonly string[] = [],
  run: Partial<CliRun> = {},
): Promise<FinishOutput> =>
  JSON.parse((await runCli(['finish', ...args, '--json'], { cwd, ...run })).stdout) as FinishOutput

/** The refusal on stderr; checks that nothing has changed. */
export async function refused(cwd: string, args: readonly string[] = [], exitCode = 2): Promise<string> {
  const before = repositorySnapshot(cwd)
  const { stdout, stderr } = await runCli(['finish', ...args], { cwd, exitCode })
  expect([stdout, repositorySnapshot(cwd)]).toEqual(['', before])
  return stderr
}

/** git may refresh its index. */
const repositorySnapshot = (cwd: string): object => {
  const top = cwd.replace(/(\/plan-gate-repo-[^/]+).*/s, '$1')
  return snapshot(top, ['index', 'objects'])
}

export const archivesOf = (repo: string): string[] => {
  const folder = join(repo, '.git/plan-gate-archive')
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

/** Nothing is left of the worktree x but its archive, and the main checkout is clean. */
export function expectGone({ repo, worktree }: Opened, branches: readonly string[] = ['main']): void {
  const beside = readdirSync(join(repo, '..')).filter((name) => name !== 'programs')
  const ours = readdirSync(join(repo, '.git')).filter(
    (name) => name.startsWith('plan-gate') && name !== 'plan-gate-archive',
  )
  const exclude = join(repo, '.git/info/exclude')
  expect({
    beside,
    ours,
    worktrees: existsSync(join(repo, '.git/worktrees')),
    listed: git(repo, 'worktree', 'list', '--porcelain').match(/^worktree /gm)?.length,
    excluded: existsSync(exclude) && readFileSync(exclude, 'utf8').includes('plan-gate'),
    status: statusOf(repo),
    branches: branchesOf(repo),
    config: git(repo, 'config', '--list', '--local').includes('branch.plan/x'),
  }).toEqual({
    beside: ['shop'],
    ours: [],
    worktrees: false,
    listed: 1,
    excluded: false,
    status: '',
    branches,
    config: false,
  })
  expect(existsSync(worktree)).toBe(false)
}
