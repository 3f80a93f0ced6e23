import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { findCheckout } from '../../bootstrap/install/install-here.ts'
import { withTemporaryFolder } from '../system/with-temporary-folder.ts'
import { helpText } from './help-text.ts'
import { playDemo } from './play-demo.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { writeReport } from './write-report.ts'

export const demoCommand = (): Command =>
  new Command('demo')
    .description('See the gate work: offline, without keys or clients, in a throwaway repository.')
    .option('--keep', 'leave the repository for you to look at')
    .option('--json', 'one JSON object a line on stdout')
    .addHelpText(
      'after',
      helpText([
        ['plan-gate demo', 'a few seconds; a report is left'],
        ['plan-gate demo --keep', 'and the repository as well'],
      ]),
    )
    .action(async (flags: { keep?: boolean; json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const play = (folder: string): Promise<void> => run(terminal, folder, flags.keep === true)
      if (flags.keep === true) await play(newFolder())
      else await withTemporaryFolder('demo', play)
    })

const newFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'plan-gate-demo-')))

async function run(terminal: Terminal, folder: string, isKept: boolean): Promise<void> {
  const { worktree, failures } = await playDemo(terminal, folder)
  const { root, gitDirs } = await findCheckout(worktree)
  const { path: report } = await writeReport(root, gitDirs, join(isKept ? folder : newFolder(), 'report.html'))
  if (terminal.json)
    terminal.out(JSON.stringify({ event: 'result', failures, report, ...(isKept ? { worktree } : {}) }))
  if (failures > 0) process.exitCode = 1
  terminal.note(`What happened, as a page: ${report}`)
  if (isKept) terminal.note(`The repository is left in ${worktree}.`)
  if (failures === 0) terminal.note('\nFor real, in a repository of yours:\n  npx plan-gate bootstrap docs/strategy.md')
  else terminal.note(terminal.paint('red', `\n${failures} of the promises above were not kept. Please report this.`))
}
