import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { FinishOutput, Obstacle } from '../src/schemas/output.ts'
import { UserError } from '../src/system/errors.ts'
import { listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { type Archive, planArchive, writeArchive } from './archive.ts'
import { findObstacles, findUncommitted, findUnmerged, type Merged, mergeTargets } from './finish-obstacles.ts'
import { type Finishable, findFinishable, ignoredIn, type Target } from './finishable.ts'
import { type PendingRemoval, removeWorktree, resumeRemoval } from './remove-worktree.ts'

export const discardables = ['uncommitted', 'unmerged'] as const
export type Discardable = (typeof discardables)[number]

type FinishOptions = {
  worktree: string | null
  archive: string | null
  keepBranch: boolean
  discard: readonly Discardable[]
  dryRun: boolean
}

/**
 * The end of a worktree that bootstrap opened: its reviews are archived, then it goes, with its branch, as soon as nothing
 * can be lost by it. It may be cut short anywhere; the next run does the rest.
 */
export async function finish(cwd: string, options: FinishOptions, now: Date): Promise<FinishOutput> {
  const target = await findFinishable(cwd, options.worktree)
  if (target.kind === 'begun') return finishResumed(target)
  const targets = await mergeTargets(target)
  const branch = await decideBranch(target, options.keepBranch)
  const merged = await mergedHead(target, targets)
  const obstacles = await findObstacles(target, merged, targets, branch.isKept, now)
  const mergedInto = merged.kind === 'merged' ? merged.into : null
  const archive = planArchive(target, options.archive, { mergedInto, discarded: options.discard }, now)
  const output: FinishOutput = {
    kind: options.dryRun ? 'dry-run' : 'finished',
    worktree: target.root,
    branch: target.listed.branch,
    branch_is_kept: branch.isKept,
    head: target.listed.head,
    merged_into: mergedInto,
    archive: archive.folder,
    obstacles,
    goes_with_it: options.dryRun ? await ignoredIn(target.root) : [],
    notes: branch.why === null ? [] : [branch.why],
    cd: isInside(cwd, target.root) ? target.repository.home : null,
  }
  if (options.dryRun) return output
  refuse(target.root, obstacles, options.discard)
  const notes = await carryOut(target, archive, branch, options.discard)
  return { ...output, notes: [...output.notes, ...notes] }
}

async function finishResumed({ repository, begun }: Extract<Target, { kind: 'begun' }>): Promise<FinishOutput> {
  const notes = await resumeRemoval(repository, begun)
  const isBack = existsSync(begun.dir)
    ? [`${begun.dir} is there again, and stays: run the command once more for that.`]
    : []
  return {
    kind: 'finished',
    worktree: begun.dir,
    branch: begun.branch?.name ?? null,
    branch_is_kept: begun.branch === null,
    head: begun.branch?.head ?? null,
    merged_into: null,
    archive: begun.archive,
    obstacles: [],
    goes_with_it: [],
    notes: ['An earlier run had been cut short; the rest is done.', ...notes, ...isBack],
    cd: null,
  }
}

type BranchDecision = { isKept: boolean; why: string | null }

/** Ours to delete is what bootstrap made. */
async function decideBranch(
  { repository, listed, opened, root }: Finishable,
  keepBranch: boolean,
): Promise<BranchDecision> {
  const { branch } = listed
  if (branch === null || keepBranch) return { isKept: true, why: null }
  if (branch !== opened.own_branch) return { isKept: true, why: `${branch} is kept: bootstrap did not make it.` }
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

async function carryOut(
  { repository, root, listed }: Finishable,
  archive: Archive,
  branch: BranchDecision,
  discard: readonly Discardable[],
): Promise<string[]> {
  // A folder that goes can be nobody's working directory, least of all that of git.
  process.chdir(repository.commonDir)
  await writeArchive(root, archive)
  // Until now somebody may have gone on working there.
  refuse(root, await findUncommitted(root), discard)
  const finishing: PendingRemoval = {
    dir: resolveLinks(root),
    moved: join(dirname(root), `.${basename(root)}.plan-gate-${randomBytes(4).toString('hex')}`),
    branch:
      branch.isKept || listed.branch === null || listed.head === null
        ? null
        : { name: listed.branch, head: listed.head },
    archive: archive.folder,
  }
  return removeWorktree(repository, finishing)
}

/** `/a/b` is inside `/a`, and `/ab` is not. */
const isInside = (path: string, folder: string): boolean =>
  `${resolveLinks(path)}/`.startsWith(`${resolveLinks(folder)}/`)

const discardedBy: { readonly [kind in Obstacle['kind']]?: Discardable } = {
  uncommitted: 'uncommitted',
  unmerged: 'unmerged',
  submodule: 'unmerged',
}

const passing: readonly Obstacle['kind'][] = ['review', 'session', 'process']

const mostItems = 20

export const obstaclesLeft = (obstacles: readonly Obstacle[], discard: readonly Discardable[]): Obstacle[] =>
  obstacles.filter(({ kind }) => !discard.some((what) => what === discardedBy[kind]))

function refuse(root: string, obstacles: readonly Obstacle[], discard: readonly Discardable[]): void {
  const left = obstaclesLeft(obstacles, discard)
  if (left.length === 0) return
  const lines = left.flatMap(({ what, items, next_step }) => [
    `  ${what}`,
    ...items.slice(0, mostItems).map((item) => `      ${item}`),
    ...(items.length > mostItems ? [`      … and ${items.length - mostItems} more`] : []),
    `    → ${next_step}`,
  ])
  const names = [...new Set(left.flatMap(({ kind }) => discardedBy[kind] ?? []))]
  const flags = names.map((name) => `--discard ${name}`).join(' ')
  throw new UserError(
    `${root} stays for now:\n${lines.join('\n')}`,
    names.length === 0
      ? 'Then try again.'
      : `Then try again. To lose what is listed, say so: plan-gate finish ${flags}`,
    left.every(({ kind }) => passing.includes(kind)) ? 1 : 2,
  )
}
