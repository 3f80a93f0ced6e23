import { writeSync } from 'node:fs'
import { styleText } from 'node:util'
import type { Progress } from '../../schemas/records.ts'
import { type Tone, toneOfVerdict } from '../format-event.ts'
import type { StatusHere } from '../status.ts'
import { notInstalledReason } from '../status.ts'
import { describePlan, oneLine } from '../terminal.ts'
import { describePass, type FeedItem } from './feed.ts'
import type { WatchContext, Watched } from './follow.ts'

type Screen = { draw: (view: View) => void; close: () => void }

const enter = '\u001b[?1049h\u001b[?25l\u001b[2J'
const leave = '\u001b[?25h\u001b[?1049l'

/**
 * Uses the alternate screen with a hidden cursor. Each row is positioned by its number, so that one that is wider than
 * expected does not move others; only changed rows are written.
 */
export function openScreen(colour: boolean): Screen {
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
  const { watched, happened } = view
  const { root, here } = watched
  const title = line(strong('plan-gate watch'), plain(`  ${oneLine(root)}`))
  const head =
    here === null
      ? [title, empty, line(toned('bad', 'This worktree was removed. Waiting for it to come back.'))]
      : [title, empty, ...standing(here), ...review(here, view, size)]
  const foot = line(toned('quiet', 'q quits'))
  const free = size.rows - head.length - 1
  const findings = here === null ? [] : openFindings(here.status, size, Math.floor(free / 2))
  const log = latest(happened, view, free - findings.length)
  const body = [...head, ...findings, ...log].slice(0, Math.max(0, size.rows - 1))
  const filled = [...body, ...Array.from({ length: Math.max(0, size.rows - 1 - body.length) }, () => empty), foot]
  return filled.slice(0, size.rows).map((each) => clipLine(each, size.columns))
}

const labelWidth = 10

function standing({ status, unreadable }: WatchContext): Line[] {
  const { plan, problems } = status
  const why = notInstalledReason(status)
  const tone = why !== null ? 'bad' : plan.kind === 'approved' ? 'good' : 'warn'
  return [
    row('gate', toned(tone, oneLine(why ?? describePlan(plan)))),
    row('plan', ...revisions(status)),
    ...problems.slice(0, 2).map((problem) => row('config', toned('bad', oneLine(problem)))),
    ...(unreadable === null ? [] : [row('record', toned('bad', oneLine(unreadable)))]),
  ]
}

function revisions({ revisions, limit, verdicts, cycles }: StatusHere): Span[] {
  const before = cycles === 0 ? '' : `, ${cycles} ${cycles === 1 ? 'cycle' : 'cycles'} before`
  return [
    plain(`${revisions} of ${limit} revisions reviewed${before}`),
    ...[...verdicts]
      .reverse()
      .flatMap(({ revision, verdict }) => [plain(`  v${revision} `), toned(toneOfVerdict(verdict), verdict)]),
  ]
}

function review({ progress, status }: WatchContext, { now }: View, { columns }: Size): Line[] {
  if (progress.kind === 'running') return running(progress.progress, now, columns)
  if (progress.kind === 'died') return [row('review', toned('bad', 'its process ended without a verdict'))]
  if (status.unavailable !== null)
    return [row('review', toned('bad', `the last one failed: ${oneLine(status.unavailable)}`))]
  return [row('review', toned('quiet', 'none is running'))]
}

function running(progress: Progress, now: number, columns: number): Line[] {
  const { revision, pass, passes, does, backend, started_at, deadline_at, sign, signed_at, forecast } = progress
  const start = Date.parse(progress.pass_started_at ?? started_at)
  const end = Date.parse(progress.pass_deadline_at ?? deadline_at)
  const whole = `, the review ${span(now - Date.parse(started_at))} of ${span(Date.parse(deadline_at) - Date.parse(started_at))}`
  return [
    row(
      'review',
      strong(`v${revision}, pass ${pass} of ${passes}${describePass(does)}`),
      plain(` with ${oneLine(backend)}`),
    ),
    row(
      '',
      toned('busy', bar((now - start) / (end - start), Math.min(30, columns - 50))),
      plain(` ${span(now - start)} of ${span(end - start)}`),
      toned('quiet', progress.pass_started_at === undefined ? '' : whole),
      toned('quiet', forecast === undefined ? '' : `, ${oneLine(forecast)} from its start`),
    ),
    row(
      '',
      toned(
        'quiet',
        sign === undefined
          ? 'no progress yet'
          : `${oneLine(sign)}, ${span(now - Date.parse(signed_at ?? started_at))} ago`,
      ),
    ),
  ]
}

