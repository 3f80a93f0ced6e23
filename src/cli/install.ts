import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { askTrust } from '../../bootstrap/ask-trust.ts'
import { reportInstallPlan } from '../../bootstrap/bootstrap.ts'
import { installHere } from '../install/apply.ts'
import { type Reviewer, reviewers } from '../install/prerequisites.ts'
import { uninstall } from '../install/uninstall.ts'
import type { InstallResult, UninstallOutput } from '../schemas/output.ts'
import { findCheckout } from '../system/repository.ts'
import { askOnTerminal, helpText, openTerminal, progressPrinter } from './terminal.ts'

type Flags = {
  reviewer?: Reviewer
  reflect?: boolean
  track?: boolean
  trust?: boolean
  dryRun?: boolean
  json?: boolean
}

export const installCommand = (): Command =>
  new Command('install')
    .description('Install the gate into the current checkout.')
    .addOption(new Option('--reviewer <who>', 'who reviews the plan').choices(reviewers))
    .option('--reflect', 'let a second reviewer follow the implementation')
    .option('--track', 'for teams: write files that can be committed')
    .option('--trust', 'trust what the repository brings (hooks, servers, skills …) without a question')
    .option('--dry-run', 'print what would be created or changed, and change nothing')
    .option('--json', 'one JSON object a line on stdout')
    .addHelpText(
      'after',
      helpText([
        ['plan-gate install --dry-run', 'what it would write'],
        ['plan-gate install --reviewer checklist', 'without any account'],
        ['plan-gate install --track', 'then commit the files'],
      ]),
    )
    .action(async (flags: Flags) => {
      const terminal = openTerminal(flags.json === true)
      const print = progressPrinter(terminal)
      const done = await installHere(
        process.cwd(),
        {
          reviewer: flags.reviewer ?? null,
          reflect: flags.reflect === true,
          ...(flags.track === true ? { track: true } : {}),
          dryRun: flags.dryRun === true,
        },
        print,
      )
      if (done.kind === 'dry-run') reportInstallPlan(done.plan, done.root, print)
      else await askTrust(done.root, done.gitDirs, { trust: flags.trust === true, ask: askOnTerminal(terminal) }, print)
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
            : `\nThe gate is installed in ${done.root}. \`plan-gate open\` starts Claude Code there; \`plan-gate uninstall\` removes it.`,
        )
    })

export const uninstallCommand = (): Command =>
  new Command('uninstall')
    .description('Remove the gate from the current checkout, without leftovers.')
    .option('--keep-reviews <folder>', 'copy .claude/review there first')
    .option('--json', 'the result as JSON on stdout')
    .addHelpText(
      'after',
      helpText(
        [['plan-gate uninstall'], ['plan-gate uninstall --keep-reviews ../reviews-of-login']],
        `The plan (docs/plan.md), plan-gate.yaml and the worktree itself are kept; \`plan-gate finish\` removes a worktree
that bootstrap has opened.`,
      ),
    )
    .action(async (flags: { keepReviews?: string; json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { root, gitDirs } = await findCheckout(process.cwd())
      const done = await uninstall(root, gitDirs, flags.keepReviews === undefined ? null : resolve(flags.keepReviews))
      if (terminal.json) return terminal.out(JSON.stringify({ root, ...done } satisfies UninstallOutput))
      for (const path of done.removed) terminal.note(`removed   ${path}`)
      for (const path of done.restored) terminal.note(`restored  ${path}`)
      for (const note of done.notes) terminal.note(`${terminal.paint('yellow', '!')} ${note}`)
      if (done.removed.length + done.restored.length === 0) terminal.note('plan-gate was not installed here.')
    })
