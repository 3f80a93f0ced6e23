import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { pendingConfig } from '../config/compiled-config.ts'
import { invalidConfig } from '../config/errors.ts'
import { compileConfig, recompileConfig } from '../install/compile-config.ts'
import { UserError } from '../system/errors.ts'
import { packageRoot } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import { newCommand } from './new-command.ts'

export const configCommand = (): Command =>
  newCommand(
    'config',
    'Check plan-gate.yaml and print the effective configuration as JSON.',
    ['plan-gate config --template > plan-gate.yaml', 'plan-gate config --apply', 'plan-gate config | jq .review'],
    'Exit code: 0 plan-gate.yaml is valid, 2 it is not.',
  )
    .option('--template', 'print a commented plan-gate.yaml with every key and its default')
    .option('--apply', 'let plan-gate.yaml as it is now count in running sessions')
    .option('--json', 'no effect: the output is always JSON')
    .action(async (flags: { template?: boolean; apply?: boolean }) => {
      const shown = flags.template === true ? template() : `${JSON.stringify(await configHere(flags), null, 2)}\n`
      process.stdout.write(shown)
    })

const template = (): string => readFileSync(join(packageRoot(), 'templates', 'plan-gate.yaml'), 'utf8')

async function configHere({ apply = false }: { apply?: boolean }): Promise<object> {
  const { root, gitDirs } = await findCheckout(process.cwd())
  const { problems, notices, config } = compileConfig(root)
  if (problems.length > 0) throw invalidConfig('is not valid', problems, join(root, 'plan-gate.yaml'))
  for (const notice of notices) process.stderr.write(`note: ${notice}\n`)
  if (apply) {
    recompileConfig(root)
    if (pendingConfig(root, gitDirs.own) !== null)
      throw new UserError(
        'A tool call of Claude Code runs here, which may have written plan-gate.yaml: nothing was applied.',
        'Run this again when the call has ended, or start the session again.',
        1,
      )
  }
  return config
}
