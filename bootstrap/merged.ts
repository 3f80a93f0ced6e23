import { join } from 'node:path'
import { git, gitOrNull } from '../src/system/git.ts'
import { withTemporaryFolder } from '../src/system/temporary-folder.ts'
import type { Finishable } from './finishable.ts'

/**
 * Where commits count as merged: the branch that the work started from, the one of the main checkout (on no branch, its
 * commit), and the upstreams of both.
 */
export async function mergeTargets({ repository, listed, opened }: Finishable): Promise<string[]> {
  const cwd = repository.commonDir
  const main = (await gitOrNull(cwd, ['symbolic-ref', '--quiet', 'HEAD']))?.trim() ?? 'HEAD'
  const branches = [opened.base, main].filter((ref) => ref !== null)
  const upstreams = await Promise.all(
    branches.map(async (ref) => linesOf((await gitOrNull(cwd, ['for-each-ref', '--format=%(upstream)', ref])) ?? '')),
  )
  const refs = [...new Set([...branches, ...upstreams.flat()])].filter((ref) => ref !== `refs/heads/${listed.branch}`)
  const verify = ['rev-parse', '--verify', '--quiet']
  const known = await Promise.all(refs.map((ref) => gitOrNull(cwd, [...verify, `${ref}^{commit}`])))
  return refs.filter((_, index) => known[index] !== null)
}

export const nameOfTarget = (ref: string): string =>
  ref === 'HEAD' ? 'HEAD of the main checkout' : ref.replace(/^refs\/(heads|remotes)\//, '')

/** `into: null`: there are no commits. */
export type Merged = { kind: 'merged'; into: string | null } | { kind: 'unmerged'; commits: readonly string[] }

/**
 * Whether everything up to the worktree's commit is in one of the targets: as it is, or as other commits (rebased,
 * cherry-picked, squashed).
 */
export async function findUnmerged(
  { repository: { commonDir }, listed: { head }, opened: { base_commit: start } }: Finishable,
  targets: readonly string[],
): Promise<Merged> {
  if (head === null) return { kind: 'merged', into: null }
  for (const target of targets)
    if ((await gitOrNull(commonDir, ['merge-base', '--is-ancestor', head, target])) !== null)
      return { kind: 'merged', into: nameOfTarget(target) }
  if (head === start) return { kind: 'merged', into: null }
  for (const target of targets)
    if ((await hasEachCommit(commonDir, head, start, target)) || (await hasSquashed(commonDir, head, target)))
      return { kind: 'merged', into: nameOfTarget(target) }
  const lists = await Promise.all(targets.map((target) => missingIn(commonDir, head, start, target)))
  const [fewest] = lists.sort((one, other) => one.length - other.length)
  return { kind: 'unmerged', commits: fewest ?? (await missingIn(commonDir, head, start, start)) }
}

/** Without those that the target has as other commits. */
async function missingIn(repository: string, head: string, start: string, target: string): Promise<string[]> {
  const flags = ['--format=%h %s', '--max-count=1000', '--right-only', '--cherry-pick']
  const listed = await gitOrUnknown(repository, ['log', ...flags, `${target}...${head}`, `^${start}`, '--'])
  return linesOf(listed ?? '(git cannot list its commits)')
}

/** `git cherry` skips merge commits, so a range with one is not decided here. */
async function hasEachCommit(repository: string, head: string, start: string, target: string): Promise<boolean> {
  const range = [head, `^${target}`, `^${start}`]
  const merges = await gitOrUnknown(repository, ['rev-list', '--merges', '--max-count=1', ...range, '--'])
  return merges === '' && isNothingNew(await gitOrUnknown(repository, ['cherry', target, head, start]))
}

const isNothingNew = (cherry: string | null): boolean =>
  cherry?.split('\n').every((line) => line === '' || line.startsWith('- ')) === true

/** All of it as one commit, or a merge that would change nothing. The objects made to see that go into a temporary folder. */
const hasSquashed = (repository: string, head: string, target: string): Promise<boolean> =>
  withTemporaryFolder('finish', async (folder) => {
    const identities = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'plan-gate'],
      [`GIT_${who}_EMAIL`, 'plan-gate@localhost'],
    ])
    const env = {
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository, 'objects'),
      ...Object.fromEntries(identities),
    }
    const base = (await gitOrUnknown(repository, ['merge-base', target, head]))?.trim()
    const squash = ['commit-tree', `${head}^{tree}`, '-p', base ?? '', '-m', 'as one']
    const one = base === undefined ? null : await gitOrUnknown(repository, squash, env)
    if (one !== null && isNothingNew(await gitOrUnknown(repository, ['cherry', target, one.trim()], env))) return true
    // git before 2.38 lacks --write-tree.
    const merged = await gitOrUnknown(repository, ['merge-tree', '--write-tree', target, head], env)
    return merged !== null && merged === (await gitOrUnknown(repository, ['rev-parse', `${target}^{tree}`]))
  })

/** Null where git says no, or fails. */
const gitOrUnknown = (cwd: string, args: readonly string[], env: { readonly [name: string]: string } = {}) =>
  git(cwd, args, { timeoutMs: 120_000, env }).catch(() => null)

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
