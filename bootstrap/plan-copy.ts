import { lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readConfigIn } from '../src/install/context.ts'
import type { Obstacle } from '../src/schemas/output.ts'
import type { Finished } from '../src/schemas/records.ts'
import { readPlanBytes } from '../src/state/approval.ts'
import { putFile, removePath } from '../src/state/files.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { UserError } from '../src/system/errors.ts'
import { asFailure, git, gitOrNull, readBlob } from '../src/system/git.ts'
import { listWorktrees } from '../src/system/repository.ts'
import type { Finishable } from './finishable.ts'
import type { Merged } from './merged.ts'

/** `plan.archive`: the approved plan, committed under a name of its own, so that two worktrees do not conflict. */
export type PlanCopy =
  | { kind: 'none' }
  /** Into the branch if it still has to be merged, else where the branch was merged into. */
  | { kind: 'wanted'; path: string; bytes: Buffer; in: string; branch: string; isMerged: boolean }
  | { kind: 'blocked'; obstacle: Obstacle }

/** Changes nothing. */
export async function planCopy(target: Finishable, merged: Merged, finished: Finished): Promise<PlanCopy> {
  const { root, gitDirs, listed, opened, repository } = target
  const record = readInstallRecord(gitDirs.own)
  const template = readConfigIn(root, record.kind === 'read' ? (record.value.config ?? null) : null).plan.archive
  const plan = readPlanBytes(root)
  const hasWork = listed.head !== null && listed.head !== opened.base_commit
  if (template === null || finished.approval === null || plan.kind !== 'read' || listed.branch === null || !hasWork)
    return { kind: 'none' }
  const into = merged.kind === 'merged' ? merged.into : null
  const places = [listed.branch, ...(into === null ? [] : [into])]
  for (const path of names(template, target, finished)) {
    const found = await Promise.all(places.map((rev) => readBlob(repository.commonDir, `${rev}:${path}`)))
    if (found.some((bytes) => bytes?.equals(plan.bytes) === true)) return { kind: 'none' }
    if (found.some((bytes) => bytes !== null)) continue
    const place = merged.kind === 'unmerged' ? { dir: root, branch: listed.branch } : await placeOf(target, into)
    const why = typeof place === 'string' ? place : await whyNot(place.dir, path)
    if (typeof place === 'string' || why !== null) return blocked(path, why ?? '')
    return { kind: 'wanted', path, bytes: plan.bytes, in: place.dir, branch: place.branch, isMerged: into !== null }
  }
  return blocked(template, 'there are nine others of that name')
}

/** The name, and with -2 … -9 where another plan has it. */
function names(
  template: string,
  { root, repository, listed }: Finishable,
  { approval, finished_at }: Finished,
): string[] {
  const folder = basename(root)
  const values: { readonly [name: string]: string } = {
    // Of the approval, so that a second run finds the first one's copy.
    date: (approval?.approved_at ?? finished_at).slice(0, 10),
    name: folder.startsWith(`${repository.name}-`) ? folder.slice(repository.name.length + 1) : folder,
    branch: listed.branch ?? '',
  }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    (values[name] ?? '').replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-').replace(/^\.+/, ''),
  )
  return ['', '-2', '-3', '-4', '-5', '-6', '-7', '-8', '-9'].map((tail) => path.replace(/(?=\.md$)/, tail))
}

/** The checkout of the branch that the work was merged into, or why there is none to commit in. */
async function placeOf(
  { repository }: Finishable,
  into: string | null,
): Promise<{ dir: string; branch: string } | string> {
  const holder = (await listWorktrees(repository.dir)).find(
    ({ branch, bare }) => branch === into && into !== null && !bare,
  )
  if (holder === undefined) return `no checkout here is on ${into ?? 'the branch that it was merged into'}`
  const status = await git(holder.path, ['status', '--porcelain', '--untracked-files=no'])
  const isMerging = (await gitOrNull(holder.path, ['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'])) !== null
  if (status !== '' || isMerging) return `${holder.path} has changes that are not committed`
  return { dir: holder.path, branch: into ?? '' }
}

async function whyNot(dir: string, path: string): Promise<string | null> {
  if (lstatSync(join(dir, path), { throwIfNoEntry: false }) !== undefined)
    return `${join(dir, path)} is there already, and not committed`
  const ignored = await gitOrNull(dir, ['check-ignore', '--quiet', '--', `./${path}`])
  return ignored === null ? null : 'git ignores that path'
}

const blocked = (path: string, why: string): PlanCopy => ({
  kind: 'blocked',
  obstacle: {
    kind: 'plan-copy',
    what: `The plan cannot be committed as ${path} (plan.archive): ${why}.`,
    items: [],
    next_step: 'Change that. The plan is in the archive in any case.',
  },
})

const commitTimeoutMs = 10 * 60_000

/** With the user's own hooks and signature. A commit that fails leaves nothing. */
export async function commitCopy({
  in: dir,
  path,
  bytes,
  branch,
}: Extract<PlanCopy, { kind: 'wanted' }>): Promise<void> {
  putFile(dir, path, bytes, 0o644)
  const pathspec = `:(top,literal)${path}`
  const commit = async (): Promise<string> => {
    await git(dir, ['add', '--', pathspec])
    const message = `docs: the plan of ${basename(path, '.md')}`
    return git(dir, ['commit', '--quiet', '--only', '--message', message, '--', pathspec], {
      timeoutMs: commitTimeoutMs,
    })
  }
  const failure = await commit().then(() => null, asFailure)
  if (failure === null) return
  await git(dir, ['reset', '--quiet', '--', pathspec]).catch(asFailure)
  removePath(dir, path)
  throw new UserError(
    `git did not commit the plan as ${path} on ${branch}, so nothing was removed: ${failure.stderr}`,
    'Fix that, then try again; or go without the copy: plan-gate finish --discard plan-copy',
    1,
  )
}
