import { Command, CommanderError } from 'commander'
import { packageVersion } from '../system/package-files.ts'
import { bootstrapCommand } from './bootstrap.ts'
import { configCommand } from './config.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { driftCommand } from './drift.ts'
import { endWithError } from './end-with-error.ts'
import { explainCommand } from './explain.ts'
import { installCommand } from './install.ts'
import { statusCommand } from './status.ts'
import { uninstallCommand } from './uninstall.ts'

const program = new Command('plan-gate')
  .description('No code before an approved plan: a gate and an independent reviewer for Claude Code.')
  .version(packageVersion(), '-V, --version')
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'plan-gate: ')) })
  .exitOverride()
  .addHelpText('after', '\nStart in a repository with:\n  $ npx plan-gate bootstrap docs/strategy.md\n')

for (const command of [
  bootstrapCommand,
  installCommand,
  uninstallCommand,
  doctorCommand,
  statusCommand,
  driftCommand,
  explainCommand,
  configCommand,
  demoCommand,
])
  program.addCommand(command().exitOverride())

try {
  await program.parseAsync()
} catch (error) {
  // Commander has said what was wrong; help and version end here as well, with 0.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else endWithError(error, process.argv.includes('--json'))
}
