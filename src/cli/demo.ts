import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { withTemporaryFolder } from '../system/with-temporary-folder.ts'
import { helpText } from './help-text.ts'
import { playDemo } from './play-demo.ts'
import { openTerminal, type Terminal } from './terminal.ts'

export const demoCommand = (): Command =>
  new Command('demo')
    .description('See the gate work: offline, without keys or clients, in a throwaway repository.')
    .option('--keep', 'leave the repository for you to look at')
    .option('--json', 'one JSON object a line on stdout')
    .addHelpText(
      'after',
      helpText([
        ['plan-gate demo', 'two seconds, nothing is left'],
        ['plan-gate demo --keep', 'and where it left the repository'],
      ]),
    )
    .action(async (flags: { keep?: boolean; json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const play = (folder: string): Promise<void> => run(terminal, folder, flags.keep === true)
      if (flags.keep === true) await play(realpathSync(mkdtempSync(join(tmpdir(), 'plan-gate-demo-'))))
      else await withTemporaryFolder('demo', play)
    })

async function run(terminal: Terminal, folder: string, isKept: boolean): Promise<void> {
  const { worktree, failures } = await playDemo(terminal, folder)
  if (isKept) terminal.note(`\nThe repository is left in ${worktree}.`)
  if (terminal.json) terminal.out(JSON.stringify({ event: 'result', failures, ...(isKept ? { worktree } : {}) }))
  if (failures > 0) process.exitCode = 1
  else terminal.note('\nFor real, in a repository of yours:\n  npx plan-gate bootstrap docs/strategy.md')
}
