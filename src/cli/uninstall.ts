import { resolve } from 'node:path'
import { Command } from 'commander'
import { uninstall } from '../install/uninstall.ts'
import type { UninstallOutput } from '../schemas/output.ts'
import { findCheckout } from '../system/repository.ts'
import { helpText, openTerminal } from './ui.ts'

type Flags = { keepReviews?: string; json?: boolean }

export const uninstallCommand = (): Command =>
  new Command('uninstall')
    .description('Take the gate out of the checkout you are in, and leave nothing.')
    .option('--keep-reviews <folder>', 'copy .claude/review there first')
    .option('--json', 'the result as JSON on stdout')
    .addHelpText(
      'after',
      helpText(
        [['plan-gate uninstall'], ['plan-gate uninstall --keep-reviews ../reviews-of-login']],
        `The plan (docs/plan.md), plan-gate.yaml and the worktree itself are yours and stay; \`plan-gate finish\` takes
a worktree away that bootstrap has opened.`,
      ),
    )
    .action(async (flags: Flags) => {
      const terminal = openTerminal(flags.json === true)
      const { root, gitDirs } = await findCheckout(process.cwd())
      const done = await uninstall(root, gitDirs, flags.keepReviews === undefined ? null : resolve(flags.keepReviews))
      if (terminal.json) return terminal.out(JSON.stringify({ root, ...done } satisfies UninstallOutput))
      for (const path of done.removed) terminal.note(`removed   ${path}`)
      for (const path of done.restored) terminal.note(`restored  ${path}`)
      for (const note of done.notes) terminal.note(`${terminal.paint('yellow', '!')} ${note}`)
      if (done.removed.length + done.restored.length === 0) terminal.note('There was nothing of plan-gate here.')
    })
