import { type Command, CommanderError } from 'commander'
import { nearestName } from '../config/nearest-name.ts'
import { UserError } from '../system/errors.ts'
import { packageVersion } from '../system/package.ts'
import { type CommandName, commandNames } from '../text/own-commands.ts'
import { describedCommand, endWithError, guardProcess, makeCommand, type Run } from './command.ts'

/** In the order of the help. Only the one that runs is loaded: loading all takes longer than most of them run. */
const runs: { readonly [N in CommandName]: () => Promise<Run<N>> } = {
  bootstrap: async () => (await import('./bootstrap.ts')).bootstrapCommand,
  open: async () => (await import('./bootstrap.ts')).openCommand,
  trust: async () => (await import('./trust.ts')).trustCommand,
  untrust: async () => (await import('./trust.ts')).untrustCommand,
  install: async () => (await import('./install.ts')).installCommand,
  uninstall: async () => (await import('./install.ts')).uninstallCommand,
  finish: async () => (await import('./finish.ts')).finishCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  watch: async () => (await import('./watch.ts')).watchCommand,
  log: async () => (await import('./log.ts')).logCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  diff: async () => (await import('./diff.ts')).diffCommand,
  approve: async () => (await import('./approve.ts')).approveCommand,
  findings: async () => (await import('./findings.ts')).findingsCommand,
  waive: async () => (await import('./findings.ts')).waiveCommand,
  continue: async () => (await import('./approve.ts')).continueCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  drift: async () => (await import('./drift.ts')).driftCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  review: async () => (await import('./review.ts')).reviewCommand,
  calibrate: async () => (await import('./calibrate.ts')).calibrateCommand,
  config: async () => (await import('./config.ts')).configCommand,
  routes: async () => (await import('./routes.ts')).routesCommand,
  schema: async () => (await import('./schema.ts')).schemaCommand,
  completion: async () => (await import('./completion.ts')).completionCommand(allCommands()),
  demo: async () => (await import('./demo.ts')).demoCommand,
}

const words = process.argv.slice(2)

/** Arguments after `--` are for Claude Code. */
const isJson = (words.includes('--') ? words.slice(0, words.indexOf('--')) : words).includes('--json')
guardProcess(isJson)

try {
  await run()
} catch (error) {
  if (error instanceof CommanderError) endWithCommanderError(error)
  else endWithError(error, isJson)
}

async function run(): Promise<void> {
  assertFolderExists()
  const given = words[0] === 'help' && words[1] !== undefined ? [words[1], '--help'] : words
  const [first = ''] = given
  const name = commandNames.find((each) => each === first)
  if (name === undefined && first !== '' && first !== 'help' && !first.startsWith('-')) throw unknownCommand(first)
  const program = newProgram()
  for (const command of allCommands(name === undefined ? commandNames : [name])) program.addCommand(command)
  await program.parseAsync(given, { from: 'user' })
}

/** The current folder may have been removed. */
function assertFolderExists(): void {
  try {
    process.cwd()
  } catch {
    throw new UserError('The current folder was removed.', 'Go to another one (cd), then try again.')
  }
}

function allCommands(names: readonly CommandName[] = commandNames): Command[] {
  return names.map((name) => makeCommand(name, runs[name]))
}

function newProgram(): Command {
  return describedCommand(
    'plan-gate',
    'No code before an approved plan: a gate and an independent reviewer for Claude Code.',
    [
      'plan-gate demo                            see it work, offline',
      'npx plan-gate bootstrap docs/strategy.md  start in your own repository',
      'plan-gate help review                     each command has examples',
    ],
    ['Exit code: 0 done, 1 failed or does not hold, 2 something you can fix.'],
  )
    .version(packageVersion(), '-V, --version')
    .configureHelp({ subcommandTerm: (command) => command.name() })
}

function unknownCommand(given: string): UserError {
  const nearest = nearestName(given, commandNames)
  const hint = nearest === undefined ? '' : `Did you mean \`plan-gate ${nearest}\`? `
  return new UserError(`unknown command ${JSON.stringify(given)}.`, `${hint}See \`plan-gate --help\`.`)
}

function endWithCommanderError(error: CommanderError): void {
  // Help and the version, too.
  if (error.exitCode === 0) return
  // No arguments: the help has been shown.
  if (error.code === 'commander.help') process.exitCode = 2
  else endWithError(asUserError(error), isJson)
}

/** Commander prints `error: unknown option '--x'`, and a suggestion on the next line. */
function asUserError({ message }: CommanderError): UserError {
  const [what = message, ...hints] = message.replace(/^error: /, '').split('\n')
  const [name = ''] = words
  const see = `See \`plan-gate ${name.startsWith('-') ? '' : `${name} `}--help\`.`
  const [, given = '', choices = ''] = /'([^']*)' is invalid.* Allowed choices are (.*)\./.exec(what) ?? []
  const nearest = given === '' ? undefined : nearestName(given, choices.split(', '))
  const meant =
    nearest === undefined ? hints.map((hint) => hint.replace(/^\((.*)\)$/, '$1')) : [`Did you mean ${nearest}?`]
  return new UserError(what.endsWith('.') ? what : `${what}.`, [...meant, see].join(' '))
}
