import { join } from 'node:path'
import { git, gitOrNull } from '../src/system/git.ts'
import { withTemporaryFolder } from '../src/system/temporary-folder.ts'

import type { Finishable } from './finishable.ts'

/** A branch where commits count as merged. `name` is for people. */
export type MergeTarget = { name: string; rev: string }

/** The branch that the work started from, the one of the main checkout, and the upstreams of both. */
export async function mergeTargets({ repository, listed, opened }: Finishable): Promise<MergeTarget[]> {
  const cwd = repository.commonDir
  const main = (await gitOrNull(cwd, ['symbolic-ref', '--quiet', 'HEAD']))?.trim() ?? null
  const branches = [opened.base, main].filter((ref) => ref !== null)
  const upstreams = await Promise.all(branches.map((ref) => upstreamOf(cwd, ref)))
  const own = `refs/heads/${listed.branch}`
  const refs = [...new Set([...branches, ...upstreams.flat()])].filter((ref) => ref !== own)
  const known = await Promise.all(refs.map(async (ref) => ((await exists(cwd, ref)) ? [ref] : [])))
  const targets = known.flat().map((ref) => ({ name: ref.replace(/^refs\/(heads|remotes)\//, ''), rev: ref }))
  // On no branch: the commit of the main checkout.
  const isDetached = main === null && (await exists(cwd, 'HEAD'))
  return isDetached ? [...targets, { name: 'HEAD of the main checkout', rev: 'HEAD' }] : targets
}

async function upstreamOf(cwd: string, ref: string): Promise<string[]> {
  const found = await gitOrNull(cwd, ['for-each-ref', '--format=%(upstream)', ref])
  return linesOf(found ?? '')
}

const exists = async (cwd: string, rev: string): Promise<boolean> =>
  (await gitOrNull(cwd, ['rev-parse', '--verify', '--quiet', `${rev}^{commit}`])) !== null

export type Merged = { kind: 'merged'; into: string | null } | { kind: 'unmerged'; commits: readonly string[] }

/**
 * Whether everything up to `head` is in one of the targets: as it is, or as other commits (rebased, cherry-picked,
 * squashed). `into: null` means that there are no commits since `start`.
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

/** Without those that the target has as other commits. */
async function missingIn(repository: string, head: string, start: string, target: string): Promise<string[]> {
  const flags = ['--format=%h %s', '--max-count=1000', '--right-only', '--cherry-pick']
  const listed = await gitOrUnknown(repository, ['log', ...flags, `${target}...${head}`, `^${start}`, '--'])
  return linesOf(listed ?? '(git cannot list its commits)')
}

/** By content: each commit by itself, all of them squashed, or because a merge would change nothing. */
const isContained = async (repository: string, head: string, start: string, target: string): Promise<boolean> =>
  (await hasEachCommit(repository, head, start, target)) || (await hasSquashed(repository, head, target))

/** `git cherry` skips merge commits, so a range with one is not decided here. */
async function hasEachCommit(repository: string, head: string, start: string, target: string): Promise<boolean> {
  const range = [head, `^${target}`, `^${start}`]
  const merges = await gitOrUnknown(repository, ['rev-list', '--merges', '--max-count=1', ...range, '--'])
  return merges === '' && isNothingNew(await gitOrUnknown(repository, ['cherry', target, head, start]))
}

const isNothingNew = (cherry: string | null): boolean =>
  cherry?.split('\n').every((line) => line === '' || line.startsWith('- ')) === true

/** The objects made for the comparison go into a temporary folder, not into the repository. */
const hasSquashed = (repository: string, head: string, target: string): Promise<boolean> =>
  withTemporaryFolder('finish', async (folder) => {
    const env = {
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository, 'objects'),
      ...plumbingIdentity,
    }
    const base = await gitOrUnknown(repository, ['merge-base', target, head])
    const one =
      base === null
        ? null
        : await gitOrUnknown(repository, ['commit-tree', `${head}^{tree}`, '-p', base.trim(), '-m', 'as one'], env)
    if (one !== null && isNothingNew(await gitOrUnknown(repository, ['cherry', target, one.trim()], env))) return true
    // git before 2.38 lacks --write-tree.
    const merged = await gitOrUnknown(repository, ['merge-tree', '--write-tree', target, head], env)
    const tree = await gitOrUnknown(repository, ['rev-parse', `${target}^{tree}`])
    return merged !== null && tree !== null && merged.trim() === tree.trim()
  })

const plumbingIdentity = {
  GIT_AUTHOR_NAME: 'plan-gate',
  GIT_AUTHOR_EMAIL: 'plan-gate@localhost',
  GIT_COMMITTER_NAME: 'plan-gate',
  GIT_COMMITTER_EMAIL: 'plan-gate@localhost',
} as const

/** Null where git says no, or fails. */
const gitOrUnknown = (cwd: string, args: readonly string[], env: { readonly [name: string]: string } = {}) =>
  git(cwd, args, { timeoutMs: 120_000, env }).catch(() => null)

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
