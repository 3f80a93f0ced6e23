import { closeSync, fstatSync } from 'node:fs'
import { isatty } from 'node:tty'
import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { interceptSignals } from '../system/signals.ts'
import type { Run } from './command.ts'
import { type FeedItem, findFeedItems, historyOf, openWatched, type Watched } from './watch/feed.ts'
import { openScreen } from './watch/screen.ts'

/** Prints a state of the worktree, and what happened since the previous one. */
type Printer = { print: (watched: Watched, items: readonly FeedItem[]) => void; close: () => void }

/** Reading is cheap where nothing has changed, and works on network folders, which report no changes. */
const pollMs = 250

export const watchCommand: Run<'watch'> = async ({ tty, json }) => {
  const { root } = await findGatedCheckout(process.cwd())
  const isTerminal = process.stdout.isTTY === true && process.env.TERM !== 'dumb'
  const isScreen = tty && !json && isTerminal
  const ending = waitForEnd(isScreen)
  const readWatched = openWatched(root)
  const printer = isScreen ? screenPrinter() : linePrinter(json)
  let before: Watched | null = null
  const refresh = (): void => {
    try {
      const now = readWatched()
      const items = findFeedItems(before, now, new Date().toISOString())
      before = now
      printer.print(now, items)
    } catch (error) {
      ending.fail(error)
    }
  }
  refresh()
  const poll = setInterval(refresh, pollMs)
  try {
    await ending.ended
  } finally {
    clearInterval(poll)
    printer.close()
    ending.release()
  }
}

/** Shown in other parts of the screen. */
const shownAbove: readonly FeedItem['kind'][] = ['gate', 'sign', 'finding']

/** More than any terminal shows. */
const maxItems = 500

function screenPrinter(): Printer {
  const screen = openScreen(!process.env.NO_COLOR)
  let happened: readonly FeedItem[] | null = null
  return {
    print: (watched, items) => {
      if (happened === null && watched.here !== null) happened = historyOf(watched.here)
      const logged = items.filter(({ kind }) => !shownAbove.includes(kind))
      happened = [...(happened ?? []), ...logged].slice(-maxItems)
      screen.draw({ watched, happened, now: Date.now(), clock: timeOfDay })
    },
    close: screen.close,
  }
}

function timeOfDay(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8)
}

/** A reviewer reports each second; a log needs fewer lines. */
const heartbeatMs = 15_000

function linePrinter(json: boolean): Printer {
  let heartbeatAt = Number.NEGATIVE_INFINITY
  const isDue = ({ kind }: FeedItem): boolean => {
    if (json || kind !== 'sign') return true
    if (performance.now() - heartbeatAt <= heartbeatMs) return false
    heartbeatAt = performance.now()
    return true
  }
  return {
    print: (_, items) => {
      for (const item of items.filter(isDue)) process.stdout.write(`${json ? asJson(item) : asLine(item)}\n`)
    },
    close: () => {},
  }
}

/** These two come first, and fields of the ledger do not replace them. */
function asJson({ at, kind: happening, data }: FeedItem): string {
  const head = { happening, at }
  return JSON.stringify({ ...head, ...data, ...head })
}

const asLine = ({ at, label, text }: FeedItem): string =>
  `${at.replace('T', ' ').slice(0, 19)}  ${label.padEnd(10)} ${text}`.trimEnd()

/** Resolves at a key, a signal, or when the terminal or the reader of stdout is closed. */
function waitForEnd(readKeys: boolean) {
  const { stdin, stdout } = process
  const keys = readKeys && stdin.isTTY
  let [end, fail] = [(): void => {}, (_: unknown): void => {}]
  const ended = new Promise<void>((resolve, reject) => {
    ;[end, fail] = [resolve, reject]
  })
  const pressed = (key: string): void => {
    // In raw mode Ctrl-C and Ctrl-D arrive as characters.
    if (/[qQ\u0003\u0004]/.test(key)) end()
  }
  const release = interceptSignals(end)
  // EPIPE: stdout was closed. EIO: the terminal was closed.
  stdout.on('error', end)
  if (keys) {
    stdin.setEncoding('utf8').setRawMode(true)
    stdin.on('data', pressed).on('end', end).on('error', end)
  }
  return {
    ended,
    fail,
    release: () => {
      release()
      if (keys) {
        stdin.removeListener('data', pressed).pause()
        stdin.setRawMode(false)
      }
      closeLostTerminals()
    },
  }
}

/** At exit, node restores the state of its terminal, and aborts if that was closed meanwhile. */
function closeLostTerminals(): void {
  for (const fd of [0, 1, 2])
    try {
      if (fstatSync(fd).isCharacterDevice() && !isatty(fd)) closeSync(fd)
    } catch {
      // Closed already.
    }
}