function bar(part: number, width: number): string {
  if (width < 5 || !Number.isFinite(part)) return ''
  const full = Math.round(Math.min(1, Math.max(0, part)) * width)
  return `${'█'.repeat(full)}${'░'.repeat(width - full)}`
}

/** 75,000 ms → 1:15. */
function span(ms: number): string {
  if (!Number.isFinite(ms)) return '?'
  const seconds = Math.max(0, Math.round(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
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
    empty,
    line(strong(`Open after v${last.revision}`)),
    ...beginnings,
    ...(fitting === undefined ? [line(toned('quiet', more))] : []),
  ]
}

function linesOf(
  { id, severity, section, problem }: StatusHere['findings'][number],
  columns: number,
  lines: number,
): Line[] {
  const head = `  ${oneLine(`${id} ${severity}`)}  `
  const text = wrapToWidth(oneLine(`${section}: ${problem}`), columns - widthOf(head), lines)
  return text.map((part, index) => line(toned('warn', index === 0 ? head : ' '.repeat(widthOf(head))), plain(part)))
}

function latest(happened: readonly FeedItem[], { clock }: View, rows: number): Line[] {
  if (rows < 3) return []
  const shown = happened.slice(-(rows - 2))
  return [
    empty,
    line(strong('Events')),
    ...(shown.length === 0 ? [line(toned('quiet', '  nothing yet'))] : []),
    ...shown.map(({ at, label, tone, text }) =>
      line(toned('quiet', `  ${clock(at)}  `), toned(tone, label.padEnd(labelWidth)), plain(` ${text}`)),
    ),
  ]
}

const line = (...spans: Span[]): Line => spans.filter(({ text }) => text !== '')
const empty: Line = []
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

/** Truncates a text to a number of columns. */
export function clipToWidth(text: string, columns: number): string {
  const { head, rest } = splitAtWidth(text, columns)
  return rest === '' ? head : `${splitAtWidth(text, Math.max(0, columns - 1)).head.trimEnd()}${columns > 0 ? '…' : ''}`
}

/** Wraps at blanks if possible; the last line is truncated. */
export function wrapToWidth(text: string, columns: number, lines: number): string[] {
  const { head, rest } = splitAtWidth(text, columns)
  if (rest === '' || lines <= 1) return [clipToWidth(text, columns)]
  const blank = rest.startsWith(' ') ? head.length : head.lastIndexOf(' ')
  const end = blank > head.length / 2 ? blank : head.length
  return end === 0 ? [''] : [text.slice(0, end), ...wrapToWidth(text.slice(end).trimStart(), columns, lines - 1)]
}

/** In columns. The larger number if terminals differ: a line may end early, but never overflow. */
export const widthOf = (text: string): number => [...text].reduce((sum, character) => sum + columnsOf(character), 0)

function splitAtWidth(text: string, columns: number): { head: string; rest: string } {
  let width = 0
  let end = 0
  for (const character of text) {
    width += columnsOf(character)
    if (width > columns) break
    end += character.length
  }
  return { head: text.slice(0, end), rest: text.slice(end) }
}

function columnsOf(character: string): number {
  if (/^[\u0020-\u02ff]$/.test(character)) return 1
  if (narrow.test(character)) return 1
  if (combining.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** Half-width forms of wide scripts. */
const narrow = /^[\uff61-\uffdc\uffe8-\uffee]$/
const combining = /^[\p{Mn}\p{Me}]$/u

const wide =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\u3000-\u33ff\u4dc0-\u4dff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]$/u
