import { Command, CommanderError } from 'commander'
import { packageVersion } from '../system/package-files.ts'
import { UserError } from '../system/user-error.ts'
import { endWithError } from './end-with-error.ts'

/** In the order of the help. Only the one that is asked for is loaded, since all together take longer than most of them run. */
const commands = {
  bootstrap: async () => (await import('./bootstrap.ts')).bootstrapCommand,
  install: async () => (await import('./install.ts')).installCommand,
  uninstall: async () => (await import('./uninstall.ts')).uninstallCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  log: async () => (await import('./log.ts')).logCommand,
  diff: async () => (await import('./diff.ts')).diffCommand,
  approve: async () => (await import('./approve.ts')).approveCommand,
  continue: async () => (await import('./continue.ts')).continueCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  drift: async () => (await import('./drift.ts')).driftCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  review: async () => (await import('./review.ts')).reviewCommand,
  config: async () => (await import('./config.ts')).configCommand,
  routes: async () => (await import('./routes.ts')).routesCommand,
  demo: async () => (await import('./demo.ts')).demoCommand,
} as const satisfies { readonly [name: string]: () => Promise<() => Command> }

/** What commander would print on an error is said by `endWithError`, in one form for all errors. */
const quiet = { outputError: (): void => {} }
// Who reads no more (`| head`) has seen enough; a command that changes something goes on to its end.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return
  process.stderr.write(`plan-gate: the result could not be written (${code}).\n`)
  process.once('exit', () => {
    process.exitCode = 1
  })
})
process.on('uncaughtException', (error) => {
  endWithError(error, process.argv.includes('--json'))
  process.exit()
})

try {
  const program = newProgram()
  const asked = Object.entries(commands).filter(([name]) => name === process.argv[2])
  for (const [, load] of asked.length > 0 ? asked : Object.entries(commands))
    program.addCommand((await load())().exitOverride().configureOutput(quiet))
  await program.parseAsync()
} catch (error) {
  // Help and the version end here as well, with 0.
  const isHelp = error instanceof CommanderError && error.exitCode === 0
  if (!isHelp)
    endWithError(error instanceof CommanderError ? asUserError(error) : error, process.argv.includes('--json'))
}

function newProgram(): Command {
  return new Command('plan-gate')
    .description('No code before an approved plan: a gate and an independent reviewer for Claude Code.')
    .version(packageVersion(), '-V, --version')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput(quiet)
    .addHelpText('after', '\nStart in a repository with:\n  $ npx plan-gate bootstrap docs/strategy.md\n')
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
