import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { findCheckout } from '../../bootstrap/install/install-here.ts'
import { readConfigIn } from '../../bootstrap/read-config-here.ts'
import { packageRoot } from '../system/package-files.ts'
import { openTerminal } from './terminal.ts'

export const configCommand = (): Command =>
  new Command('config')
    .description('Check plan-gate.yaml and print the configuration that counts, as JSON.')
    .option('--template', 'print a commented plan-gate.yaml with every key and its default')
    .option('--json', 'accepted for symmetry; the output is JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ plan-gate config --template > plan-gate.yaml\n  $ plan-gate config | jq .review\n',
    )
    .action(async (flags: { template?: boolean }) => {
      const terminal = openTerminal(false)
      if (flags.template === true)
        return void process.stdout.write(readFileSync(join(packageRoot(), 'templates', 'plan-gate.yaml'), 'utf8'))
      const { root } = await findCheckout(process.cwd())
      terminal.out(JSON.stringify(readConfigIn(root), null, 2))
    })
