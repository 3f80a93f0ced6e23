import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '../src/install/hook-entries.ts'
import type { Obstacle } from '../src/schemas/output.ts'
import { StoreError, throwIfUnreadable } from '../src/state/files.ts'
import { reviewPaths } from '../src/state/own-paths.ts'
import { readProgress } from '../src/state/revisions.ts'
import { listSessions } from '../src/state/sessions.ts'
import { asFailure, git, gitOrNull } from '../src/system/git.ts'
import { processesIn } from '../src/system/running-processes.ts'
import { withTemporaryFolder } from '../src/system/temporary-folder.ts'
import { type Finishable, uncommittedFiles } from './finishable.ts'

const sessionQuietMinutes = 3

/** Everything that keeps the worktree from being removed, so that it is reported at once. */
export async function findObstacles(
  target: Finishable,
  merged: Merged,
  targets: readonly MergeTarget[],
  branchIsKept: boolean,
  now: Date,
): Promise<Obstacle[]> {
  const { root } = target
  return [
    ...findLock(target),
    ...findNoBranch(target),
    ...(await findUncommitted(root)),
    ...(branchIsKept || merged.kind === 'merged' ? [] : [unmerged(target, merged.commits, targets)]),
    ...findSubmoduleCommits(await unpushedInSubmodules(root)),
    ...findReview(root, now),
    ...findSessions(root, now),
    ...findProcesses(root),
  ]
}

function findLock({ listed, root }: Finishable): Obstacle[] {
  if (listed.locked === null) return []
  const why = listed.locked === '' ? '' : ` (${listed.locked})`
  const what = `The worktree is locked${why}.`
  return [{ kind: 'locked', what, items: [], next_step: `git worktree unlock ${shellWord(root)}` }]
}

/** A rebase or a bisect in progress is on no branch, either. */
function findNoBranch({ listed, opened }: Finishable): Obstacle[] {
  if (listed.branch !== null) return []
  return [
    {
      kind: 'no-branch',
      what: `The worktree is on no branch, but at the commit ${listed.head?.slice(0, 12)}: a rebase may be in progress.`,
      items: [],
      next_step: `Finish the rebase, or go back: git switch ${opened.own_branch ?? '<branch>'} (git branch <name> keeps the commit).`,
    },
  ]
}

export async function findUncommitted(root: string): Promise<Obstacle[]> {
  const items = await uncommittedFiles(root)
  if (items.length === 0) return []
  const what = items.length === 1 ? 'A file is not committed.' : `${items.length} files are not committed.`
  return [{ kind: 'uncommitted', what, items, next_step: 'Commit them, or move them elsewhere.' }]
}

function unmerged({ listed }: Finishable, items: readonly string[], targets: readonly MergeTarget[]): Obstacle {
  const names = targets.map(({ name }) => name).join(', ')
  const compared = targets.length === 0 ? 'there is no other branch to compare with' : `compared with ${names}`
  const many = items.length === 1 ? 'A commit' : `${items.length} commits`
  return {
    kind: 'unmerged',
    what: `${many} of ${listed.branch} ${items.length === 1 ? 'is' : 'are'} not merged (${compared}).`,
    items,
    next_step: 'Merge the branch (or fetch, if it was merged elsewhere), or keep it: --keep-branch.',
  }
}

function findSubmoduleCommits(items: readonly string[]): Obstacle[] {
  if (items.length === 0) return []
  const what = 'Submodules have commits that are in no other repository.'
  return [{ kind: 'submodule', what, items, next_step: 'Push them.' }]
}

/** Process ids are reused: a review past its deadline has ended. */
function findReview(root: string, now: Date): Obstacle[] {
  const read = readProgress(root)
  throwIfUnreadable(reviewPaths.progress, read)
  if (read.kind !== 'running' || Date.parse(read.progress.deadline_at) + 60_000 < now.getTime()) return []
  const { revision, backend, pid, deadline_at } = read.progress
  return [
    {
      kind: 'review',
      what: `Revision ${revision} of the plan is being reviewed by ${backend} (process ${pid}), until ${deadline_at} at the latest.`,
      items: [],
      next_step: 'Wait for it, or end it with Esc in Claude Code.',
    },
  ]
}

function findSessions(root: string, now: Date): Obstacle[] {
  const live = listSessions(root).flatMap(({ folder, session, lastSeenMs, why }) => {
    const age = now.getTime() - lastSeenMs
    if (why !== null && age <= sessionQuietMinutes * 60_000) throw new StoreError(folder, `cannot be read: ${why}`)
    return session === null || session.ended_at !== undefined || age > sessionQuietMinutes * 60_000
      ? []
      : [{ session, age }]
  })
  return live.map(({ session, age }) => ({
    kind: 'session',
    what: `The Claude Code session ${session.session_id} was active ${Math.max(0, Math.round(age / 1000))} s ago.`,
    items: [],
    next_step: `End it (/exit). A crashed session counts until ${sessionQuietMinutes} minutes after its last event.`,
  }))
}

function findProcesses(root: string): Obstacle[] {
  const items = processesIn(root).map(({ pid, name }) => `${pid} ${name}`)
  if (items.length === 0) return []
  return [{ kind: 'process', what: 'Programs are running in the worktree.', items, next_step: 'End them.' }]
}

/** Commits in submodules that are in no other repository: a worktree's submodules have git directories of their own. */
async function unpushedInSubmodules(root: string, above = ''): Promise<string[]> {
  const listed = await git(root, ['ls-files', '--stage', '-z'])
  const paths = listed
    .split('\0')
    .flatMap((entry) => (entry.startsWith('160000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : []))
  const found: string[] = []
  for (const path of paths) {
    const dir = join(root, path)
    if (!existsSync(join(dir, '.git'))) continue
    const flags = ['--format=%h %s', '--max-count=20', ...allRefs, '--not', '--remotes', '--']
    const commits = await git(dir, ['log', ...flags]).catch(asFailure)
    const lines = typeof commits === 'string' ? linesOf(commits) : ['(cannot be read)']
    found.push(
      ...lines.map((line) => `${above}${path}: ${line}`),
      ...(await unpushedInSubmodules(dir, `${above}${path}/`)),
    )
  }
  return found
}

const allRefs = ['HEAD', '--branches', '--glob=refs/stash'] as const

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

/** A branch where commits count as merged. `name` is for people. */
type MergeTarget = { name: string; rev: string }

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

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
