import { join } from 'node:path'
import { gitOrNull } from '../../src/system/git.ts'
import { spawnGit } from '../../src/system/spawn-git.ts'
import { withTemporaryFolder } from '../../src/system/with-temporary-folder.ts'
import type { MergeTarget } from './merge-targets.ts'

export type Merged = { kind: 'merged'; into: string | null } | { kind: 'unmerged'; commits: readonly string[] }

/**
 * Whether everything up to this commit is in one of the targets: as it is, or as other commits (rebased, cherry-picked,
 * squashed). `into: null` means that there is nothing beyond where the work started.
 */
export async function findUnmerged(
  repository: string,
  head: string,
  start: string,
  targets: readonly MergeTarget[],
): Promise<Merged> {
  for (const { name, rev } of targets)
    if ((await gitOrNull(repository, ['merge-base', '--is-ancestor', head, rev])) !== null)
      return { kind: 'merged', into: name }
  if (head === start) return { kind: 'merged', into: null }
  for (const { name, rev } of targets)
    if (await isContained(repository, head, start, rev)) return { kind: 'merged', into: name }
  const lists = await Promise.all(targets.map(({ rev }) => missingIn(repository, head, start, rev)))
  const [fewest] = lists.sort((one, other) => one.length - other.length)
  return { kind: 'unmerged', commits: fewest ?? (await missingIn(repository, head, start, start)) }
}

/** Those that are there as other commits left out. */
async function missingIn(repository: string, head: string, start: string, target: string): Promise<string[]> {
  const flags = ['--format=%h %s', '--max-count=1000', '--right-only', '--cherry-pick']
  const listed = await ask(repository, ['log', ...flags, `${target}...${head}`, `^${start}`, '--'])
  return (listed ?? '(git cannot list them)').split('\n').filter((line) => line !== '')
}

/** By its changes: each commit for itself, all of them as one, or because a merge would change nothing. */
const isContained = async (repository: string, head: string, start: string, target: string): Promise<boolean> =>
  (await hasEachCommit(repository, head, start, target)) || (await hasSquashed(repository, head, target))

/** A merge commit is not among what `git cherry` tells, so with one in it this proves nothing. */
async function hasEachCommit(repository: string, head: string, start: string, target: string): Promise<boolean> {
  const range = [head, `^${target}`, `^${start}`]
  const merges = await ask(repository, ['rev-list', '--merges', '--max-count=1', ...range, '--'])
  return merges === '' && isNothingNew(await ask(repository, ['cherry', target, head, start]))
}

const isNothingNew = (cherry: string | null): boolean =>
  cherry?.split('\n').every((line) => line === '' || line.startsWith('- ')) === true

/** What has to be made for the comparison is written beside the repository, and not into it. */
const hasSquashed = (repository: string, head: string, target: string): Promise<boolean> =>
  withTemporaryFolder('finish', async (folder) => {
    const env = {
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository, 'objects'),
      ...nobody,
    }
    const base = await ask(repository, ['merge-base', target, head])
    const one =
      base === null
        ? null
        : await ask(repository, ['commit-tree', `${head}^{tree}`, '-p', base.trim(), '-m', 'as one'], env)
    if (one !== null && isNothingNew(await ask(repository, ['cherry', target, one.trim()], env))) return true
    // git before 2.38 does not know --write-tree.
    const merged = await ask(repository, ['merge-tree', '--write-tree', target, head], env)
    const tree = await ask(repository, ['rev-parse', `${target}^{tree}`])
    return merged !== null && tree !== null && merged.trim() === tree.trim()
  })

const nobody = {
  GIT_AUTHOR_NAME: 'plan-gate',
  GIT_AUTHOR_EMAIL: 'plan-gate@localhost',
  GIT_COMMITTER_NAME: 'plan-gate',
  GIT_COMMITTER_EMAIL: 'plan-gate@localhost',
} as const

/** Null where git says no, or cannot say. */
async function ask(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string | null> {
  const run = await spawnGit(cwd, args, 120_000, env)
  return run.kind === 'ended' && run.exitCode === 0 ? run.stdout.toString('utf8') : null
}
