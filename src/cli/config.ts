import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pendingConfig } from '../config/compiled-config.ts'
import { invalidConfig } from '../config/errors.ts'
import { compileConfig, recompileConfig } from '../install/compile-config.ts'
import { UserError } from '../system/errors.ts'
import { packageRoot } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import type { Run } from './command.ts'

export const configCommand: Run<'config'> = async ({ template: isTemplate, apply }) => {
  process.stdout.write(isTemplate ? template() : `${JSON.stringify(await effectiveConfig(apply), null, 2)}\n`)
}

const template = (): string => readFileSync(join(packageRoot(), 'templates', 'plan-gate.yaml'), 'utf8')

async function effectiveConfig(apply: boolean): Promise<object> {
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
