import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundlePath } from '../src/install/hook-entries.ts'
import type { Obstacle } from '../src/schemas/output.ts'
import { readRegular, StoreError, throwIfUnreadable } from '../src/state/files.ts'
import { maxPlanBytes, planPath, reviewPaths, statusLineFile } from '../src/state/own-paths.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { readProgress } from '../src/state/revisions.ts'
import { liveSessions, sessionQuietMinutes } from '../src/state/sessions.ts'
import { asFailure, git } from '../src/system/git.ts'
import { packageRoot } from '../src/system/package.ts'
import { processesIn } from '../src/system/running-processes.ts'
import { shellWord } from '../src/text/shell-word.ts'
import type { Finishable } from './finishable.ts'
import { linesOf, type Merged, nameOfTarget } from './merged.ts'

/** Everything that keeps the worktree from being removed, so that it is told at once. `merged`: null where the branch stays. */
export async function findObstacles(
  target: Finishable,
  merged: Merged | null,
  targets: readonly string[],
  now: Date,
): Promise<Obstacle[]> {
  const { root, listed, opened } = target
  const obstacles: Obstacle[] = []
  const add = (kind: Obstacle['kind'], what: string, next_step: string, items: readonly string[] = []): void =>
    void obstacles.push({ kind, what, items, next_step })
  if (listed.locked !== null)
    add(
      'locked',
      `The worktree is locked${listed.locked && ` (${listed.locked})`}.`,
      `git worktree unlock ${shellWord(root)}`,
    )
  // A rebase or a bisect in progress is on no branch, either.
  if (listed.branch === null)
    add(
      'no-branch',
      `The worktree is on no branch, but at the commit ${listed.head?.slice(0, 12)}: a rebase may be in progress.`,
      `Finish the rebase, or go back: git switch ${opened.own_branch ?? '<branch>'} (git branch <name> keeps the commit).`,
    )
  obstacles.push(...(await findUncommitted(root)))
  if (merged?.kind === 'unmerged') {
    const { commits } = merged
    const names = targets.map(nameOfTarget).join(', ')
    const compared = targets.length === 0 ? 'there is no other branch to compare with' : `compared with ${names}`
    const many = commits.length === 1 ? ['A commit', 'is'] : [`${commits.length} commits`, 'are']
    add(
      'unmerged',
      `${many[0]} of ${listed.branch} ${many[1]} not merged (${compared}).`,
      'Merge the branch (or fetch, if it was merged elsewhere), or keep it: --keep-branch.',
      commits,
    )
  }
  const unpushed = await unpushedInSubmodules(root)
  if (unpushed.length > 0)
    add('submodule', 'Submodules have commits that are in no other repository.', 'Push them.', unpushed)
  const review = readProgress(root)
  throwIfUnreadable(reviewPaths.progress, review)
  // Process ids are reused: a review past its deadline has ended.
  if (review.kind === 'running' && Date.parse(review.progress.deadline_at) + 60_000 >= now.getTime()) {
    const { revision, backend, pid, deadline_at } = review.progress
    add(
      'review',
      `Revision ${revision} of the plan is being reviewed by ${backend} (process ${pid}), until ${deadline_at} at the latest.`,
      'Wait for it, or end it with Esc in Claude Code.',
    )
  }
  for (const { folder, session, lastSeenMs, why } of liveSessions(root, now)) {
    if (why !== null) throw new StoreError(folder, `cannot be read: ${why}`)
    const seconds = Math.max(0, Math.round((now.getTime() - lastSeenMs) / 1000))
    if (session !== null)
      add(
        'session',
        `The Claude Code session ${session.session_id} was active ${seconds} s ago.`,
        `End it (/exit). A crashed session counts until ${sessionQuietMinutes} minutes after its last event.`,
      )
  }
  const programs = findPrograms(target)
  if (programs.length > 0) add('process', 'Programs are running in the worktree.', 'End them.', programs)
  return obstacles
}

/** The files that would be lost, as `git status` marks them. Without the plan, which goes into the archive. */
export async function findUncommitted(root: string): Promise<Obstacle[]> {
  const flags = ['--porcelain', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=none']
  const records = (await git(root, ['status', ...flags], { timeoutMs: 300_000 })).split('\0')
  const isArchived = readRegular(root, planPath, maxPlanBytes).kind === 'read'
  const items = records.filter((record) => record !== '' && !(isArchived && record.slice(3) === planPath))
  if (items.length === 0) return []
  const what = items.length === 1 ? 'A file is not committed.' : `${items.length} files are not committed.`
  return [{ kind: 'uncommitted', what, items, next_step: 'Commit them, or move them elsewhere.' }]
}

/** Without those of our own that only look. */
function findPrograms({ root, gitDirs }: Finishable): string[] {
  const installed = readInstallRecord(gitDirs.own)
  const packages = [packageRoot(), ...(installed.kind === 'read' ? [installed.value.package_root ?? []].flat() : [])]
  const commands = ['watch', 'status', 'log', 'diff', 'explain', 'doctor', 'verify']
  const lookers = [
    ...packages.map((folder) => ({ script: join(folder, 'dist/cli.mjs'), commands })),
    { script: join(root, bundlePath(statusLineFile)), commands: null },
  ]
  return processesIn(root, lookers).map(({ pid, name }) => `${pid} ${name}`)
}

/** Commits in submodules that are in no other repository: a worktree's submodules have git directories of their own. */
async function unpushedInSubmodules(root: string, above = ''): Promise<string[]> {
  const listed = await git(root, ['ls-files', '--stage', '-z'])
  const submodules = listed.split('\0').filter((entry) => entry.startsWith('160000 '))
  const found: string[] = []
  for (const path of submodules.map((entry) => entry.slice(entry.indexOf('\t') + 1))) {
    const dir = join(root, path)
    if (!existsSync(join(dir, '.git'))) continue
    const refs = ['HEAD', '--branches', '--glob=refs/stash', '--not', '--remotes', '--']
    const commits = await git(dir, ['log', '--format=%h %s', '--max-count=20', ...refs]).catch(asFailure)
    const lines = typeof commits === 'string' ? linesOf(commits) : ['(cannot be read)']
    found.push(...lines.map((line) => `${above}${path}: ${line}`))
    found.push(...(await unpushedInSubmodules(dir, `${above}${path}/`)))
  }
  return found
}
