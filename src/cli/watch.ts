import { closeSync, existsSync, type FSWatcher, fstatSync, statSync, watch, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { styleText } from 'node:util'
import { Command } from 'commander'
import { findCheckout } from '../install/apply.ts'
import { neutralise } from '../redact/untrusted-text.ts'
import type { Status } from '../schemas/output.ts'
import type { Denial, LedgerEvent, Progress } from '../schemas/records.ts'
import type { Finding } from '../schemas/review.ts'
import { errnoOf } from '../state/files.ts'
import { readDenialsIn, readEvents } from '../state/ledger.ts'
import { reviewDir, reviewPaths } from '../state/own-paths.ts'
import { signatureOf } from '../state/records.ts'
import { type ProgressRead, readProgress } from '../state/revisions.ts'
import { listSessions } from '../state/sessions.ts'
import { readGitDirs } from '../system/git.ts'
import { takeSignals } from '../system/signals.ts'
import { readStatus } from './read-status.ts'
import { passWords } from './review.ts'
import { describePlan, whyNotInstalled } from './ui.ts'

type Flags = { tty: boolean; json?: boolean }

/** Who is told of a look at the worktree, and of what has happened since the one before. */
type Teller = { tell: (watched: Watched, news: readonly Happening[]) => void; close: () => void }

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
      const ending = untilEnded(isScreen)
      const look = openWatched(root)
      const teller = isScreen ? onScreen() : inLines(flags.json === true)
      let before: Watched | null = null
      const lookAgain = (): void => {
        try {
          const now = look()
          const news = findHappenings(before, now, new Date().toISOString())
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
const shownAbove: readonly Happening['kind'][] = ['gate', 'sign', 'finding']

/** As many as the tallest terminal shows. */
const keptHappenings = 500

function onScreen(): Teller {
  const screen = openScreen(wantsColour())
  let happened: readonly Happening[] | null = null
  return {
    tell: (watched, news) => {
      if (happened === null && watched.here !== null) happened = historyOf(watched.here)
      const told = news.filter(({ kind }) => !shownAbove.includes(kind))
      happened = [...(happened ?? []), ...told].slice(-keptHappenings)
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
const betweenSignsMs = 15_000

function inLines(json: boolean): Teller {
  let signAt = Number.NEGATIVE_INFINITY
  const write = (text: string): void => void process.stdout.write(`${text}\n`)
  return {
    tell: (_, news) => {
      for (const happening of news) {
        if (json) write(asJson(happening))
        else if (happening.kind !== 'sign') write(asLine(happening))
        else if (performance.now() - signAt > betweenSignsMs) {
          signAt = performance.now()
          write(asLine(happening))
        }
      }
    },
    close: () => {},
  }
}

/** Those two come first, and no field of the record takes their place. */
function asJson({ at, kind: happening, data }: Happening): string {
  const head = { happening, at }
  return JSON.stringify({ ...head, ...data, ...head })
}

const asLine = ({ at, label, text }: Happening): string =>
  `${at.replace('T', ' ').slice(0, 19)}  ${label.padEnd(10)} ${text}`.trimEnd()

/** One line for a person, and the same as data for a program. */
export type Happening = Said & {
  readonly at: string
  readonly kind: 'gate' | 'pass' | 'sign' | 'finding' | 'denial' | 'event' | 'worktree'
  readonly data: { readonly [field: string]: unknown }
}

/** What has happened between two looks. The first look (null before it) tells how things stand. */
export function findHappenings(before: Watched | null, now: Watched, at: string): Happening[] {
  const { here } = now
  if (here === null) return before !== null && before.here === null ? [] : [worktree(now, false, at)]
  const was = before?.here ?? null
  const news = was === null ? [] : recordNews(was, here, at)
  return [
    ...(before !== null && was === null ? [worktree(now, true, at)] : []),
    ...news,
    ...findingsSince(was, here, at),
    ...passNews(was, here, at),
    ...(was !== null && gateOf(was) === gateOf(here) ? [] : [gate(here, at)]),
  ]
}

/** All that the record tells of, for who wants to see what led to where things stand. */
export const historyOf = ({ events, denials, status: { root } }: Here): Happening[] =>
  inOrder([
    ...events.map(eventHappened),
    ...denials.flatMap(({ list }) => list.map((denial) => denialHappened(denial, root))),
  ])

function recordNews(was: Here, { events, denials, unreadable, status: { root } }: Here, at: string): Happening[] {
  const [first] = was.events
  const isSame = first === undefined || (events.length >= was.events.length && events[0]?.at === first.at)
  const lost: Happening[] =
    unreadable === was.unreadable || unreadable === null
      ? []
      : [{ at, kind: 'worktree', label: 'record', tone: 'bad', text: oneLine(unreadable), data: { unreadable } }]
  const anew: Happening[] =
    isSame || unreadable !== null
      ? []
      : [
          {
            at,
            kind: 'worktree',
            label: 'record',
            tone: 'warn',
            text: 'it is another one now',
            data: { record: 'new' },
          },
        ]
  const known = new Map(was.denials.map(({ folder, list }) => [folder, list.length]))
  return [
    ...lost,
    ...anew,
    ...inOrder([
      ...events.slice(isSame ? was.events.length : 0).map(eventHappened),
      ...denials.flatMap(({ folder, list }) =>
        list.slice(known.get(folder) ?? 0).map((denial) => denialHappened(denial, root)),
      ),
    ]),
  ]
}

/** A verdict is on record a moment before its findings are; they come when they can be read. */
function findingsSince(was: Here | null, { status }: Here, at: string): Happening[] {
  const last = status.verdicts.at(-1)
  const before = was?.status
  const isKnown =
    before === undefined ||
    (before.cycles === status.cycles && before.verdicts.some(({ revision }) => revision === last?.revision))
  return last === undefined || isKnown ? [] : status.findings.map((finding) => found(finding, last.revision, at))
}

function found({ id, severity, section, problem, fix }: Finding, revision: number, at: string): Happening {
  return {
    at,
    kind: 'finding',
    label: 'finding',
    tone: 'warn',
    text: oneLine(`${id} ${severity}  ${section}: ${problem}`),
    data: { revision, id, severity, section, problem, fix },
  }
}

function passNews(was: Here | null, { progress }: Here, at: string): Happening[] {
  switch (progress.kind) {
    case 'absent':
    case 'refused':
      return []
    case 'died':
      return was?.progress.kind === 'running' ? [passDied(progress.progress, at)] : []
    case 'running': {
      const now = progress.progress
      const before = was?.progress.kind === 'running' ? was.progress.progress : null
      const isSame = before !== null && passKey(before) === passKey(now)
      const sign = now.sign !== undefined && now.sign !== (isSame ? before.sign : undefined) ? now.sign : null
      return [...(isSame ? [] : [passBegan(now, at)]), ...(sign === null ? [] : [signSeen(sign, now, at)])]
    }
  }
}

const passKey = ({ revision, pass, pass_started_at, pid }: Progress): string =>
  [revision, pass, pass_started_at, pid].join(' ')

function passBegan({ pid, sign, signed_at, ...progress }: Progress, at: string): Happening {
  const { revision, pass, passes, does, backend, deadline_at, pass_deadline_at } = progress
  const seconds = Math.round((Date.parse(pass_deadline_at ?? deadline_at) - Date.parse(at)) / 1000)
  const upTo = seconds > 0 ? `, up to ${seconds} s` : ''
  return {
    at,
    kind: 'pass',
    label: 'pass',
    tone: 'busy',
    text: oneLine(`v${revision}, pass ${pass} of ${passes}${wordFor(does)} with ${backend}${upTo}`),
    data: progress,
  }
}

const wordFor = (does: string | undefined): string =>
  does !== undefined && Object.hasOwn(passWords, does) ? `: ${passWords[does as keyof typeof passWords]}` : ''

const passDied = ({ revision, pass }: Progress, at: string): Happening => ({
  at,
  kind: 'pass',
  label: 'pass',
  tone: 'bad',
  text: `the process that reviewed v${revision} has gone without a verdict`,
  data: { revision, pass, died: true },
})

const signSeen = (sign: string, { revision, pass, signed_at }: Progress, at: string): Happening => ({
  at: oneLine(signed_at ?? at),
  kind: 'sign',
  label: '',
  tone: 'quiet',
  text: oneLine(sign),
  data: { revision, pass, sign },
})

const gateOf = ({ status: { plan, installed } }: Here): string =>
  JSON.stringify([plan.kind, plan.kind === 'open' ? plan.because : '', installed])

function gate({ status }: Here, at: string): Happening {
  const { plan, installed } = status
  const why = whyNotInstalled(status)
  const tone = why !== null ? 'bad' : plan.kind === 'approved' ? 'good' : 'warn'
  const data = { installed, open: plan.kind === 'approved', plan }
  return { at, kind: 'gate', label: 'gate', tone, text: oneLine(why ?? describePlan(plan)), data }
}

const worktree = ({ root }: Watched, isThere: boolean, at: string): Happening => ({
  at,
  kind: 'worktree',
  label: 'worktree',
  tone: isThere ? 'quiet' : 'bad',
  text: oneLine(isThere ? `${root} is there again` : `${root} is not there, or no worktree any more`),
  data: { root, there: isThere },
})

function eventHappened(event: LedgerEvent): Happening {
  const { at, prev, ...data } = event
  return { at: oneLine(at), kind: 'event', ...describeEvent(event), data }
}

function denialHappened({ at, ...data }: Denial, root: string): Happening {
  const text = oneLine(`${data.tool} ${data.target.replaceAll(`${root}/`, '')} (${data.rule})`)
  return { at: oneLine(at), kind: 'denial', label: 'denied', tone: 'bad', text, data }
}

const inOrder = (happenings: readonly Happening[]): Happening[] =>
  [...happenings].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet'
export type Said = { readonly label: string; readonly tone: Tone; readonly text: string }

type Row = { label: string; tone: Tone | ((field: Field) => Tone); say: (field: Field) => string }

/** `otherwise` stands for a field that is missing or says nothing. */
type Field = (name: string, otherwise?: string) => string

/** What a line of the ledger means to a person. A type that this version does not know is shown field by field. */
export function describeEvent(event: LedgerEvent): Said {
  const field: Field = (name, otherwise) => textOf(event[name], otherwise)
  const { label, tone, say } = rows.get(event.type) ?? unknown(event)
  return {
    label: oneLine(label),
    tone: typeof tone === 'string' ? tone : tone(field),
    text: oneLine(say(field)),
  }
}

/** An event that became too long for the ledger keeps its type alone. */
const many = 'more files than could be noted'

const said: { readonly [type: string]: Row } = {
  'cycle-started': { label: 'cycle', tone: 'quiet', say: (of) => `cycle ${of('cycle')} begins` },
  'revision-submitted': { label: 'submitted', tone: 'busy', say: (of) => `v${of('revision')} goes to the reviewer` },
  reviewed: {
    label: 'verdict',
    tone: (of) => toneOfVerdict(of('verdict')),
    say: (of) => `v${of('revision')} ${of('verdict')} by ${of('backend')}, ${counted(of('findings'), 'finding')}`,
  },
  'review-unavailable': { label: 'no verdict', tone: 'bad', say: (of) => `${of('failure')}: ${of('why')}` },
  'routes-effective': { label: 'routes', tone: 'quiet', say: (of) => `route table ${of('routes_hash').slice(0, 12)}` },
  'thread-started': { label: 'thread', tone: 'quiet', say: (of) => `${of('thread')} begins` },
  'thread-replaced': {
    label: 'thread',
    tone: 'warn',
    say: (of) => `${of('thread')} takes the place of ${of('was')}: ${of('why')}`,
  },
  approved: {
    label: 'approved',
    tone: 'good',
    say: (of) => `v${of('revision')} by ${of('route')}; the gate is open`,
  },
  'approved-manually': {
    label: 'by hand',
    tone: 'warn',
    say: (of) => of('reason', 'no reason was given'),
  },
  'approval-revoked': { label: 'revoked', tone: 'warn', say: (of) => `the approval has ended: ${of('why')}` },
  'limit-reached': {
    label: 'limit',
    tone: 'warn',
    say: (of) => `v${of('revision')} was the last that is reviewed; the decision is yours`,
  },
  continued: { label: 'continued', tone: 'quiet', say: (of) => `more revisions are reviewed after v${of('revision')}` },
  'cycle-archived': {
    label: 'cycle',
    tone: 'quiet',
    say: (of) => `cycle ${of('cycle')} has ended, ${counted(of('revisions'), 'revision')}`,
  },
  denied: { label: 'denied', tone: 'bad', say: (of) => `${of('tool')} (${of('rule')}): ${of('reason')}` },
  'config-change-vetoed': {
    label: 'vetoed',
    tone: 'bad',
    say: (of) => `a change of ${of('path', of('source'))} was not taken over`,
  },
  'control-plane-restored': {
    label: 'restored',
    tone: 'bad',
    say: (of) => `${of('paths', many)}; any approval has ended`,
  },
  'drift-found': { label: 'drift', tone: 'bad', say: (of) => `changed without an approved plan: ${of('paths', many)}` },
  'drift-accepted': { label: 'drift', tone: 'warn', say: (of) => `taken over: ${of('paths', many)}` },
  installed: { label: 'installed', tone: 'quiet', say: (of) => `plan-gate ${of('version')}` },
  uninstalled: { label: 'uninstalled', tone: 'warn', say: (of) => `plan-gate ${of('version')}` },
  'torn-line': { label: 'torn', tone: 'warn', say: (of) => `a crash left ${counted(of('lines'), 'torn line')} behind` },
  reflected: {
    label: 'reflected',
    tone: (of) => toneOfVerdict(of('verdict')),
    say: (of) =>
      `${of('verdict')} on ${of('kind')} ${of('about')}${of('cached') === 'true' ? ', known from before' : ''}${tokensIn(of('tokens'))}`,
  },
}

const rows = new Map(Object.entries(said))

const unknown = ({ type, ...event }: LedgerEvent): Row => ({
  label: type,
  tone: 'quiet',
  say: (of) =>
    Object.keys(event)
      .filter((name) => !['seq', 'at', 'prev'].includes(name))
      .map((name) => `${name}=${of(name)}`)
      .join(' '),
})

const verdictTones = new Map<string, Tone>([
  ['APPROVED', 'good'],
  ['PASS', 'good'],
  ['CHANGES_REQUIRED', 'bad'],
  ['FAIL', 'bad'],
])

const toneOfVerdict = (verdict: string): Tone => verdictTones.get(verdict) ?? 'warn'

function textOf(value: unknown, otherwise = 'none'): string {
  if (value === undefined || value === null) return otherwise
  if (Array.isArray(value)) return value.map((each) => textOf(each)).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const counted = (count: string, what: string): string => `${count} ${what}${count === '1' ? '' : 's'}`

const tokensIn = (tokens: string): string => (/^[1-9]\d*$/.test(tokens) ? ` (${counted(tokens, 'token')})` : '')

const longest = 1_000

/** Foreign text as it may stand in a line of a terminal: nothing in it is obeyed, hidden or piled up. */
export const oneLine = (text: string): string =>
  neutralise(text.slice(0, 4 * longest))
    .replace(/\s+/g, ' ')
    // A letter with a hundred accents is drawn across the lines above and below it.
    .replace(/([\p{Mn}\p{Me}]{3})[\p{Mn}\p{Me}]+/gu, '$1')
    .replaceAll('\ufe0f', '')
    .trim()
    .slice(0, longest)
    .replace(/[\ud800-\udbff]$/, '')

const pollMs = 1_000

/** One save is several events: a temporary name, its end, the folder. */
const settleMs = 50

/**
 * Calls `look` soon after something has changed, and once a second whatever the file system says: network folders tell
 * of nothing, and there is a limit to how many folders a user may watch.
 */
function followChanges(root: string, look: () => void): { end: () => void } {
  const watchers = new Map<string, FSWatcher>()
  let soon: NodeJS.Timeout | undefined
  const lookNow = (): void => {
    soon = undefined
    look()
  }
  const arm = (): void => {
    const wanted = new Map(foldersToWatch(root).flatMap((folder) => keyOf(folder)))
    for (const [key, watcher] of watchers)
      if (!wanted.has(key)) {
        watcher.close()
        watchers.delete(key)
      }
    for (const [key, folder] of wanted) {
      if (watchers.has(key)) continue
      const watcher = watchOrNot(folder, () => {
        soon ??= setTimeout(lookNow, settleMs)
      })
      if (watcher !== null) watchers.set(key, watcher)
    }
  }
  arm()
  const poll = setInterval(() => {
    arm()
    look()
  }, pollMs)
  return {
    end: () => {
      clearInterval(poll)
      clearTimeout(soon)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

/** Where everything happens; of the sessions those that are at work now. */
function foldersToWatch(root: string): string[] {
  try {
    const sessions = listSessions(root).slice(0, 3)
    return [reviewDir, 'docs', ...sessions.map(({ folder }) => folder)].map((folder) => join(root, folder))
  } catch {
    return []
  }
}

/** A folder that was removed and made again is another one, and its old watcher hears nothing of it. */
function keyOf(folder: string): [string, string][] {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() ? [[`${found.dev}:${found.ino}:${folder}`, folder]] : []
}

function watchOrNot(folder: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}

type Screen = { draw: (view: View) => void; close: () => void }

const enter = '\u001b[?1049h\u001b[?25l\u001b[2J'
const leave = '\u001b[?25h\u001b[?1049l'

/**
 * The whole terminal, until it is closed. Only what every terminal has known for decades: a second screen, a hidden
 * cursor, rows by number. Each row is put in its place, so that one that a terminal shows wider than expected spoils
 * nothing but itself; and only rows that changed are sent, for the sake of slow lines.
 */
function openScreen(colour: boolean): Screen {
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
  readonly happened: readonly Happening[]
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

function standing({ status, unreadable }: Here): Line[] {
  const { plan, problems } = status
  const why = whyNotInstalled(status)
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

function review({ progress, status }: Here, { now }: View, { columns }: Size): Line[] {
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
      strong(`v${revision}, pass ${pass} of ${passes}${wordFor(does)}`),
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

function latest(happened: readonly Happening[], { clock }: View, room: number): Line[] {
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

export type Watched = { readonly root: string; readonly here: Here | null }

/** What there is to be seen in a worktree that is there. */
export type Here = {
  readonly status: Status
  readonly progress: ProgressRead
  readonly events: readonly LedgerEvent[]
  /** Why the record cannot be read, where it cannot. */
  readonly unreadable: string | null
  /** By session. */
  readonly denials: readonly { readonly folder: string; readonly list: readonly Denial[] }[]
}

/** A look at a worktree, as often as it is asked for: only what has changed since the last one is read again. */
function openWatched(root: string): () => Watched {
  const record = remembering(
    () => recordFiles(root),
    () => readRecord(root),
  )
  const progress = remembering(
    () => [join(root, reviewPaths.progress)],
    () => readProgress(root),
  )
  const denials = remembering(
    () => listSessions(root).map(({ folder }) => join(root, folder, 'denials.jsonl')),
    () => listSessions(root).map(({ folder }) => ({ folder, list: readDenialsIn(root, folder) })),
  )
  let last: Watched = { root, here: null }
  return () => {
    try {
      const gitDirs = readGitDirs(root)
      const here = gitDirs === null ? null : { ...record(), progress: stillRunning(progress()), denials: denials() }
      last = { root, here }
    } catch (error) {
      // A file went away between two looks at it. The next look comes in a second.
      if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) throw error
      if (!existsSync(join(root, '.git'))) last = { root, here: null }
    }
    return last
  }

  /** A process that ends without a word changes no file. */
  function stillRunning(read: ProgressRead): ProgressRead {
    return read.kind === 'running' ? readProgress(root) : read
  }
}

function remembering<T>(files: () => readonly string[], read: () => T): () => T {
  let seen: { signature: string; value: T } | null = null
  return () => {
    const signature = signatureOf(files())
    if (seen?.signature !== signature) seen = { signature, value: read() }
    return seen.value
  }
}

/** The counter is written last, when all else about a revision is there. */
const recordFiles = (root: string): string[] =>
  [
    '.git',
    'docs/plan.md',
    'plan-gate.yaml',
    reviewPaths.ledger,
    reviewPaths.counter,
    reviewPaths.approval,
    reviewPaths.history,
    '.claude/settings.json',
    '.claude/settings.local.json',
  ].map((path) => join(root, path))

function readRecord(root: string): Pick<Here, 'status' | 'events' | 'unreadable'> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw Object.assign(new Error('the worktree is gone'), { code: 'ENOENT' })
  const read = readEvents(root)
  return {
    status: readStatus(root, gitDirs),
    events: read.kind === 'read' ? read.events : [],
    unreadable: read.kind === 'refused' ? read.why : null,
  }
}

type Ending = { ended: Promise<void>; fail: (error: unknown) => void; release: () => void }

/** Resolves when whoever watches has had enough: a key, a signal, a terminal or a reader that has gone. */
function untilEnded(readKeys: boolean): Ending {
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
