import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { git, gitOutput } from '../src/system/git.ts'
import { UserError } from '../src/system/user-error.ts'
import type { Repository } from './find-repository.ts'

export type WorktreeRequest = { name: string; dir: string; branch: string; base: string; branchIsGiven: boolean }

export type WorktreePlan =
  | { kind: 'reuse'; dir: string; branch: string | null }
  | { kind: 'create'; dir: string; branch: string; newBranch: boolean }
  /** An earlier `git worktree add` was killed before it had finished; git itself keeps the place locked. */
  | { kind: 'start-over'; dir: string; branch: string; newBranch: boolean }

type Listed = { path: string; branch: string | null; locked: string | null; prunable: boolean }

/** Looks at what is there and says what has to be done, or why it cannot be. Changes nothing. */
export async function planWorktree(repository: Repository, request: WorktreeRequest): Promise<WorktreePlan> {
  const listed = await listWorktrees(repository.dir)
  const here = listed.find((worktree) => samePath(worktree.path, request.dir))
  if (here !== undefined && isHalfMade(here))
    return { kind: 'start-over', ...(await branchFor(repository, request, listed, here)) }
  if (here !== undefined && existsSync(request.dir)) return reuse(here, request)
  refuseTaken(request.dir)
  return { kind: 'create', ...(await branchFor(repository, request, listed, here)) }
}

function reuse(here: Listed, request: WorktreeRequest): WorktreePlan {
  if (request.branchIsGiven && here.branch !== request.branch)
    throw new UserError(
      `The worktree ${here.path} is on ${here.branch ?? 'no branch'}, not on ${request.branch}.`,
      'Leave --branch out to go on with it, or choose another --name.',
    )
  return { kind: 'reuse', dir: here.path, branch: here.branch }
}

function refuseTaken(dir: string): void {
  const found = lstatSync(dir, { throwIfNoEntry: false })
  if (found === undefined || (found.isDirectory() && readdirSync(dir).length === 0)) return
  throw new UserError(
    `${dir} exists already and is not a worktree of this repository.`,
    'Choose another --name or --dir, or move that folder away.',
  )
}

async function branchFor(
  repository: Repository,
  request: WorktreeRequest,
  listed: readonly Listed[],
  here: Listed | undefined,
): Promise<{ dir: string; branch: string; newBranch: boolean }> {
  const { branch, dir } = request
  const valid = await git(repository.dir, ['check-ref-format', '--branch', branch])
  if (valid.kind === 'failed')
    throw new UserError(`${branch} is not a name that git allows for a branch.`, 'Choose another --name or --branch.')
  const holder = listed.find((worktree) => worktree.branch === branch && worktree !== here && !worktree.prunable)
  if (holder !== undefined)
    throw new UserError(
      `The branch ${branch} is checked out in ${holder.path}.`,
      `Work there (plan-gate bootstrap --dir ${holder.path}), or choose another --name.`,
    )
  const exists = (await git(repository.dir, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])).kind === 'ok'
  const oursToGoOn = request.branchIsGiven || (here !== undefined && isHalfMade(here))
  if (exists && !oursToGoOn)
    throw new UserError(
      `There is a branch ${branch} already, and no worktree of it.`,
      `Choose another --name, or go on with it: --branch ${branch}.`,
    )
  if (!exists) await refuseShadowed(repository, branch)
  return { dir, branch, newBranch: !exists }
}

/** git keeps branches in folders, so `plan` and `plan/x` cannot both be. */
async function refuseShadowed(repository: Repository, branch: string): Promise<void> {
  const parts = branch.split('/')
  const above = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'))
  const taken = await gitOutput(repository.dir, [
    'for-each-ref',
    '--format=%(refname:short)',
    ...above.map((name) => `refs/heads/${name}`),
    `refs/heads/${branch}/`,
  ])
  const clash = taken.split('\n').find((name) => name !== '' && (above.includes(name) || name.startsWith(`${branch}/`)))
  if (clash === undefined) return
  throw new UserError(
    `The branch ${branch} cannot be made: its name is taken by the branch ${clash}.`,
    `Choose another name: --branch ${branch.replaceAll('/', '-')}.`,
  )
}

/** Carries the plan out and returns the worktree's folder. */
export async function openWorktree(repository: Repository, plan: WorktreePlan, commit: string): Promise<string> {
  if (plan.kind === 'reuse') return realpathSync(plan.dir)
  if (plan.kind === 'start-over')
    await gitOutput(repository.dir, ['worktree', 'remove', '--force', '--force', plan.dir])
  mkdirSync(dirname(plan.dir), { recursive: true })
  const how = plan.newBranch ? ['-b', plan.branch, plan.dir, commit] : [plan.dir, plan.branch]
  // -f: an entry whose folder somebody deleted by hand is taken over.
  const added = await git(repository.dir, ['worktree', 'add', '-f', ...how], 15 * 60_000)
  if (added.kind === 'failed')
    throw new UserError(
      `git worktree add failed: ${added.message}`,
      'Mend what git reports, then run the same command again.',
      1,
    )
  return realpathSync(plan.dir)
}

async function listWorktrees(dir: string): Promise<Listed[]> {
  const listed = await gitOutput(dir, ['worktree', 'list', '--porcelain', '-z'])
  return listed
    .split('\0\0')
    .map((record) => record.split('\0').filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .map((lines) => ({
      path: valueOf(lines, 'worktree') ?? '',
      branch: valueOf(lines, 'branch')?.replace(/^refs\/heads\//, '') ?? null,
      locked: valueOf(lines, 'locked'),
      prunable: valueOf(lines, 'prunable') !== null,
    }))
}

const valueOf = (lines: readonly string[], key: string): string | null => {
  const line = lines.find((line) => line === key || line.startsWith(`${key} `))
  return line === undefined ? null : line.slice(key.length + 1)
}

/** `git worktree add` locks the place with this word until it is done. */
const isHalfMade = (worktree: Listed): boolean => worktree.locked === 'initializing'

const samePath = (a: string, b: string): boolean => realOrSame(a) === realOrSame(b)

/** With symbolic links followed as far as the path exists. */
function realOrSame(path: string): string {
  let head = resolve(path)
  while (!existsSync(head) && dirname(head) !== head) head = dirname(head)
  return join(realpathSync(head), relative(head, resolve(path)))
}

/** The folder name that a request leads to: `worktree.dir` of the configuration, with `{repo}` and `{name}` filled in. */
export const worktreeDir = (repository: Repository, template: string, name: string): string =>
  resolve(repository.home, template.replaceAll('{repo}', repository.name).replaceAll('{name}', name))

/** Whether a repository's own file can be read at a commit with the same content as here. */
export async function isSameAtCommit(repository: Repository, commit: string, path: string): Promise<boolean> {
  if (repository.checkout === null) return false
  const inside = relative(repository.checkout, path)
  if (inside.startsWith('..')) return false
  const blob = await git(repository.dir, ['cat-file', 'blob', `${commit}:${inside}`])
  return blob.kind === 'ok' && blob.stdout === readFileSync(path, 'utf8')
}
