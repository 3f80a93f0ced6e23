import { Command, Option } from 'commander'
import { reportInstallPlan } from '../../bootstrap/bootstrap.ts'
import { installHere } from '../install/apply.ts'
import { type Reviewer, reviewers } from '../install/check-reviewer.ts'
import type { InstallResult } from '../schemas/output.ts'
import { helpText, openTerminal, progressTeller } from './ui.ts'

type Flags = { reviewer?: Reviewer; reflect?: boolean; track?: boolean; dryRun?: boolean; json?: boolean }

export const installCommand = (): Command =>
  new Command('install')
    .description('Put the gate into the checkout you are in, as it is.')
    .addOption(new Option('--reviewer <who>', 'who reviews the plan').choices(reviewers))
    .option('--reflect', 'let a second reviewer follow the implementation')
    .option('--track', 'for teams: files that are meant to be committed')
    .option('--dry-run', 'print what would be created or changed, and change nothing')
    .option('--json', 'one JSON object a line on stdout')
    .addHelpText(
      'after',
      helpText([
        ['plan-gate install --dry-run', 'what it would write'],
        ['plan-gate install --reviewer checklist', 'without any account'],
        ['plan-gate install --track', 'then commit what it has written'],
      ]),
    )
    .action(async (flags: Flags) => {
      const terminal = openTerminal(flags.json === true)
      const tell = progressTeller(terminal)
      const done = await installHere(
        process.cwd(),
        {
          reviewer: flags.reviewer ?? null,
          reflect: flags.reflect === true,
          ...(flags.track === true ? { track: true } : {}),
          dryRun: flags.dryRun === true,
        },
        tell,
      )
      if (done.kind === 'dry-run') reportInstallPlan(done.plan, done.root, tell)
      const settings = done.plan.settings.path
      if (terminal.json)
        terminal.out(
          JSON.stringify({
            event: 'result',
            kind: done.kind,
            root: done.root,
            settings,
            files: done.plan.files.map((file) => file.path),
          } satisfies InstallResult),
        )
      else
        terminal.note(
          done.kind === 'dry-run'
            ? '\nNothing was changed.'
            : `\nThe gate stands in ${done.root}. Start \`claude\` there; \`plan-gate uninstall\` takes it away again.`,
        )
    })
