import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { removeSandbox } from '../src/gate/sandbox/prepare.ts'
import type { FinishOutput, Obstacle } from '../src/schemas/output.ts'
import { UserError } from '../src/system/errors.ts'
import { readGitDirs } from '../src/system/git-dirs.ts'
import { listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { printable } from '../src/text/clean.ts'
import { type Archive, planArchive, writeArchive } from './archive.ts'
import { findObstacles, findUncommitted } from './finish-obstacles.ts'
import { type Finishable, findFinishable, type Target } from './finishable.ts'
import { type Ignored, readIgnored } from './ignored-files.ts'
import { findUnmerged, type Merged, mergeTargets } from './merged.ts'
import { commitCopy, type PlanCopy, planCopy } from './plan-copy.ts'
import { removeWorktree, resumeRemoval } from './remove-worktree.ts'

export const discardables = ['uncommitted', 'unmerged', 'ignored', 'plan-copy'] as const
export type Discardable = (typeof discardables)[number]

type FinishOptions = {
  worktree: string | null
  archive: string | null
  keepBranch: boolean
  discard: readonly Discardable[]
  dryRun: boolean
}

/**
 * Archives the reviews of a worktree that bootstrap opened, then removes the worktree and its branch, unless work would
 * be lost. May be interrupted anywhere; the next run does the rest.
 */
export async function finish(cwd: string, options: FinishOptions, now: Date): Promise<FinishOutput> {
  const target = await findFinishable(cwd, options.worktree)
  if (target.kind === 'interrupted') return finishResumed(target)
  const targets = await mergeTargets(target)
  const branch = await decideBranch(target, options.keepBranch)
  const merged = await mergedHead(target, targets)
  const ignored = await readIgnored(target.root, target.gitDirs)
  const mergedInto = merged.kind === 'merged' ? merged.into : null
  const archive = planArchive(target, options.archive, { mergedInto, discarded: options.discard }, now)
  const copy = options.discard.includes('plan-copy') ? noCopy : await planCopy(target, merged, archive.finished)
  const obstacles = [
    ...(await findObstacles(target, merged, targets, branch.isKept, now)),
    ...notArchived(ignored),
    ...(copy.kind === 'blocked' ? [copy.obstacle] : []),
  ]
  const output: FinishOutput = {
    kind: options.dryRun ? 'dry-run' : 'finished',
    worktree: target.root,
    branch: target.listed.branch,
    branch_is_kept: branch.isKept,
    head: target.listed.head,
    merged_into: mergedInto,
    archive: archive.folder,
    obstacles,
    goes_with_it: [...ignored.goes, ...ignored.left.map(({ path }) => path)],
    in_main: ignored.inMain,
    kept: ignored.kept.map(({ path }) => path),
    kept_in: ignored.kept.length === 0 ? null : archive.ignoredFolder,
    notes: [
      ...(branch.why === null ? [] : [branch.why]),
      ...(options.dryRun && copy.kind === 'wanted'
        ? [`The plan would be committed as ${copy.path} on ${copy.branch}.`]
        : []),
    ],
    cd: isInside(cwd, target.root) ? target.repository.home : null,
  }
  if (options.dryRun) return output
  if (copy.kind === 'wanted' && !options.discard.includes('unmerged')) {
    throwIfBlocked(
      target.root,
      obstacles.filter(({ kind }) => kind !== 'unmerged'),
      options.discard,
    )
    await commitCopy(copy)
    const note = `The plan was committed as ${copy.path} on ${copy.branch}.`
    if (!branch.isKept && !copy.isMerged)
      throw new UserError(
        `${target.root} was not removed yet. ${note}`,
        `Merge ${copy.branch}, then run the same command again.`,
      )
    const rest = await finish(cwd, options, now)
    return { ...rest, notes: [note, ...rest.notes] }
  }
  throwIfBlocked(target.root, obstacles, options.discard)
  const notes = await archiveAndRemove(target, archive, ignored, branch, options.discard)
  return { ...output, notes: [...output.notes, ...notes] }
}

async function finishResumed({ repository, pending }: Extract<Target, { kind: 'interrupted' }>): Promise<FinishOutput> {
  const notes = await resumeRemoval(repository, pending)
  const isBack = existsSync(pending.dir)
    ? [`${pending.dir} exists again and was kept: run the command again to remove it.`]
    : []
  return {
    kind: 'finished',
    worktree: pending.dir,
    branch: pending.branch?.name ?? null,
    branch_is_kept: pending.branch === null,
    head: pending.branch?.head ?? null,
    merged_into: null,
    archive: pending.archive,
    obstacles: [],
    goes_with_it: [],
    in_main: [],
    kept: [],
    kept_in: null,
    notes: ['Finished what an interrupted run had left.', ...notes, ...isBack],
    cd: null,
  }
}

const noCopy: PlanCopy = { kind: 'none' }

const notArchived = ({ left }: Ignored): Obstacle[] =>
  [...new Set(left.map(({ why }) => why))].map((why) => ({
    kind: 'ignored',
    what: `git ignores these; they are in no other place, and ${why}.`,
    items: left.flatMap((each) => (each.why === why ? [each.path] : [])),
    next_step: 'Move what you still need.',
  }))

type BranchDecision = { isKept: boolean; why: string | null }

/** Only a branch that bootstrap created is deleted. */
async function decideBranch(
  { repository, listed, opened, root }: Finishable,
  keepBranch: boolean,
): Promise<BranchDecision> {
  const { branch } = listed
  if (branch === null || keepBranch) return { isKept: true, why: null }
  if (branch !== opened.own_branch) return { isKept: true, why: `${branch} is kept: bootstrap did not create it.` }
  const all = await listWorktrees(repository.dir)
  const holder = all.find(
    (worktree) => worktree.branch === branch && resolveLinks(worktree.path) !== resolveLinks(root),
  )
  if (holder !== undefined) return { isKept: true, why: `${branch} is kept: it is checked out in ${holder.path}.` }
  return { isKept: false, why: null }
}

const mergedHead = async (
  { repository, listed, opened }: Finishable,
  targets: Parameters<typeof findUnmerged>[3],
): Promise<Merged> =>
  listed.head === null
    ? { kind: 'merged', into: null }
    : findUnmerged(repository.commonDir, listed.head, opened.base_commit, targets)

async function archiveAndRemove(
  { repository, root, listed }: Finishable,
  archive: Archive,
  ignored: Ignored,
  branch: BranchDecision,
  discard: readonly Discardable[],
): Promise<string[]> {
  // git must not be started in a folder that is removed.
  process.chdir(repository.commonDir)
  await writeArchive(root, archive, ignored.kept)
  // Somebody may have written files since the first check.
  throwIfBlocked(root, await findUncommitted(root), discard)
  const gitDirs = readGitDirs(root)
  if (gitDirs !== null) removeSandbox(gitDirs.own)
  return removeWorktree(repository, {
    dir: resolveLinks(root),
    moved: join(dirname(root), `.${basename(root)}.plan-gate-${randomBytes(4).toString('hex')}`),
    branch:
      branch.isKept || listed.branch === null || listed.head === null
        ? null
        : { name: listed.branch, head: listed.head },
    archive: archive.folder,
  })
}

const isInside = (path: string, folder: string): boolean =>
  `${resolveLinks(path)}/`.startsWith(`${resolveLinks(folder)}/`)

const discardedBy: { readonly [kind in Obstacle['kind']]?: Discardable } = {
  uncommitted: 'uncommitted',
  unmerged: 'unmerged',
  submodule: 'unmerged',
  ignored: 'ignored',
  'plan-copy': 'plan-copy',
}

const temporaryObstacles: readonly Obstacle['kind'][] = ['review', 'session', 'process']
const maxListed = 20
const maxLength = 4_096

export const obstaclesLeft = (obstacles: readonly Obstacle[], discard: readonly Discardable[]): Obstacle[] =>
  obstacles.filter(({ kind }) => !discard.some((what) => what === discardedBy[kind]))

function throwIfBlocked(root: string, obstacles: readonly Obstacle[], discard: readonly Discardable[]): void {
  const left = obstaclesLeft(obstacles, discard)
  if (left.length === 0) return
  const lines = left.flatMap(({ what, items, next_step }) => [
    `  ${printable(what, maxLength)}`,
    ...items.slice(0, maxListed).map((item) => `      ${printable(item, maxLength)}`),
    ...(items.length > maxListed ? [`      … and ${items.length - maxListed} more`] : []),
    `    → ${next_step}`,
  ])
  const names = [...new Set(left.flatMap(({ kind }) => discardedBy[kind] ?? []))]
  const flags = names.map((name) => `--discard ${name}`).join(' ')
  throw new UserError(
    `${printable(root, maxLength)} was not removed:\n${lines.join('\n')}`,
    names.length === 0 ? 'Then try again.' : `Then try again. To discard what is listed: plan-gate finish ${flags}`,
    left.every(({ kind }) => temporaryObstacles.includes(kind)) ? 1 : 2,
  )
}
