import { closeSync, fstatSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { styleText } from 'node:util'
import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { type Tone, toneOfVerdict } from '../report/events.ts'
import type { Progress } from '../schemas/records.ts'
import type { Finding } from '../schemas/review.ts'
import { interceptSignals } from '../system/signals.ts'
import { clockTime, roughTime } from '../text/clean.ts'
import { clipToWidth, widthOf, wrapToWidth } from '../text/width.ts'
import type { Run } from './command.ts'
import type { StatusHere } from './status.ts'
import { oneLine } from './terminal.ts'
import {
  describeGate,
  describePass,
  type FeedItem,
  findFeedItems,
  historyOf,
  openWatched,
  type WatchContext,
  type Watched,
} from './watch-feed.ts'

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

const enter = '\u001b[?1049h\u001b[?25l\u001b[2J'
const leave = '\u001b[?25h\u001b[?1049l'

/**
 * Uses the alternate screen with a hidden cursor. Each row is positioned by its number, so that one that is wider than
 * expected does not move others; only changed rows are written.
 */
function openScreen(colour: boolean): { draw: (view: View) => void; close: () => void } {
  const { stdout } = process
  let shown: string[] = []
  let last: View | null = null
  const draw = (view: View): void => {
    last = view
    // Backpressure: skip this frame.
    if (stdout.writableNeedDrain) return
    const { columns = 80, rows = 24 } = stdout
    // The last column is left empty: some terminals wrap as soon as it is written.
    const lines = layoutWatch(view, { columns: Math.max(1, (columns || 80) - 1), rows: rows || 24 })
    const next = lines.map((line) => painted(line, colour))
    const changed = next.flatMap((text, index) =>
      text === shown[index] ? [] : [`\u001b[${index + 1};1H${text}\u001b[K`],
    )
    shown = next
    if (changed.length > 0) stdout.write(changed.join(''))
  }
  const resized = (): void => {
    shown = []
    stdout.write('\u001b[2J')
    if (last !== null) draw(last)
  }
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    stdout.removeListener('resize', resized)
    process.removeListener('exit', close)
    try {
      writeSync(1, leave)
    } catch {
      // The terminal was closed.
    }
  }
  stdout.on('resize', resized)
  // Restores the terminal, however the process ends.
  process.on('exit', close)
  stdout.write(enter)
  return { draw, close }
}

const styles = { good: 'green', bad: 'red', warn: 'yellow', busy: 'cyan', quiet: 'dim', strong: 'bold' } as const

const painted = (line: Line, colour: boolean): string =>
  line
    .map(({ text, tone }) =>
      colour && tone !== 'plain' ? styleText(styles[tone], text, { validateStream: false }) : text,
    )
    .join('')

export type View = {
  readonly watched: Watched
  readonly happened: readonly FeedItem[]
  readonly now: number
  /** The local time of day. */
  readonly clock: (at: string) => string
}

export type Size = { readonly columns: number; readonly rows: number }
type Span = { readonly text: string; readonly tone: Tone | 'plain' | 'strong' }
type Line = readonly Span[]

/** The state at the top, open findings below it, and the latest events in the rest. */
export function layoutWatch(view: View, size: Size): Line[] {
  const { root, here } = view.watched
  const rows = Math.max(0, size.rows - 1)
  const head = [
    line(strong('plan-gate watch'), plain(`  ${oneLine(root)}`)),
    [],
    ...(here === null
      ? [line(toned('bad', 'This worktree was removed. Waiting for it to come back.'))]
      : [...standing(here), ...review(here, view, size)]),
  ]
  const free = rows - head.length
  const findings = here === null ? [] : openFindings(here.status, size, Math.floor(free / 2))
  const body = [...head, ...findings, ...latest(view, free - findings.length)].slice(0, rows)
  const filled = [...body, ...Array<Line>(rows - body.length).fill([]), line(toned('quiet', 'q quits'))]
  return filled.slice(0, size.rows).map((each) => clipLine(each, size.columns))
}

const labelWidth = 10

function standing({ status, unreadable }: WatchContext): Line[] {
  const { tone, text } = describeGate(status)
  return [
    row('gate', toned(tone, text)),
    row('plan', ...revisions(status)),
    ...status.problems.slice(0, 2).map((problem) => row('config', toned('bad', oneLine(problem)))),
    ...(unreadable === null ? [] : [row('record', toned('bad', oneLine(unreadable)))]),
  ]
}

function revisions({ revisions, limit, verdicts, cycles }: StatusHere): Span[] {
  const before = cycles === 0 ? '' : `, ${cycles} ${cycles === 1 ? 'cycle' : 'cycles'} before`
  return [
    plain(`${revisions} of ${limit} revisions reviewed${before}`),
    ...verdicts
      .toReversed()
      .flatMap(({ revision, verdict }) => [plain(`  v${revision} `), toned(toneOfVerdict(verdict), verdict)]),
  ]
}

