import { isOwnPath } from '../gate/own-paths.ts'
import { planPath } from '../gate/place-of.ts'
import { inScope } from '../gate/scope/in-scope.ts'
import { readPlanScope } from '../gate/scope/read-plan-scope.ts'
import { type Trace, tracePlan } from '../reflect/trace-plan.ts'
import type { TreeBaseline } from '../schemas/worktree-baseline.ts'
import { readTreeBaseline } from '../store/worktree-baseline.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { digestOf } from '../system/read-tree-state.ts'
import { type ChangedFile, worktreeChanges } from '../system/worktree-diff.ts'
import { readWorkingTree } from './check-drift.ts'
import { debug } from './debug.ts'

/** What was done since the approval; `trace` is that held against the plan. null: it cannot be told. */
export type Work = { readonly diff: string | null; readonly trace: Trace | null; readonly isBegun: boolean | null }

const unknownWork: Work = { diff: null, trace: null, isBegun: null }

export async function readWork(root: string, plan: string): Promise<Work> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) return unknownWork
  // Where git may be made to run something, a look would be the attack; this says so first.
  const now = readWorkingTree(root, gitDirs)
  if (now.kind === 'failed') return notToBeTold(now.why)
  const baseline = readTreeBaseline(gitDirs.own)
  const before: Pick<TreeBaseline, 'head' | 'paths'> =
    baseline.kind === 'read' ? baseline.value : { head: 'HEAD', paths: {} }
  /** What was changed before the approval and is still the same, be it committed since. */
  const wasSo = (path: string): boolean => {
    const name = Buffer.from(path).toString('latin1')
    const known = before.paths[name]
    return known !== undefined && known.digest === (now.paths[name] ?? { digest: digestOf(root, name) }).digest
  }
  const ours = ({ path }: ChangedFile): boolean => path !== planPath && !isOwnPath(path) && !wasSo(path)
  try {
    const { diff, files } = await worktreeChanges(root, gitDirs, before.head, gitMs)
    const changed = files.filter(ours)
    return {
      diff: clipDiff(diff),
      trace: tracePlan(readPlanScope(plan), changed, (path, entry) => inScope(path, [entry])),
      isBegun: changed.length > 0,
    }
  } catch (error) {
    return notToBeTold(error instanceof Error ? error.message : String(error))
  }
}

/** For one command of git; a stop must not wait for it as long as for a review. */
const gitMs = 10_000

function notToBeTold(why: string): Work {
  debug(`what changed since the approval is not known: ${why}`)
  return unknownWork
}

/** Whole files, so that no secret is cut in two before it is looked for. */
function clipDiff(diff: string): string {
  if (diff.length <= mostOfDiff) return diff
  const end = diff.lastIndexOf('\ndiff --git ', mostOfDiff)
  return `${diff.slice(0, Math.max(0, end))}\n[… and more files that are not shown …]`
}

const mostOfDiff = 1_000_000
