import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundlePath } from '../src/install/hook-entries.ts'
import type { Obstacle } from '../src/schemas/output.ts'
import { readRegular, StoreError, throwIfUnreadable } from '../src/state/files.ts'
import { maxPlanBytes, planPath, reviewPaths, statusLineFile } from '../src/state/own-paths.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { readProgress } from '../src/state/revisions.ts'
import { liveSessions, sessionQuietMinutes } from '../src/state/sessions.ts'
import { asFailure, git, gitOrNull } from '../src/system/git.ts'
import { packageRoot } from '../src/system/package.ts'
import { processesIn } from '../src/system/running-processes.ts'
import { withTemporaryFolder } from '../src/system/temporary-folder.ts'
import { shellWord } from '../src/text/own-commands.ts'
import type { Finishable } from './find-worktree.ts'

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

const nameOfTarget = (ref: string): string =>
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

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
