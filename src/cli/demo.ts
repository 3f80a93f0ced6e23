import { rmSync } from 'node:fs'
import { Command } from 'commander'
import { playDemo } from './play-demo.ts'
import { openTerminal } from './terminal.ts'

export const demoCommand = (): Command =>
  new Command('demo')
    .description('See the gate work: offline, without keys or clients, in a throwaway repository.')
    .option('--keep', 'leave the repository for you to look at')
    .option('--json', 'one JSON object a line on stdout')
    .action(async (flags: { keep?: boolean; json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { folder, worktree, failures } = await playDemo(terminal)
      if (flags.keep === true) terminal.note(`\nThe repository is left in ${worktree}.`)
      else rmSync(folder, { recursive: true, force: true })
      if (terminal.json)
        terminal.out(JSON.stringify({ event: 'result', failures, ...(flags.keep === true ? { worktree } : {}) }))
      if (failures > 0) process.exitCode = 1
      else terminal.note('\nFor real, in a repository of yours:\n  npx plan-gate bootstrap docs/strategy.md')
    })