function review({ progress, status }: WatchContext, view: View, { columns }: Size): Line[] {
  if (progress.kind === 'running') return running(progress.progress, view, columns)
  if (progress.kind === 'died') return [row('review', toned('bad', 'its process ended without a verdict'))]
  if (status.unavailable !== null)
    return [row('review', toned('bad', `the last one failed: ${oneLine(status.unavailable)}`))]
  return [row('review', toned('quiet', 'none is running'))]
}

/** The bar is of what such passes take as a rule; without earlier ones there is none, and the limit is said instead. */
function running(progress: Progress, { now, clock }: View, columns: number): Line[] {
  const { revision, pass, passes, does, backend, started_at, deadline_at, sign, signed_at } = progress
  const { pass_expected_ms: usual, expected_ms: rest, pass_started_at: begunAt = started_at } = progress
  const elapsed = now - Date.parse(begunAt)
  const left = (rest ?? Number.NaN) - elapsed
  const of =
    usual === undefined ? '' : elapsed > usual ? `, longer than usual (${clockTime(usual)})` : ` of ${roughTime(usual)}`
  const end = left > 0 ? `review: ${roughTime(left)} left` : `at most until ${clock(deadline_at)}`
  const last =
    sign === undefined
      ? 'no progress yet'
      : `${oneLine(sign)}, ${clockTime(now - Date.parse(signed_at ?? started_at))} ago`
  return [
    row(
      'review',
      strong(`v${revision}, pass ${pass} of ${passes}${describePass(does)}`),
      plain(` with ${oneLine(backend)}`),
      toned('quiet', `, since ${clock(begunAt)}`),
    ),
    row(
      '',
      toned('busy', usual === undefined ? '' : `${bar(elapsed / usual, Math.min(30, columns - 66))} `),
      plain(`${clockTime(elapsed)}${of}`),
      toned('quiet', `; ${end}`),
    ),
    row('', toned('quiet', last)),
  ]
}

function bar(part: number, width: number): string {
  if (width < 5 || !Number.isFinite(part)) return ''
  const full = Math.round(Math.min(1, Math.max(0, part)) * width)
  return `${'█'.repeat(full)}${'░'.repeat(width - full)}`
}

/** In full if they fit, otherwise one line each as far as they fit. */
function openFindings({ findings, verdicts }: StatusHere, { columns }: Size, rows: number): Line[] {
  const last = verdicts.at(-1)
  if (findings.length === 0 || last === undefined || rows < 3) return []
  const inFull = [3, 2, 1].map((lines) => findings.flatMap((finding) => linesOf(finding, columns, lines)))
  const fitting = inFull.find((lines) => lines.length <= rows - 2)
  const beginnings = fitting ?? findings.slice(0, rows - 3).flatMap((finding) => linesOf(finding, columns, 1))
  const more = `  ${findings.length - beginnings.length} more: plan-gate status`
  return [
    [],
    line(strong(`Open after v${last.revision}`)),
    ...beginnings,
    ...(fitting === undefined ? [line(toned('quiet', more))] : []),
  ]
}

function linesOf({ id, severity, section, problem }: Finding, columns: number, lines: number): Line[] {
  const head = `  ${oneLine(`${id} ${severity}`)}  `
  const width = widthOf(head)
  const text = wrapToWidth(oneLine(`${section}: ${problem}`), columns - width, lines)
  return text.map((part, index) => line(toned('warn', index === 0 ? head : ' '.repeat(width)), plain(part)))
}

function latest({ happened, clock }: View, rows: number): Line[] {
  if (rows < 3) return []
  const shown = happened
    .slice(-(rows - 2))
    .map(({ at, label, tone, text }) =>
      line(toned('quiet', `  ${clock(at)}  `), toned(tone, label.padEnd(labelWidth)), plain(` ${text}`)),
    )
  return [[], line(strong('Events')), ...(shown.length === 0 ? [line(toned('quiet', '  nothing yet'))] : shown)]
}

const line = (...spans: Span[]): Line => spans.filter(({ text }) => text !== '')
const plain = (text: string): Span => ({ text, tone: 'plain' })
const strong = (text: string): Span => ({ text, tone: 'strong' })
const toned = (tone: Tone, text: string): Span => ({ text, tone })
const row = (label: string, ...spans: Span[]): Line => line(toned('quiet', label.padEnd(labelWidth)), ...spans)

function clipLine(spans: Line, columns: number): Line {
  const clipped: Span[] = []
  let left = columns
  for (const { text, tone } of spans) {
    const shown = clipToWidth(text, left)
    if (shown !== '') clipped.push({ text: shown, tone })
    if (shown !== text) break
    left -= widthOf(text)
  }
  return clipped
}
