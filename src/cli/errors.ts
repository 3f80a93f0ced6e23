import { StoreError } from '../state/files.ts'
import { systemErrorCode, UserError } from '../system/errors.ts'
import { exitOnSignals } from '../system/signals.ts'
import { escapeHidden } from '../text/clean.ts'
import { withOwnCommand } from './terminal.ts'

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

/** The message and the next step; a stack only with PLAN_GATE_DEBUG. */
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
