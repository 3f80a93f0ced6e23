import { closeSync, fstatSync } from 'node:fs'
import { isatty } from 'node:tty'
import { Command } from 'commander'
import { findCheckout } from '../system/repository.ts'
import { interceptSignals } from '../system/signals.ts'
import { followChanges, openWatched, type Watched } from './watch/follow.ts'
import { type FeedItem, findFeedItems, historyOf } from './watch/happenings.ts'
import { openScreen } from './watch/screen.ts'

type Flags = { tty: boolean; json?: boolean }

/** Who is told of a look at the worktree, and of what has happened since the one before. */
type Printer = { tell: (watched: Watched, news: readonly FeedItem[]) => void; close: () => void }

export const watchCommand = (): Command =>
  new Command('watch')
    .description('See the gate and its reviewer at work, live, from a second terminal.')
    .option('--no-tty', 'one plain line per happening, as where stdout is no terminal')
    .option('--json', 'one JSON object per happening, a line each')
    .addHelpText(
      'after',
      [
        '',
        'Keys: q (or Ctrl-C) quits.',
        '',
        'Examples:',
        '  $ plan-gate watch',
        '  $ plan-gate watch --no-tty | tee watch.log',
        '  $ plan-gate watch --json | jq -r \'select(.happening == "denial") | .target\'',
        '',
      ].join('\n'),
    )
    .action(async (flags: Flags) => {
      const { root } = await findCheckout(process.cwd())
      const isScreen = flags.tty && flags.json !== true && isTerminal()
      const ending = waitForEnd(isScreen)
      const look = openWatched(root)
      const teller = isScreen ? onScreen() : inLines(flags.json === true)
      let before: Watched | null = null
      const lookAgain = (): void => {
        try {
          const now = look()
          const news = findFeedItems(before, now, new Date().toISOString())
          before = now
          teller.tell(now, news)
        } catch (error) {
          ending.fail(error)
        }
      }
      lookAgain()
      const following = followChanges(root, lookAgain)
      try {
        await ending.ended
      } finally {
        following.end()
        teller.close()
        ending.release()
      }
    })

const isTerminal = (): boolean => process.stdout.isTTY === true && process.env.TERM !== 'dumb'

const wantsColour = (): boolean => isTerminal() && !process.env.NO_COLOR

/** What has a place of its own on the screen. */
const shownAbove: readonly FeedItem['kind'][] = ['gate', 'sign', 'finding']

/** As many as the tallest terminal shows. */
const maxItems = 500

function onScreen(): Printer {
  const screen = openScreen(wantsColour())
  let happened: readonly FeedItem[] | null = null
  return {
    tell: (watched, news) => {
      if (happened === null && watched.here !== null) happened = historyOf(watched.here)
      const told = news.filter(({ kind }) => !shownAbove.includes(kind))
      happened = [...(happened ?? []), ...told].slice(-maxItems)
      screen.draw({ watched, happened, now: Date.now(), clock: timeOfDay })
    },
    close: screen.close,
  }
}

function timeOfDay(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8)
}

/** A reviewer gives a sign of life each second; a log does not need all of them. */
const heartbeatMs = 15_000

function inLines(json: boolean): Printer {
  let signAt = Number.NEGATIVE_INFINITY
  const write = (text: string): void => void process.stdout.write(`${text}\n`)
  return {
    tell: (_, news) => {
      for (const happening of news) {
        if (json) write(asJson(happening))
        else if (happening.kind !== 'sign') write(asLine(happening))
        else if (performance.now() - signAt > heartbeatMs) {
          signAt = performance.now()
          write(asLine(happening))
        }
      }
    },
    close: () => {},
  }
}

/** Those two come first, and no field of the record takes their place. */
function asJson({ at, kind: happening, data }: FeedItem): string {
  const head = { happening, at }
  return JSON.stringify({ ...head, ...data, ...head })
}

const asLine = ({ at, label, text }: FeedItem): string =>
  `${at.replace('T', ' ').slice(0, 19)}  ${label.padEnd(10)} ${text}`.trimEnd()

type EndReason = { ended: Promise<void>; fail: (error: unknown) => void; release: () => void }

/** Resolves when whoever watches has had enough: a key, a signal, a terminal or a reader that has gone. */
function waitForEnd(readKeys: boolean): EndReason {
  const { stdin, stdout } = process
  const keys = readKeys && stdin.isTTY
  let end = (): void => {}
  let fail: EndReason['fail'] = () => {}
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  const pressed = (key: string): void => {
    // In raw mode Ctrl-C and Ctrl-D arrive as characters.
    if (/[qQ\u0003\u0004]/.test(key)) end()
  }
  const giveBack = interceptSignals(end)
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
      ignoreTerminalErrors()
    },
  }
}

/** node gives its terminal back as it was when it ends, and aborts where that has gone meanwhile; unless it is closed. */
function ignoreTerminalErrors(): void {
  for (const fd of [0, 1, 2])
    try {
      if (fstatSync(fd).isCharacterDevice() && !isatty(fd)) closeSync(fd)
    } catch {
      // It was closed by somebody else.
    }
}
