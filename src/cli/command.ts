import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { StoreError } from '../state/files.ts'
import { systemErrorCode, UserError } from '../system/errors.ts'
import { exitOnSignals } from '../system/signals.ts'
import { escapeHidden } from '../text/clean.ts'
import type { CommandName } from '../text/own-commands.ts'
import commands from './commands.json'
import { openTerminal, type Terminal, withOwnCommand } from './terminal.ts'

/** `anyValue`: the choices are for completion, and the command itself says what is wrong with another value. */
type Described =
  | string
  | {
      readonly does: string
      readonly choices?: readonly string[]
      readonly default?: string | readonly string[]
      readonly defaultWords?: string
      readonly conflicts?: readonly string[]
      readonly anyValue?: boolean
    }

/** What a command says of itself, and what it takes: a row of commands.json. */
type Row = {
  readonly does: string
  readonly examples: readonly string[]
  readonly more?: readonly string[]
  readonly arguments?: { readonly [name: string]: Described }
  readonly options: { readonly [flags: string]: Described }
}

type Table = typeof commands
type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S
type Name<F extends string> = F extends `${string}--${infer Long}`
  ? Long extends `${infer Word} ${string}`
    ? Name<`--${Word}`>
    : Long extends `no-${infer Rest}`
      ? Camel<Rest>
      : Camel<Long>
  : never
type Value<F extends string, D> = D extends { default: infer V }
  ? V extends string
    ? string
    : readonly string[]
  : F extends `${string}<${string}`
    ? string | null
    : F extends `${string}[${string}`
      ? string | true | null
      : boolean

/** The options of a command as commands.json has them: null or false where one was not given. */
export type Flags<N extends CommandName> = {
  readonly [F in keyof Table[N]['options'] & string as Name<F>]: Value<F, Table[N]['options'][F]>
}
export type Run<N extends CommandName> = (
  flags: Flags<N>,
  terminal: Terminal,
  operands: readonly string[],
) => void | Promise<void>

type AnyRun = (flags: never, terminal: Terminal, operands: readonly string[]) => void | Promise<void>

export function makeCommand(name: CommandName, load: () => Promise<AnyRun>): Command {
  const { does, examples, more = [], arguments: operands = {}, options }: Row = commands[name]
  const command = describedCommand(name, does, examples, more)
  for (const [operand, described] of Object.entries(operands)) command.addArgument(asArgument(operand, described))
  for (const [flags, described] of Object.entries(options)) command.addOption(asOption(flags, described))
  return command.action(async () => {
    const flags = flagsOf(command)
    const run = await load()
    await run(flags as never, openTerminal(flags.json === true), command.processedArgs.flat().filter(isGiven))
  })
}

const isGiven = (operand: unknown): operand is string => operand !== undefined

/** With the help that stands above and below the options: what it does, examples, what else there is to know. */
export const describedCommand = (
  name: string,
  does: string,
  examples: readonly string[],
  more: readonly string[],
): Command =>
  new Command(name)
    .description(does)
    .addHelpText('after', ['\nExamples:', ...examples.map((line) => `  $ ${line}`), ''].join('\n'))
    .addHelpText('after', more.length === 0 ? '' : `${more.join('\n')}\n`)
    .exitOverride()
    .configureOutput({ outputError: () => {} })

const detailsOf = (described: Described) => (typeof described === 'string' ? { does: described } : described)

function asArgument(name: string, described: Described): Argument {
  const { does, choices, default: byDefault } = detailsOf(described)
  const argument = new Argument(name, does).default(byDefault)
  return choices === undefined ? argument : argument.choices(choices)
}

function asOption(flags: string, described: Described): Option {
  const details = detailsOf(described)
  const { does, choices, default: byDefault, defaultWords, conflicts = [], anyValue = false } = details
  const option = new Option(flags, does).conflicts([...conflicts])
  if (byDefault !== undefined) option.default(byDefault, defaultWords)
  if (choices === undefined) return option
  option.choices(choices)
  if (anyValue) return option.argParser(String)
  return Array.isArray(byDefault) ? option.argParser(collect(choices)) : option
}

const collect =
  (choices: readonly string[]) =>
  (given: string, before: readonly string[]): readonly string[] => {
    if (choices.includes(given)) return [...before, given]
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
  }

function flagsOf(command: Command): { readonly [name: string]: unknown } {
  const given = command.opts()
  const absent = ({ required, optional }: Option): null | false => (required || optional ? null : false)
  return Object.fromEntries(
    command.options.map((option) => [option.attributeName(), given[option.attributeName()] ?? absent(option)]),
  )
}

let outputClosed = false

/** Whether the reader of stdout has closed it: `plan-gate log | head -1`. */
export const isOutputClosed = (): boolean => outputClosed

/** For every command: signals, a closed stdout, a full disk, and uncaught errors. */
export function guardProcess(json: boolean): void {
  exitOnSignals()
  process.stdout.on('error', onStdoutError)
  process.stderr.on('error', () => {})
  process.on('uncaughtException', (error) => {
    endWithError(error, json)
    process.exit()
  })
}

/** The command continues without its output. A closed terminal gives EIO. */
function onStdoutError({ code }: NodeJS.ErrnoException): void {
  const isFirst = !outputClosed
  outputClosed = true
  if (code === 'EPIPE' || code === 'EIO' || !isFirst) return
  process.stderr.write(`plan-gate: the result could not be written to standard output (${code}).\n`)
  process.once('exit', () => {
    process.exitCode = 1
  })
}

export function endWithError(error: unknown, json: boolean): void {
  const { exitCode, ...words } = describeError(error)
  const [message, nextStep] = [withOwnCommand(words.message), withOwnCommand(words.nextStep)]
  if (json)
    process.stdout.write(`${JSON.stringify({ event: 'error', message, next_step: nextStep, exit_code: exitCode })}\n`)
  process.stderr.write(`plan-gate: ${escapeControls(message)}\n  → ${escapeControls(nextStep)}\n`)
  if (process.env.PLAN_GATE_DEBUG === '1' && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  process.exitCode = exitCode
}

/** File names and what git says. */
const escapeControls = (text: string): string => text.replace(/[^\n\t]+/g, escapeHidden)

/** Also what a slash command runs. */
const readOnly =
  'Commands of a session run in its sandbox, which writes nothing here: run it in a terminal of your own.'

function describeError(error: unknown): { message: string; nextStep: string; exitCode: number } {
  if (error instanceof UserError) return { message: error.message, nextStep: error.nextStep, exitCode: error.exitCode }
  if (error instanceof StoreError)
    return {
      message: error.message.replace(` ${error.next}`, ''),
      nextStep: error.message.includes('(EROFS)') ? readOnly : error.next,
      exitCode: 1,
    }
  if (error instanceof Error && systemErrorCode(error) !== null)
    return { message: `${error.message}.`, nextStep: 'Fix that, then run the same command again.', exitCode: 1 }
  return {
    message: error instanceof Error ? error.message : String(error),
    nextStep: 'This is a bug. Run it again with PLAN_GATE_DEBUG=1 and report what it prints.',
    exitCode: 1,
  }
}
