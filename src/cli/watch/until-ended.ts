import { closeSync, fstatSync } from 'node:fs'
import { isatty } from 'node:tty'
import { takeSignals } from '../../system/end-on-signals.ts'

export type Ending = { ended: Promise<void>; fail: (error: unknown) => void; release: () => void }

/** Resolves when whoever watches has had enough: a key, a signal, a terminal or a reader that has gone. */
export function untilEnded(readKeys: boolean): Ending {
  const { stdin, stdout } = process
  const keys = readKeys && stdin.isTTY
  let end = (): void => {}
  let fail: Ending['fail'] = () => {}
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  const pressed = (key: string): void => {
    // In raw mode Ctrl-C and Ctrl-D arrive as characters.
    if (/[qQ\u0003\u0004]/.test(key)) end()
  }
  const giveBack = takeSignals(end)
  // EPIPE of a reader that has gone, EIO of a terminal that has.
  stdout.on('error', end)
  if (keys) {
    stdin.setEncoding('utf8').setRawMode(true)
    stdin.on('data', pressed).on('end', end).on('error', end)
  }
  return {
    ended,
    fail,
    release: () => {
      giveBack()
      if (keys) {
        stdin.removeListener('data', pressed).pause()
        stdin.setRawMode(false)
      }
      forgetGoneTerminal()
    },
  }
}

/** node gives its terminal back as it was when it ends, and aborts where that has gone meanwhile; unless it is closed. */
function forgetGoneTerminal(): void {
  for (const fd of [0, 1, 2])
    try {
      if (fstatSync(fd).isCharacterDevice() && !isatty(fd)) closeSync(fd)
    } catch {
      // It was closed by somebody else.
    }
}
