import { Command } from 'commander'
import { findCheckout } from '../../bootstrap/install/install-here.ts'
import { checkRecord } from './check-record.ts'
import { openTerminal } from './terminal.ts'

export const verifyCommand = (): Command =>
  new Command('verify')
    .description('Check the record: the chain of the ledger, each snapshot against it, and the approval. For CI, too.')
    .option('--json', 'the checks as JSON on stdout')
    .addHelpText('after', '\nExit code: 0 everything holds and the plan is approved, 1 something does not hold.\n')
    .action(async (flags: { json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { root } = await findCheckout(process.cwd())
      const checks = checkRecord(root)
      const holds = checks.every(({ holds }) => holds)
      if (terminal.json) terminal.out(JSON.stringify({ holds, checks }))
      else
        for (const { name, holds, detail } of checks)
          terminal.out(`${holds ? terminal.paint('green', '✓') : terminal.paint('red', '✗')} ${name}  ${detail}`)
      process.exitCode = holds ? 0 : 1
    })
