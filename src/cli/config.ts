import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { compileConfig } from '../install/compile-config.ts'
import { packageRoot } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import { invalidConfig } from './config-here.ts'
import { helpText } from './terminal.ts'

export const configCommand = (): Command =>
  new Command('config')
    .description('Check plan-gate.yaml and print the effective configuration as JSON.')
    .option('--template', 'print a commented plan-gate.yaml with every key and its default')
    .option('--json', 'no effect: the output is always JSON')
    .addHelpText(
      'after',
      helpText(
        [['plan-gate config --template > plan-gate.yaml'], ['plan-gate config | jq .review']],
        'Exit code: 0 plan-gate.yaml is valid, 2 it is not.',
      ),
    )
    .action(async (flags: { template?: boolean }) => {
      process.stdout.write(flags.template === true ? template() : `${JSON.stringify(await configHere(), null, 2)}\n`)
    })

const template = (): string => readFileSync(join(packageRoot(), 'templates', 'plan-gate.yaml'), 'utf8')

async function configHere(): Promise<object> {
  const { root } = await findCheckout(process.cwd())
  const { problems, notices, config } = compileConfig(root)
  if (problems.length > 0) throw invalidConfig('is not valid', problems, join(root, 'plan-gate.yaml'))
  for (const notice of notices) process.stderr.write(`note: ${notice}\n`)
  return config
}
