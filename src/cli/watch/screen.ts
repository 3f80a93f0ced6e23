import { writeSync } from 'node:fs'
import { styleText } from 'node:util'
import type { Status } from '../../schemas/output.ts'
import type { Progress } from '../../schemas/records.ts'
import { notInstalledReason } from '../status.ts'
import { describePlan, oneLine } from '../terminal.ts'
import { type Tone, toneOfVerdict } from './describe-event.ts'
import type { WatchContext, Watched } from './follow.ts'
import { describeSeverity, type FeedItem } from './happenings.ts'

type Screen = { draw: (view: View) => void; close: () => void }

const enter = '\u001b[?1049h\u001b[?25l\u001b[2J'

const leave = '\u001b[?25h\u001b[?1049l'

/**
 * The whole terminal, until it is closed. Only what every terminal has known for decades: a second screen, a hidden
 * cursor, rows by number. Each row is put in its place, so that one that a terminal shows wider than expected spoils
 * nothing but itself; and only rows that changed are sent, for the sake of slow lines.
 */
export function openScreen(colour: boolean): Screen {
  const { stdout } = process
  let shown: string[] = []
  let last: View | null = null
  const draw = (view: View): void => {
    last = view
    // What the terminal has not taken yet would only pile up; the next look draws what is true then.
    if (stdout.writableNeedDrain) return
    const { columns = 80, rows = 24 } = stdout
    // The last column stays free: some terminals go to the next row as soon as it is written to.
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
      // The terminal has gone, and its state with it.
    }
  }
  stdout.on('resize', resized)
  // Whatever ends the process, the terminal is given back as it was.
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
  /** The time of day where the reader is. */
  readonly clock: (at: string) => string
}

export type Size = { readonly columns: number; readonly rows: number }

type Span = { readonly text: string; readonly tone: Tone | 'plain' | 'strong' }

type Line = readonly Span[]

/** The whole screen: where things stand at the top, what is open below it, and what has happened in the room left. */
export function layoutWatch(view: View, size: Size): Line[] {
  const { watched, happened } = view
  const { root, here } = watched
  const title = line(strong('plan-gate watch'), plain(`  ${oneLine(root)}`))
  const head =
    here === null
      ? [title, empty, line(toned('bad', 'This worktree is not there any more. It is looked for, once a second.'))]
      : [title, empty, ...standing(here), ...review(here, view, size)]
  const foot = line(toned('quiet', 'q quits'))
  const room = size.rows - head.length - 1
  const findings = here === null ? [] : openFindings(here.status, size, Math.floor(room / 2))
  const log = latest(happened, view, room - findings.length)
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

function revisions({ revisions, limit, verdicts, cycles }: Status): Span[] {
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
  if (progress.kind === 'died') return [row('review', toned('bad', 'its process has gone without a verdict'))]
  if (status.unavailable !== null)
    return [row('review', toned('bad', `none came about: ${oneLine(status.unavailable)}`))]
  return [row('review', toned('quiet', 'none is running'))]
}

function running(progress: Progress, now: number, columns: number): Line[] {
  const { revision, pass, passes, does, backend, started_at, deadline_at, sign, signed_at } = progress
  const start = Date.parse(progress.pass_started_at ?? started_at)
  const end = Date.parse(progress.pass_deadline_at ?? deadline_at)
  const whole = `, the review ${span(now - Date.parse(started_at))} of ${span(Date.parse(deadline_at) - Date.parse(started_at))}`
  return [
    row(
      'review',
      strong(`v${revision}, pass ${pass} of ${passes}${describeSeverity(does)}`),
      plain(` with ${oneLine(backend)}`),
    ),
    row(
      '',
      toned('busy', bar((now - start) / (end - start), Math.min(30, columns - 50))),
      plain(` ${span(now - start)} of ${span(end - start)}`),
      toned('quiet', progress.pass_started_at === undefined ? '' : whole),
    ),
    row(
      '',
      toned(
        'quiet',
        sign === undefined
          ? 'no sign of life yet'
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

/** The first ones whole where there is room for them, otherwise as many beginnings as there is room for. */
function openFindings({ findings, verdicts }: Status, { columns }: Size, room: number): Line[] {
  const last = verdicts.at(-1)
  if (findings.length === 0 || last === undefined || room < 3) return []
  const inFull = [3, 2, 1].map((lines) => findings.flatMap((finding) => linesOf(finding, columns, lines)))
  const fitting = inFull.find((lines) => lines.length <= room - 2)
  const beginnings = fitting ?? findings.slice(0, room - 3).flatMap((finding) => linesOf(finding, columns, 1))
  const more = `  ${findings.length - beginnings.length} more: plan-gate status`
  return [
    empty,
    line(strong(`Open after v${last.revision}`)),
    ...beginnings,
    ...(fitting === undefined ? [line(toned('quiet', more))] : []),
  ]
}

function linesOf(
  { id, severity, section, problem }: Status['findings'][number],
  columns: number,
  lines: number,
): Line[] {
  const head = `  ${oneLine(`${id} ${severity}`)}  `
  const text = wrapToWidth(oneLine(`${section}: ${problem}`), columns - widthOf(head), lines)
  return text.map((part, index) => line(toned('warn', index === 0 ? head : ' '.repeat(widthOf(head))), plain(part)))
}

function latest(happened: readonly FeedItem[], { clock }: View, room: number): Line[] {
  if (room < 3) return []
  const told = happened.slice(-(room - 2))
  return [
    empty,
    line(strong('What happened')),
    ...(told.length === 0 ? [line(toned('quiet', '  nothing yet'))] : []),
    ...told.map(({ at, label, tone, text }) =>
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

/** A text without what a terminal could not show in one line. The rest of a line is cut off at so many columns. */
export function clipToWidth(text: string, columns: number): string {
  const { head, rest } = splitAtWidth(text, columns)
  return rest === '' ? head : `${splitAtWidth(text, Math.max(0, columns - 1)).head.trimEnd()}${columns > 0 ? '…' : ''}`
}

/** At blanks where it can be, in at most so many lines; the last one is clipped. */
export function wrapToWidth(text: string, columns: number, lines: number): string[] {
  const { head, rest } = splitAtWidth(text, columns)
  if (rest === '' || lines <= 1) return [clipToWidth(text, columns)]
  const blank = rest.startsWith(' ') ? head.length : head.lastIndexOf(' ')
  const end = blank > head.length / 2 ? blank : head.length
  return end === 0 ? [''] : [text.slice(0, end), ...wrapToWidth(text.slice(end).trimStart(), columns, lines - 1)]
}

/** How many columns a text takes up. Where terminals disagree, the larger number: a line may end early, never late. */
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

/** Half as wide as the scripts that they belong to. */
const narrow = /^[\uff61-\uffdc\uffe8-\uffee]$/

const combining = /^[\p{Mn}\p{Me}]$/u

const wide =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\u3000-\u33ff\u4dc0-\u4dff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]$/u
