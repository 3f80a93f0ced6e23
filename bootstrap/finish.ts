import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { removeSandbox } from '../src/gate/sandbox/prepare.ts'
import type { FinishOutput, Obstacle } from '../src/schemas/output.ts'
import { UserError } from '../src/system/errors.ts'
import { listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { printable } from '../src/text/clean.ts'
import { commitCopy, planArchive, planCopy, writeArchive } from './archive.ts'
import { type Finishable, findFinishable, type Target } from './find-worktree.ts'
import { findObstacles, findUncommitted, findUnmerged, mergeTargets } from './finish-obstacles.ts'
import { readIgnored } from './ignored-files.ts'
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
