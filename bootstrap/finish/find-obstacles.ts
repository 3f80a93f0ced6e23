import { shellWord } from '../../src/protocol/shell-word.ts'
import type { Obstacle } from '../../src/schemas/output/finish.ts'
import { listSessions } from '../../src/store/list-sessions.ts'
import { readProgress } from '../../src/store/progress.ts'
import { throwIfUnreadable } from '../../src/store/refuse-unread.ts'
import { reviewPaths } from '../../src/store/review-paths.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { processesIn } from '../../src/system/processes-in.ts'
import type { Finishable } from './find-finishable.ts'
import type { Merged } from './find-unmerged.ts'
import type { MergeTarget } from './merge-targets.ts'
import { uncommitted } from './uncommitted.ts'
import { unpushedInSubmodules } from './unpushed-submodules.ts'

const quietMinutes = 3

/** Everything that stands in the way, so that it is told at once. */
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

/** A rebase or a bisect that is under way is also on no branch. */
function findNoBranch({ listed, opened }: Finishable): Obstacle[] {
  if (listed.branch !== null) return []
  return [
    {
      kind: 'no-branch',
      what: `The worktree is on no branch, but at the commit ${listed.head?.slice(0, 12)}: a rebase may be under way.`,
      items: [],
      next_step: `End what is under way, or go back: git switch ${opened.own_branch ?? '<branch>'} (git branch <name> keeps the commit).`,
    },
  ]
}

export async function findUncommitted(root: string): Promise<Obstacle[]> {
  const items = await uncommitted(root)
  if (items.length === 0) return []
  const what = items.length === 1 ? 'A file is not committed.' : `${items.length} files are not committed.`
  return [{ kind: 'uncommitted', what, items, next_step: 'Commit them, or take them elsewhere.' }]
}

function unmerged({ listed }: Finishable, items: readonly string[], targets: readonly MergeTarget[]): Obstacle {
  const places = targets.map(({ name }) => name).join(', ')
  const looked = targets.length === 0 ? 'there is no other branch to look into' : `looked into ${places}`
  const many = items.length === 1 ? 'A commit' : `${items.length} commits`
  return {
    kind: 'unmerged',
    what: `${many} of ${listed.branch} ${items.length === 1 ? 'is' : 'are'} not merged (${looked}).`,
    items,
    next_step: 'Merge the branch (and fetch, where it was merged elsewhere), or keep it: --keep-branch.',
  }
}

function findSubmoduleCommits(items: readonly string[]): Obstacle[] {
  if (items.length === 0) return []
  const what = 'Submodules have commits that are in no other repository.'
  return [{ kind: 'submodule', what, items, next_step: 'Push them from there.' }]
}

/** A number is given out again; a review that should have ended long ago has. */
function findReview(root: string, now: Date): Obstacle[] {
  const read = readProgress(root)
  throwIfUnreadable(reviewPaths.progress, read)
  if (read.kind !== 'running' || Date.parse(read.progress.deadline_at) + 60_000 < now.getTime()) return []
  const { revision, backend, pid, deadline_at } = read.progress
  return [
    {
      kind: 'review',
      what: `Revision ${revision} of the plan is being reviewed by ${backend} (process ${pid}), until ${deadline_at} at most.`,
      items: [],
      next_step: 'Wait for it, or end it with Esc in Claude Code.',
    },
  ]
}

function findSessions(root: string, now: Date): Obstacle[] {
  const live = listSessions(root).flatMap(({ folder, session, lastSeenMs, why }) => {
    const age = now.getTime() - lastSeenMs
    if (why !== null && age <= quietMinutes * 60_000) throw new StoreError(folder, `cannot be looked into: ${why}`)
    return session === null || session.ended_at !== undefined || age > quietMinutes * 60_000 ? [] : [{ session, age }]
  })
  return live.map(({ session, age }) => ({
    kind: 'session',
    what: `The Claude Code session ${session.session_id} was heard of ${Math.max(0, Math.round(age / 1000))} s ago.`,
    items: [],
    next_step: `End it (/exit). A session that has ended counts until it was silent for ${quietMinutes} minutes.`,
  }))
}

function findProcesses(root: string): Obstacle[] {
  const items = processesIn(root).map(({ pid, name }) => `${pid} ${name}`)
  if (items.length === 0) return []
  return [{ kind: 'process', what: 'Programs are running in the worktree.', items, next_step: 'End them.' }]
}
