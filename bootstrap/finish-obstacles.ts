import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundlePath } from '../src/install/hook-entries.ts'
import type { Obstacle } from '../src/schemas/output.ts'
import { StoreError, throwIfUnreadable } from '../src/state/files.ts'
import { reviewPaths, statusLineFile } from '../src/state/own-paths.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { readProgress } from '../src/state/revisions.ts'
import { liveSessions, sessionQuietMinutes } from '../src/state/sessions.ts'
import { asFailure, git } from '../src/system/git.ts'
import { packageRoot } from '../src/system/package.ts'
import { type Looker, processesIn } from '../src/system/running-processes.ts'
import { shellWord } from '../src/text/shell-word.ts'
import { type Finishable, uncommittedFiles } from './finishable.ts'
import { linesOf, type Merged, type MergeTarget } from './merged.ts'

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
    ...findProcesses(target),
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
  const live = liveSessions(root, now).flatMap(({ folder, session, lastSeenMs, why }) => {
    if (why !== null) throw new StoreError(folder, `cannot be read: ${why}`)
    return session === null ? [] : [{ session, age: now.getTime() - lastSeenMs }]
  })
  return live.map(({ session, age }) => ({
    kind: 'session',
    what: `The Claude Code session ${session.session_id} was active ${Math.max(0, Math.round(age / 1000))} s ago.`,
    items: [],
    next_step: `End it (/exit). A crashed session counts until ${sessionQuietMinutes} minutes after its last event.`,
  }))
}

function findProcesses({ root, gitDirs }: Finishable): Obstacle[] {
  const installed = readInstallRecord(gitDirs.own)
  const packages = [packageRoot(), ...(installed.kind === 'read' ? [installed.value.package_root ?? []].flat() : [])]
  const lookers: Looker[] = [
    ...packages.map((folder) => ({ script: join(folder, 'dist/cli.mjs'), commands: lookingCommands })),
    { script: join(root, bundlePath(statusLineFile)), commands: null },
  ]
  const items = processesIn(root, lookers).map(({ pid, name }) => `${pid} ${name}`)
  if (items.length === 0) return []
  return [{ kind: 'process', what: 'Programs are running in the worktree.', items, next_step: 'End them.' }]
}

const lookingCommands = ['watch', 'status', 'log', 'diff', 'explain', 'doctor', 'verify']

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
