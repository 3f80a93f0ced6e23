import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { invalidConfig } from '../config/errors.ts'
import { assertNoToolCall } from '../gate/call-notes.ts'
import { compileConfig } from '../install/compile-config.ts'
import { readRevisionLimit, readSpentTokens, reviewedRevisions } from '../plan/revisions.ts'
import type { ContinueOutput } from '../schemas/output.ts'
import { appendEvent, throwIfLedgerDamaged } from '../state/ledger.ts'
import { UserError } from '../system/errors.ts'
import type { Run } from './command.ts'

export const continueCommand: Run<'continue'> = async (_, terminal) => {
  const { root, gitDirs } = await findGatedCheckout(process.cwd())
  assertNoToolCall(gitDirs.own)
  throwIfLedgerDamaged(root, 'so nothing was changed')
  const { config, problems } = compileConfig(root)
  if (problems.length > 0) throw invalidConfig('is not valid', problems)
  const { plan } = config
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
