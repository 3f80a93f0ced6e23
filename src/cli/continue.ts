import type { Command } from 'commander'
import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { invalidConfig } from '../config/errors.ts'
import { assertNoToolCall } from '../gate/call-notes.ts'
import { compileConfig } from '../install/compile-config.ts'
import { readRevisionLimit, readSpentTokens, reviewedRevisions } from '../plan/revisions.ts'
import type { ContinueOutput } from '../schemas/output.ts'
import { appendEvent, throwIfLedgerDamaged } from '../state/ledger.ts'
import { UserError } from '../system/errors.ts'
import { newCommand } from './new-command.ts'
import { openTerminal } from './terminal.ts'

export const continueCommand = (): Command =>
  newCommand(
    'continue',
    'Allow more revisions of the plan after their limit, or that of their tokens, was reached.',
    ['plan-gate continue', 'plan-gate continue --json | jq .limit'],
    'The next save of docs/plan.md is then sent to review.',
  )
    .option('--json', 'the new limit as JSON on stdout')
    .action(async (flags: { json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
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
      terminal.out(
        terminal.json
          ? JSON.stringify({ revisions: before.revisions, limit } satisfies ContinueOutput)
          : `The plan is reviewed again, up to revision ${limit}${spent === null ? '' : ` and ${spent.limit + (plan.cycle_tokens ?? 0)} tokens`}. Tell Claude to continue.`,
      )
    })
