import { Command } from 'commander'
import { runDoctor, worstStatus } from '../../bootstrap/doctor.ts'
import type { DoctorResult } from '../schemas/output.ts'
import { findCheckout } from '../system/repository.ts'
import { helpText, openTerminal, progressPrinter } from './terminal.ts'

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('Check everything that could keep the gate from holding here.')
    .option('--json', 'one JSON object a line on stdout')
    .addHelpText(
      'after',
      helpText(
        [['plan-gate doctor'], ['plan-gate doctor --json | jq -r \'select(.status == "failed").detail\'']],
        'Exit code: 0 no failures (there may be warnings), 1 something has to be fixed.',
      ),
    )
    .action(async (flags: { json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { root, gitDirs } = await findCheckout(process.cwd())
      const results = await runDoctor(root, gitDirs)
      const print = progressPrinter(terminal)
      for (const result of results) print({ event: 'prerequisite', ...result })
      const status = worstStatus(results)
      if (terminal.json) terminal.out(JSON.stringify({ event: 'result', root, status } satisfies DoctorResult))
      else
        terminal.note(
          {
            ok: '\nThe gate holds.',
            warning: '\nThe gate holds, with warnings.',
            failed: '\nThe gate does not hold. Fix what is marked ✗.',
          }[status],
        )
      process.exitCode = status === 'failed' ? 1 : 0
    })
