import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

export const hasTmux = spawnSync('tmux', ['-V']).status === 0
/** For the name of a test that needs it: who reads that it was skipped reads why. */
export const byTmux = `(a terminal by tmux${hasTmux ? '' : ', which is not installed here'})`

export type Tmux = {
  tmux: (...args: string[]) => string
  start: (command: string, size?: { columns: number; rows: number }) => void
  screen: () => string
  /** What is on the screen as soon as the pattern is; throws when it does not come. */
  seen: (pattern: RegExp, ms?: number) => Promise<string>
  end: () => void
}

let opened = 0

/** A terminal of the test's own, each program on a socket that nobody else uses. */
export function openTmux(): Tmux {
  let socket = ''
  const tmux = (...args: string[]): string =>
    spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' }).stdout
  const screen = (): string => tmux('capture-pane', '-p')
  const end = (): void => void (socket !== '' && tmux('kill-server'))
  return {
    tmux,
    screen,
    start: (command, { columns, rows } = { columns: 200, rows: 50 }) => {
      end()
      // A server that was just told to end still takes a session, which ends with it.
      socket = `plan-gate-${process.pid}-${++opened}`
      tmux('new-session', '-d', '-x', `${columns}`, '-y', `${rows}`, command)
    },
    seen: async (pattern, ms = 30_000) => {
      const giveUpAt = Date.now() + ms
      for (;;) {
        const shown = screen()
        if (pattern.test(shown)) return shown
        if (Date.now() > giveUpAt) throw new Error(`${pattern} was not seen on:\n${shown}`)
        await sleep(100)
      }
    },
    end,
  }
}
