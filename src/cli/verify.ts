import { Command } from 'commander'
import { findCheckout } from '../../bootstrap/install/install-here.ts'
import { neutralise } from '../safety/neutralise.ts'
import type { VerifyOutput } from '../schemas/output/verify.ts'
import { UserError } from '../system/user-error.ts'
import { checkRecord } from './check-record.ts'
import { helpText } from './help-text.ts'
import { openTerminal } from './terminal.ts'
import { checkFiles } from './verify/check-files.ts'
import { exportApproval } from './verify/export-approval.ts'

type Flags = {
  export?: string
  plan?: string
  approval?: string
  ledger?: string
  manual: boolean
  base?: string
  strictScope?: boolean
  json?: boolean
}

export const verifyCommand = (): Command =>
  new Command('verify')
    .description('Check the record here, or with --plan (in CI, without an installation) that a plan is approved.')
    .option('--plan <file>', 'the plan to check, as it was merged')
    .option('--approval <file>', 'its approval: approval.json, or what --export wrote')
    .option('--ledger <file>', 'the ledger that goes with it; with --export a copy is written there')
    .option('--no-manual', 'an approval by hand does not do')
    .option('--base <commit>', 'also tell which files were changed since then that the plan does not name')
    .option('--strict-scope', 'such files count: exit code 1')
    .option('--export <file>', 'write the approval to a file that a team can commit, if everything holds')
    .option('--json', 'the checks as JSON on stdout')
    .addHelpText(
      'after',
      helpText(
        [
          ['plan-gate verify', 'the ledger’s chain, each snapshot, the approval'],
          ['plan-gate verify --export docs/plan.approval.json --ledger docs/plan.events.jsonl'],
          ['plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --no-manual'],
          ['plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --base origin/main'],
        ],
        `Exit code: 0 everything holds and the plan is approved, 1 something does not hold, 2 bad input.
An exported approval proves no more than that somebody who can push has written it; the ledger makes it harder.`,
      ),
    )
    .action(run)

async function run(flags: Flags): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  const output = await outputFor(flags)
  process.exitCode = output.holds ? 0 : 1
  if (terminal.json) return terminal.out(JSON.stringify(output))
  const isTold = (name: string): boolean => name === 'scope' && (output.out_of_scope ?? []).length > 0
  for (const { name, holds, detail } of output.checks) {
    const mark = holds
      ? isTold(name)
        ? terminal.paintOut('yellow', '!')
        : terminal.paintOut('green', '✓')
      : terminal.paintOut('red', '✗')
    terminal.out(`${mark} ${name}  ${neutralise(detail)}`)
  }
  if (flags.export === undefined) return
  for (const file of output.exported ?? []) terminal.note(`written   ${file}`)
  if (!output.holds) terminal.note('Nothing was written: only what holds is exported.')
}

async function outputFor(flags: Flags): Promise<VerifyOutput> {
  if (flags.plan !== undefined) return checkFiles(filesIn(flags, flags.plan))
  refuseWithoutPlan(flags)
  const { root } = await findCheckout(process.cwd())
  if (flags.export !== undefined) return exportApproval(root, flags.export, flags.ledger ?? null)
  const checks = checkRecord(root)
  return { holds: checks.every(({ holds }) => holds), checks }
}

function filesIn(flags: Flags, plan: string): Parameters<typeof checkFiles>[0] {
  const { approval, ledger = null, base = null, strictScope = false } = flags
  if (flags.export !== undefined)
    throw new UserError(
      '--export and --plan are two different things.',
      'Export where the plan was approved; check the files in CI.',
    )
  if (approval === undefined)
    throw new UserError('--plan needs the approval to hold it against.', 'Give it: --approval docs/plan.approval.json.')
  if (strictScope && base === null)
    throw new UserError('--strict-scope needs to know since when.', 'Give a commit: --base origin/main.')
  return { plan, approval, ledger, base, strictScope, manualWillDo: flags.manual }
}

/** Without --plan they would silently check nothing. */
function refuseWithoutPlan(flags: Flags): void {
  const given = [
    ...(flags.approval === undefined ? [] : ['--approval']),
    ...(flags.ledger === undefined || flags.export !== undefined ? [] : ['--ledger']),
    ...(flags.manual ? [] : ['--no-manual']),
    ...(flags.base === undefined ? [] : ['--base']),
    ...(flags.strictScope === true ? ['--strict-scope'] : []),
  ]
  if (given.length > 0)
    throw new UserError(`${given.join(' and ')} can only be used with --plan.`, 'Name the plan: --plan docs/plan.md.')
}
