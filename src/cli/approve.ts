import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { assertNoToolCall } from '../gate/call-notes.ts'
import { approvedHash } from '../gate/plan-state.ts'
import { readPlanFile, readPlanState } from '../gate/read-plan-state.ts'
import { readWorkingTree, rebaseline } from '../gate/working-tree.ts'
import { changedAfterApproval, leaveNote } from '../plan/plan-change.ts'
import { readRevisionLimit, readSpentTokens, reviewedRevisions } from '../plan/revisions.ts'
import type { ApproveOutput, ContinueOutput } from '../schemas/output.ts'
import type { Approval } from '../schemas/records.ts'
import { readApproval, writeApproval } from '../state/approval.ts'
import { endCycle, withLock } from '../state/cycles.ts'
import { throwIfUnreadable } from '../state/files.ts'
import { appendEvent, throwIfLedgerDamaged } from '../state/ledger.ts'
import { planPath, reviewPaths } from '../state/own-paths.ts'
import { countRevisions } from '../state/revisions.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import type { Run } from './command.ts'
import { oneLine } from './terminal.ts'

export const approveCommand: Run<'approve'> = async (flags, terminal) => {
  const reason = (flags.reason ?? '').trim()
  if (!flags.force || reason === '')
    throw new UserError(
      'An approval without the reviewer needs --force and a reason.',
      'plan-gate approve --force --reason "why this plan may be carried out"',
    )
  const { planHash } = await decideHere((root, gitDirs) => {
    if (readPlanState(root).kind === 'approved') throw isApprovedAlready()
    return approveByHand(root, gitDirs, reason)
  })
  terminal.answer(
    { plan_hash: planHash, route: 'manual', reason } satisfies ApproveOutput,
    `${planPath} is approved by you (${planHash.slice(0, 12)}…); the gate is open until the plan changes.`,
  )
}

export const isApprovedAlready = (): UserError =>
  new UserError(`${planPath} is approved already.`, 'There is nothing to do; see `plan-gate status`.')

/** For a decision of the user's: not while a tool call runs, which could have made it, nor while a review does. */
export async function decideHere<T>(decide: (root: string, gitDirs: GitDirs) => T | Promise<T>): Promise<T> {
  const { root, gitDirs } = await findGatedCheckout(process.cwd())
  assertNoToolCall(gitDirs.own)
  const held = await withLock(root, async () => decide(root, gitDirs), { waitMs: 10_000 })
  if (held.kind === 'done') return held.value
  throw new UserError('A review of the plan is running.', 'Wait for it (plan-gate status), then try again.', 1)
}

/** Only inside `withLock`. */
export async function approveByHand(
  root: string,
  gitDirs: GitDirs,
  reason: string,
  waived: Approval['waived'] = undefined,
  /** The text that the user has read; null: the one that is there. */
  seen: string | null = null,
): Promise<{ planHash: string }> {
  const plan = readPlanFile(root)
  if (plan.kind !== 'read')
    throw new UserError(
      plan.kind === 'absent' ? `There is no ${planPath} here.` : `${planPath} ${plan.why}.`,
      'Have it written first (the skill plan-with-review).',
    )
  const planHash = plan.hash()
  if (seen !== null && seen !== planHash) throw planHasChanged()
  throwIfLedgerDamaged(root, 'so nothing was approved')
  // An approval of another text ends here, with its cycle.
  const before = readApproval(root)
  throwIfUnreadable(reviewPaths.approval, before)
  if (![null, planHash].includes(approvedHash(before))) await endCycle(root, changedAfterApproval)
  const revision = countRevisions(root).value
  // Later changes count as drift unless the plan names them.
  rebaseline(gitDirs.own, readWorkingTree(root, gitDirs))
  // The event first: an unrecorded approval is worse than an event without an approval.
  await appendEvent(root, { type: 'approved-manually', plan_hash: planHash, reason })
  writeApproval(root, {
    is_optimal: true,
    plan_hash: planHash,
    review_version: revision === 0 ? null : revision,
    approved_at: new Date().toISOString(),
    codex_thread_id: null,
    verification: null,
    route: 'manual',
    reason,
    ...(waived === undefined ? {} : { waived }),
  })
  leaveNote(
    root,
    `plan-gate: the user approved docs/plan.md as it is (${oneLine(reason).slice(0, 300)}). The gate is open; ask "Ready to execute?" before you start.`,
  )
  return { planHash }
}

export const planHasChanged = (): UserError =>
  new UserError(
    `${planPath} has changed since you loaded this page, so nothing was recorded.`,
    'Reload the page and read what is new. What you have written stays.',
  )

export const continueCommand: Run<'continue'> = async (_, terminal) => {
  const { root, gitDirs } = await findGatedCheckout(process.cwd())
  assertNoToolCall(gitDirs.own)
  throwIfLedgerDamaged(root, 'so nothing was changed')
  // Loaded for no other decision.
  const { validConfig } = await import('./config.ts')
  const { plan } = await validConfig(root)
  const before = readRevisionLimit(root, plan.max_revisions)
  const spent = readSpentTokens(root, reviewedRevisions(root), plan.cycle_tokens ?? null)
  if (before.revisions < before.limit && spent === null)
    throw new UserError(
      `The limit is not reached: ${before.revisions} of ${before.limit} revisions were reviewed.`,
      'Let Claude revise the plan.',
    )
  await appendEvent(root, { type: 'continued', revision: before.revisions })
  const limit = before.limit + plan.max_revisions
  terminal.answer(
    { revisions: before.revisions, limit } satisfies ContinueOutput,
    `The plan is reviewed again, up to revision ${limit}${spent === null ? '' : ` and ${spent.limit + (plan.cycle_tokens ?? 0)} tokens`}. Tell Claude to continue.`,
  )
}
