import { Command, CommanderError } from 'commander'
import { packageVersion } from '../system/package-files.ts'
import { UserError } from '../system/user-error.ts'
import { approveCommand } from './approve.ts'
import { bootstrapCommand } from './bootstrap.ts'
import { configCommand } from './config.ts'
import { continueCommand } from './continue.ts'
import { demoCommand } from './demo.ts'
import { diffCommand } from './diff.ts'
import { doctorCommand } from './doctor.ts'
import { driftCommand } from './drift.ts'
import { endWithError } from './end-with-error.ts'
import { explainCommand } from './explain.ts'
import { installCommand } from './install.ts'
import { logCommand } from './log.ts'
import { reviewCommand } from './review.ts'
import { routesCommand } from './routes.ts'
import { statusCommand } from './status.ts'
import { uninstallCommand } from './uninstall.ts'
import { verifyCommand } from './verify.ts'

/** What commander would print on an error is said by `endWithError`, in one form for all errors. */
const quiet = { outputError: (): void => {} }
const program = new Command('plan-gate')
  .description('No code before an approved plan: a gate and an independent reviewer for Claude Code.')
  .version(packageVersion(), '-V, --version')
  .showSuggestionAfterError()
  .exitOverride()
  .configureOutput(quiet)
  .addHelpText('after', '\nStart in a repository with:\n  $ npx plan-gate bootstrap docs/strategy.md\n')

for (const command of [
  bootstrapCommand,
  installCommand,
  uninstallCommand,
  doctorCommand,
  statusCommand,
  logCommand,
  diffCommand,
  approveCommand,
  continueCommand,
  verifyCommand,
  driftCommand,
  explainCommand,
  reviewCommand,
  configCommand,
  routesCommand,
  demoCommand,
])
  program.addCommand(command().exitOverride().configureOutput(quiet))

try {
  await program.parseAsync()
} catch (error) {
  // Help and the version end here as well, with 0.
  const isHelp = error instanceof CommanderError && error.exitCode === 0
  if (!isHelp)
    endWithError(error instanceof CommanderError ? asUserError(error) : error, process.argv.includes('--json'))
}

/** Commander says `error: unknown option '--x'`, and on the next line what may have been meant. */
function asUserError({ message, code }: CommanderError): UserError {
  const [what = message, ...hints] = message.replace(/^error: /, '').split('\n')
  const known = code !== 'commander.unknownCommand' && process.argv[2]?.startsWith('-') === false
  const command = known ? ` ${process.argv[2]}` : ''
  return new UserError(
    what.endsWith('.') ? what : `${what}.`,
    [...hints, `See \`plan-gate${command} --help\`.`].join(' '),
  )
}
