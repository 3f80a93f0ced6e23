import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { findCheckout } from '../../bootstrap/install/install-here.ts'
import { playDemo } from './play-demo.ts'
import { openTerminal } from './terminal.ts'
import { writeReport } from './write-report.ts'

export const demoCommand = (): Command =>
  new Command('demo')
    .description('See the gate work: offline, without keys or clients, in a throwaway repository.')
    .option('--keep', 'leave the repository for you to look at')
    .option('--json', 'one JSON object a line on stdout')
    .addHelpText('after', '\nExamples:\n  $ plan-gate demo\n  $ plan-gate demo --keep\n')
    .action(async (flags: { keep?: boolean; json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { folder, worktree, failures } = await playDemo(terminal)
      const { root, gitDirs } = await findCheckout(worktree)
      const { path: report } = await writeReport(root, gitDirs, join(folder, 'report.html'))
      const keeps = flags.keep === true
      if (!keeps) removeAllBut('report.html', folder)
      if (terminal.json)
        terminal.out(JSON.stringify({ event: 'result', failures, report, ...(keeps ? { worktree } : {}) }))
      if (failures > 0) process.exitCode = 1
      terminal.note(`What happened, as a page: ${report}`)
      if (keeps) terminal.note(`The repository is left in ${worktree}.`)
      if (failures === 0)
        terminal.note('\nFor real, in a repository of yours:\n  npx plan-gate bootstrap docs/strategy.md')
      else
        terminal.note(terminal.paint('red', `\n${failures} of the promises above were not kept. Please report this.`))
    })

function removeAllBut(name: string, folder: string): void {
  for (const other of readdirSync(folder))
    if (other !== name) rmSync(join(folder, other), { recursive: true, force: true, maxRetries: 3 })
}
