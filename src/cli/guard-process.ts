import { endOnSignals } from '../system/end-on-signals.ts'
import { endWithError } from './end-with-error.ts'

let unread = false

/** Whether whoever read our results has gone: `plan-gate log | head -1`. */
export const isUnread = (): boolean => unread

/** What can come upon any command: a signal, a reader that is gone, a full disk, a mistake of our own. */
export function guardProcess(json: boolean): void {
  endOnSignals()
  process.stdout.on('error', bearLoss)
  process.stderr.on('error', () => {})
  process.on('uncaughtException', (error) => {
    endWithError(error, json)
    process.exit()
  })
}

/** A command that changes something goes on to its end. A terminal that was closed says EIO. */
function bearLoss({ code }: NodeJS.ErrnoException): void {
  const isFirst = !unread
  unread = true
  if (code === 'EPIPE' || code === 'EIO' || !isFirst) return
  process.stderr.write(`plan-gate: the result could not be written to standard output (${code}).\n`)
  process.once('exit', () => {
    process.exitCode = 1
  })
}
