import { spawn } from 'node:child_process'
import { accessSync, constants, lstatSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { styleText } from 'node:util'
import type { PlanState } from '../gate/plan-state.ts'
import type { Progress, ProgressListener } from '../install/context.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { PassRecord } from '../review/request.ts'
import type { Status } from '../schemas/output.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import { assertRegularOrAbsent, errnoOf, StoreError, writeAtomic } from '../state/files.ts'
import { isNotFound, systemErrorCode, UserError } from '../system/errors.ts'
import { findProgram } from '../system/find-program.ts'
import { exitOnSignals } from '../system/signals.ts'

/** Where the plan stands, for a person. */
export function describePlan(plan: PlanState): string {
  switch (plan.kind) {
    case 'missing':
      return 'there is no plan yet; the gate is closed'
    case 'open':
      return `the gate is closed: ${plan.because}`
    case 'approved':
      return 'the plan is approved; the gate is open'
  }
}

/** How the problem begins that keeps `plan-gate status` from telling. */
export const installUnknown = 'whether it is installed is not known: '

/** Null where it is installed. A record that cannot be read is not gone. */
export function whyNotInstalled({ installed, problems }: Pick<Status, 'installed' | 'problems'>): string | null {
  if (installed !== null) return null
  return problems.find((problem) => problem.startsWith(installUnknown)) ?? 'not installed here (plan-gate install)'
}

type EventsByCycle = {
  readonly ended: ReadonlyMap<number, readonly LedgerEvent[]>
  readonly current: readonly LedgerEvent[]
}

/** What the ledger says of each cycle; the end of one is the event that it was archived. */
export function eventsByCycle(events: readonly LedgerEvent[]): EventsByCycle {
  const ended = new Map<number, readonly LedgerEvent[]>()
  let current: LedgerEvent[] = []
  for (const event of events) {
    current.push(event)
    if (event.type !== 'cycle-archived') continue
    const cycle = Number(event.cycle)
    // After a crash the end may be there twice.
    ended.set(cycle, [...(ended.get(cycle) ?? []), ...current])
    current = []
  }
  return { ended, current }
}

let unread = false

/** Whether whoever read our results has gone: `plan-gate log | head -1`. */
export const isUnread = (): boolean => unread

/** What can come upon any command: a signal, a reader that is gone, a full disk, a mistake of our own. */
export function guardProcess(json: boolean): void {
  exitOnSignals()
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

/** What went wrong and the next step, never a stack unless PLAN_GATE_DEBUG asks for it. */
export function endWithError(error: unknown, json: boolean): void {
  const { message, nextStep, exitCode } = describe(error)
  if (json)
    process.stdout.write(`${JSON.stringify({ event: 'error', message, next_step: nextStep, exit_code: exitCode })}\n`)
  // It may name files, and quote what git says of them.
  process.stderr.write(`plan-gate: ${readable(message)}\n  → ${readable(nextStep)}\n`)
  if (process.env.PLAN_GATE_DEBUG === '1' && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  process.exitCode = exitCode
}

/** What a terminal would obey, or would not show, is spelled out: the next step may have to be typed. */
const readable = (text: string): string =>
  text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`)

function describe(error: unknown): { message: string; nextStep: string; exitCode: number } {
  if (error instanceof UserError) return { message: error.message, nextStep: error.nextStep, exitCode: error.exitCode }
  if (error instanceof StoreError)
    return { message: error.message.replace(` ${error.next}`, ''), nextStep: error.next, exitCode: 1 }
  if (error instanceof Error && systemErrorCode(error) !== null)
    return { message: `${error.message}.`, nextStep: 'Fix that, then run the same command again.', exitCode: 1 }
  return {
    message: error instanceof Error ? error.message : String(error),
    nextStep: 'This should not happen. Run it again with PLAN_GATE_DEBUG=1 and report what it prints.',
    exitCode: 1,
  }
}

/** What stands below the options of each command, in one form. */
export function helpText(examples: readonly (readonly [command: string, does?: string])[], more = ''): string {
  const width = Math.max(...examples.map(([command, does]) => (does === undefined ? 0 : command.length)))
  const lines = examples.map(([command, does = '']) => `  $ ${command.padEnd(width)}  ${does}`.trimEnd())
  return `\nExamples:\n${lines.join('\n')}\n${more === '' ? '' : `\n${more}\n`}`
}

type Opener = readonly [program: string, ...args: string[]]

const openers: { readonly [platform: string]: readonly Opener[] } = {
  darwin: [['open']],
  win32: [['rundll32', 'url.dll,FileProtocolHandler']],
}

/** In a Windows of its own, Linux has the first. */
const others: readonly Opener[] = [['wslview'], ['xdg-open']]

/** With the platform's own opener. Null when it was opened, or why not. */
export async function openInBrowser(path: string): Promise<string | null> {
  let why = 'There is no program here that opens a browser.'
  for (const [name, ...args] of openers[process.platform] ?? others) {
    const program = findProgram(name)
    if (program === null) continue
    const code = await run(program, [...args, pathToFileURL(path).href])
    if (code === 0) return null
    why = `${name} could not open it (exit code ${code}).`
  }
  return why
}

/** An opener that is still there after this long is the browser itself, or talks to it. */
const patienceMs = 2_000

function run(program: string, args: readonly string[]): Promise<number> {
  const opener = spawn(program, args, { detached: true, stdio: 'ignore' })
  opener.unref()
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(0), patienceMs)
    const end = (code: number): void => {
      clearTimeout(timer)
      resolve(code)
    }
    opener.once('error', () => end(127))
    opener.once('exit', (code) => end(code ?? 1))
  })
}

/** A short line for people on stderr, or a JSON line for programs on stdout. */
export const progressTeller = (terminal: Terminal): ProgressListener =>
  terminal.json
    ? (progress) => terminal.out(JSON.stringify(progress))
    : (progress) => terminal.note(lineOf(shown(progress), terminal))

/** Names of files, what git says and the commands of a configuration may come from anybody. */
const shown = (progress: Progress): Progress =>
  Object.fromEntries(
    Object.entries(progress).map(([key, value]) => [key, typeof value === 'string' ? escapeUntrusted(value) : value]),
  ) as Progress

function lineOf(progress: Progress, { paint }: Terminal): string {
  switch (progress.event) {
    case 'prerequisite': {
      const mark = { ok: paint('green', '✓'), warning: paint('yellow', '!'), failed: paint('red', '✗') }[
        progress.status
      ]
      const remedy = progress.remedy === null ? '' : `\n    ${paint('dim', `→ ${escapeUntrusted(progress.remedy)}`)}`
      return `${mark} ${escapeUntrusted(progress.name)}  ${paint('dim', escapeUntrusted(progress.detail))}${remedy}`
    }
    case 'started':
      return paint('dim', `… ${progress.step}: ${escapeUntrusted(progress.detail)}`)
    case 'done':
      return `${paint('green', '✓')} ${progress.step}  ${paint('dim', `${escapeUntrusted(progress.detail)} (${progress.ms} ms)`)}`
    case 'notice':
      return `${paint('yellow', '!')} ${escapeUntrusted(progress.detail)}`
    case 'would':
      return `${progress.action.padEnd(6)} ${escapeUntrusted(progress.path)}  ${paint('dim', escapeUntrusted(progress.detail))}`
  }
}

export type Paint = (style: 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', text: string) => string

export type Terminal = {
  /** Results; what a program may read. */
  out: (text: string) => void
  /** Progress and problems. */
  note: (text: string) => void
  json: boolean
  /** For what is noted; `paintOut` is for results, which may go elsewhere. */
  paint: Paint
  paintOut: Paint
}

export function openTerminal(json: boolean): Terminal {
  const [noted, told] = [isColoured(process.stderr, json), isColoured(process.stdout, json)]
  return {
    out: (text) => void process.stdout.write(`${json ? tameJson(text) : tameText(text, told)}\n`),
    note: (text) => void (json ? undefined : process.stderr.write(`${tameText(text, noted)}\n`)),
    json,
    paint: painter(noted),
    paintOut: painter(told),
  }
}

/** Colour only on a terminal, and never with NO_COLOR (https://no-color.org) or TERM=dumb. */
const isColoured = (stream: NodeJS.WriteStream, json: boolean): boolean =>
  stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb' && !json

const painter =
  (coloured: boolean): Paint =>
  (style, text) =>
    coloured ? styleText(style, text, { validateStream: false }) : text

/**
 * What a terminal obeys and eyes are led astray by, in whatever came from a plan, a file name or git; our own colours
 * stay. The last net: what is known to come from elsewhere has been through `neutralise` before.
 */
const tameText = (text: string, isColoured: boolean): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(isColoured ? /\u001b(?!\[(?:1|2|22|31|32|33|36|39)m)/g : /\u001b/g, '\ufffd')
    .replace(/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g, '\ufffd')
    .replace(hiding, '')

/** The same text for every parser, and nothing that a terminal obeys. */
const tameJson = (json: string): string => json.replace(/[\u007f-\u009f]/g, escaped).replace(hiding, escaped)

const hiding = /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')

export const writeResult = (file: string, text: string): void =>
  writeAtomic(dirname(resolve(file)), basename(file), text, 0o644)

/** Throws where a result could not be written, as long as nothing has been done for it. */
export function checkOutput(file: string, flag = '--output'): void {
  const folder = dirname(resolve(file))
  const why = whyNotFolder(folder) ?? whyNotFile(folder, file)
  if (why !== null)
    throw new UserError(`No result can be written to ${file}: ${why}`, `Give another file with ${flag}.`)
}

function whyNotFolder(folder: string): string | null {
  try {
    accessSync(folder, constants.W_OK)
    return statSync(folder).isDirectory() ? null : `${folder} is no folder that can be written to.`
  } catch (error) {
    const code = errnoOf(error)
    return `${folder} is no folder that can be written to${isNotFound(code) ? '' : ` (${code})`}.`
  }
}

function whyNotFile(folder: string, file: string): string | null {
  try {
    assertRegularOrAbsent(folder, basename(file))
    return null
  } catch (error) {
    if (error instanceof StoreError) return error.message
    throw error
  }
}

/**
 * `review.json` → `review-pass-1.json` and so on, so that a verdict can be understood afterwards. In the order of asking:
 * a pass that failed is kept beside the one that took its place. What an earlier review left behind goes.
 */
export function passesBeside(file: string, passes: readonly PassRecord[]): void {
  const nameOf = (n: number): string => join(dirname(file), `${basename(file, extname(file))}-pass-${n}.json`)
  for (const [index, pass] of passes.entries()) writeResult(nameOf(index + 1), `${JSON.stringify(pass, null, 2)}\n`)
  for (let n = passes.length + 1; isFile(nameOf(n)); n++) rmSync(nameOf(n))
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

const longest = 1_000

/** Foreign text as it may stand in a line of a terminal: nothing in it is obeyed, hidden or piled up. */
export const oneLine = (text: string): string =>
  escapeUntrusted(text.slice(0, 4 * longest))
    .replace(/\s+/g, ' ')
    // A letter with a hundred accents is drawn across the lines above and below it.
    .replace(/([\p{Mn}\p{Me}]{3})[\p{Mn}\p{Me}]+/gu, '$1')
    .replaceAll('\ufe0f', '')
    .trim()
    .slice(0, longest)
    .replace(/[\ud800-\udbff]$/, '')
