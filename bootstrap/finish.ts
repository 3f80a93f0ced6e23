import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { removeSandbox } from '../src/gate/sandbox/prepare.ts'
import type { FinishOutput, Obstacle } from '../src/schemas/output.ts'
import { readRegular, StoreError, throwIfUnreadable } from '../src/state/files.ts'
import { bundlePath, maxPlanBytes, planPath, reviewPaths, statusLineFile } from '../src/state/own-paths.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { readProgress } from '../src/state/revisions.ts'
import { liveSessions, sessionQuietMinutes } from '../src/state/sessions.ts'
import { UserError } from '../src/system/errors.ts'
import { asFailure, git, gitOrNull } from '../src/system/git.ts'
import { packageRoot } from '../src/system/package.ts'
import { listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { processesIn } from '../src/system/running-processes.ts'
import { withTemporaryFolder } from '../src/system/temporary-folder.ts'
import { printable } from '../src/text/clean.ts'
import { shellWord } from '../src/text/own-commands.ts'
import { commitCopy, planArchive, planCopy, readIgnored, writeArchive } from './archive.ts'
import { type Finishable, findFinishable, type Target } from './find-worktree.ts'
import { removeWorktree, resumeRemoval } from './worktree.ts'

export const discardables = ['uncommitted', 'unmerged', 'ignored', 'plan-copy'] as const
export type Discardable = (typeof discardables)[number]

type FinishOptions = {
  worktree: string | null
  archive: string | null
  keepBranch: boolean
  discard: readonly Discardable[]
  dryRun: boolean
}

/** Archives the reviews, then removes worktree and branch, unless work would be lost. The next run resumes it. */
export async function finish(cwd: string, options: FinishOptions, now: Date): Promise<FinishOutput> {
  const { discard, dryRun } = options
  const target = await findFinishable(cwd, options.worktree)
  if (target.kind === 'interrupted') return finishResumed(target)
  const { root, listed, repository } = target
  const targets = await mergeTargets(target)
  const branch = await decideBranch(target, options.keepBranch)
  const merged = await findUnmerged(target, targets)
  const ignored = await readIgnored(root, target.gitDirs)
  const mergedInto = merged.kind === 'merged' ? merged.into : null
  const archive = planArchive(target, options.archive, { mergedInto, discarded: discard }, now)
  const copy = discard.includes('plan-copy')
    ? ({ kind: 'none' } as const)
    : await planCopy(target, merged, archive.finished)
  const obstacles = [
    ...(await findObstacles(target, branch.isKept ? null : merged, targets, now)),
    ...ignored.obstacles,
    ...(copy.kind === 'blocked' ? [copy.obstacle] : []),
  ]
  const output: FinishOutput = {
    ...outputOf(root, listed.branch, listed.head),
    kind: dryRun ? 'dry-run' : 'finished',
    branch_is_kept: branch.isKept,
    merged_into: mergedInto,
    archive: archive.folder,
    obstacles,
    goes_with_it: [...ignored.goes, ...ignored.obstacles.flatMap(({ items }) => items)],
    in_main: ignored.inMain,
    kept: ignored.kept.map(({ path }) => path),
    kept_in: ignored.kept.length === 0 ? null : archive.ignoredFolder,
    notes: branch.why === null ? [] : [branch.why],
    cd: `${resolveLinks(cwd)}/`.startsWith(`${root}/`) ? repository.home : null,
  }
  if (dryRun) {
    const note = copy.kind === 'wanted' ? [`The plan would be committed as ${copy.path} on ${copy.branch}.`] : []
    return { ...output, notes: [...output.notes, ...note] }
  }
  if (copy.kind === 'wanted' && !discard.includes('unmerged')) {
    throwIfBlocked(root, obstacles, [...discard, 'unmerged'])
    await commitCopy(copy)
    const note = `The plan was committed as ${copy.path} on ${copy.branch}.`
    if (!branch.isKept && !copy.isMerged)
      throw new UserError(
        `${root} was not removed yet. ${note}`,
        `Merge ${copy.branch}, then run the same command again.`,
      )
    const rest = await finish(cwd, options, now)
    return { ...rest, notes: [note, ...rest.notes] }
  }
  throwIfBlocked(root, obstacles, discard)
  // git must not be started in a folder that is removed.
  process.chdir(repository.commonDir)
  await writeArchive(root, archive, ignored.kept)
  // Somebody may have written files since the first check.
  throwIfBlocked(root, await findUncommitted(root), discard)
  removeSandbox(target.gitDirs.own)
  const { branch: name, head } = listed
  const notes = await removeWorktree(repository, {
    dir: root,
    moved: join(dirname(root), `.${basename(root)}.plan-gate-${randomBytes(4).toString('hex')}`),
    branch: branch.isKept || name === null || head === null ? null : { name, head },
    archive: archive.folder,
  })
  return { ...output, notes: [...output.notes, ...notes] }
}

async function finishResumed({ repository, pending }: Extract<Target, { kind: 'interrupted' }>): Promise<FinishOutput> {
  const { dir, branch, archive } = pending
  const notes = await resumeRemoval(repository, pending)
  const isBack = existsSync(dir) ? [`${dir} exists again and was kept: run the command again to remove it.`] : []
  return {
    ...outputOf(dir, branch?.name ?? null, branch?.head ?? null),
    archive,
    notes: ['Finished what an interrupted run had left.', ...notes, ...isBack],
  }
}

const outputOf = (worktree: string, branch: string | null, head: string | null): FinishOutput => ({
  kind: 'finished',
  worktree,
  branch,
  branch_is_kept: branch === null,
  head,
  merged_into: null,
  archive: null,
  obstacles: [],
  goes_with_it: [],
  in_main: [],
  kept: [],
  kept_in: null,
  notes: [],
  cd: null,
})

/** Only a branch that bootstrap created is deleted. */
async function decideBranch(
  { repository, listed, opened, root }: Finishable,
  keepBranch: boolean,
): Promise<{ isKept: boolean; why: string | null }> {
  const { branch } = listed
  if (branch === null || keepBranch) return { isKept: true, why: null }
  if (branch !== opened.own_branch) return { isKept: true, why: `${branch} is kept: bootstrap did not create it.` }
  const all = await listWorktrees(repository.dir)
  const holder = all.find((worktree) => worktree.branch === branch && resolveLinks(worktree.path) !== root)
  return holder === undefined
    ? { isKept: false, why: null }
    : { isKept: true, why: `${branch} is kept: it is checked out in ${holder.path}.` }
}

const discardableOf = (kind: Obstacle['kind']): Discardable | undefined =>
  kind === 'submodule' ? 'unmerged' : discardables.find((name) => name === kind)

export const obstaclesLeft = (obstacles: readonly Obstacle[], discard: readonly Discardable[]): Obstacle[] =>
  obstacles.filter(({ kind }) => !discard.some((what) => what === discardableOf(kind)))

const temporaryObstacles: readonly Obstacle['kind'][] = ['review', 'session', 'process']
const maxListed = 20

function throwIfBlocked(root: string, obstacles: readonly Obstacle[], discard: readonly Discardable[]): void {
  const left = obstaclesLeft(obstacles, discard)
  if (left.length === 0) return
  const shown = (text: string): string => printable(text, 4_096)
  const lines = left.flatMap(({ what, items, next_step }) => [
    `  ${shown(what)}`,
    ...items.slice(0, maxListed).map((item) => `      ${shown(item)}`),
    ...(items.length > maxListed ? [`      … and ${items.length - maxListed} more`] : []),
    `    → ${next_step}`,
  ])
  const names = new Set(left.flatMap(({ kind }) => discardableOf(kind) ?? []))
  const flags = [...names].map((name) => `--discard ${name}`).join(' ')
  throw new UserError(
    `${shown(root)} was not removed:\n${lines.join('\n')}`,
    flags === '' ? 'Then try again.' : `Then try again. To discard what is listed: plan-gate finish ${flags}`,
    left.every(({ kind }) => temporaryObstacles.includes(kind)) ? 1 : 2,
  )
}

/** Everything that keeps the worktree from being removed, so that it is told at once. `merged`: null where the branch stays. */
async function findObstacles(
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
async function findUncommitted(root: string): Promise<Obstacle[]> {
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

/** Where commits count as merged: the branch that the work started from, that of the main checkout, their upstreams. */
async function mergeTargets({ repository, listed, opened }: Finishable): Promise<string[]> {
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

/** Whether all of it is in one of the targets: as it is, or as other commits (rebased, cherry-picked, squashed). */
async function findUnmerged(
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
