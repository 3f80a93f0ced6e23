import { isRecordedApproval, readApproval } from '../state/approval.ts'
import { type Refused, readRegular, StoreError, throwIfUnreadable } from '../state/files.ts'
import { maxPlanBytes, planPath, reviewPaths } from '../state/own-paths.ts'
import { readCheck, readCheckOrThrow, recordCheck } from '../state/records.ts'
import { gitEnvironment } from '../system/environment.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import { signatureOf } from './call-notes.ts'
import { type ApprovalOrigin, type PlanFile, type PlanState, planState } from './plan-state.ts'

export const readPlanState = (root: string): PlanState =>
  planState(readPlanFile(root), readApproval(root), () => readOrigin(root))

/** Like `readPlanState`, but throws if either file exists and cannot be read. */
export function readPlanStateOrThrow(root: string) {
  const [plan, approval] = [readPlanFile(root), readApproval(root)]
  throwIfUnreadable(planPath, plan)
  throwIfUnreadable(reviewPaths.approval, approval)
  return { plan, approval, state: planState(plan, approval, () => readOrigin(root)) }
}

/** The size limit of a plan is the review's concern; the gate only has to hash it. */
export function readPlanFile(root: string): Exclude<PlanFile, { kind: 'refused' }> | Refused {
  const read = readRegular(root, planPath, maxPlanBytes)
  if (read.kind === 'absent') return { kind: 'absent' }
  if (read.kind === 'refused') return { ...read, why: `cannot be used: ${read.why}` }
  return { kind: 'read', hash: () => sha256(read.bytes) }
}

/** Without a git directory there are no records, and nothing counts as approved. */
function readOrigin(root: string): ApprovalOrigin {
  const gitDir = readGitDirs(root)?.own
  if (gitDir === undefined) return { isRecorded: false, seen: null }
  if (isRecordedApproval(root, gitDir)) return { isRecorded: true, seen: null }
  const [planHash, signature] = readCheckOrThrow(gitDir, 'plan')?.split(separator) ?? []
  return {
    isRecorded: false,
    seen:
      planHash === undefined
        ? null
        : { planHash, isNewer: signature !== signatureOf(root, 'approval') && !isTracked(root, reviewPaths.approval) },
  }
}

/** What a merge or a switch of branches has written is nobody's decision. Throws where git does not say whether that was so. */
function isTracked(root: string, path: string): boolean {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const args = ['-c', 'core.fsmonitor=false', 'ls-files', '--error-unmatch', '--', path]
  const run = spawnSync('git', args, { cwd: root, env: gitEnvironment(), timeout: 3_000, stdio: 'ignore' })
  if (run.status === 0 || run.status === 1) return run.status === 0
  const why = run.error ?? run.signal ?? run.status
  throw new StoreError(path, `cannot be read: git did not say whether it is committed (${why})`)
}

const separator = ' with '

/** After each hook: an approval written by hand from now on counts for this text, and for no earlier one. */
export function recordSeenPlan(root: string, gitDir: string): PlanState {
  const plan = readPlanFile(root)
  const state = planState(plan, readApproval(root), () => readOrigin(root))
  if (plan.kind !== 'read') return state
  const known = readCheck(gitDir, 'plan')
  // It may be approved by what was written since.
  if (state.kind === 'approved' && known?.startsWith(state.hash)) return state
  // The signature last: an approval that is written meanwhile does not count.
  const seen = `${plan.hash()}${separator}${signatureOf(root, 'approval')}`
  if (known !== seen) recordCheck(gitDir, 'plan', seen)
  return state
}
