import { accessSync, constants, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { styleText } from 'node:util'
import type { PlanState } from '../gate/plan-state.ts'
import type { ProgressLine, ProgressListener } from '../install/prerequisites.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { assertRegularOrAbsent, errnoOf, StoreError, writeAtomic } from '../state/files.ts'
import { ownCommand } from '../state/start-command.ts'
import { isNotFound, UserError } from '../system/errors.ts'
import { packageRoot } from '../system/package.ts'
import { escapeHidden } from '../text/clean.ts'
import { withCommand } from '../text/own-commands.ts'

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

/** Short lines for people on stderr, or JSON lines on stdout. */
export const progressPrinter = (terminal: Terminal): ProgressListener =>
  terminal.json
    ? (progress) => terminal.out(JSON.stringify(withCommandsHere(progress)))
    : (progress) => terminal.note(formatProgress(escapeProgress(progress), terminal))

/** Only in what plan-gate itself says: a command in a file's name or in the repository's settings stays as it is. */
function withCommandsHere(progress: ProgressLine): ProgressLine {
  if (progress.event === 'notice') return { ...progress, detail: withOwnCommand(progress.detail) }
  if (progress.event !== 'prerequisite') return progress
  const { detail, remedy } = progress
  return { ...progress, detail: withOwnCommand(detail), remedy: remedy === null ? null : withOwnCommand(remedy) }
}

/** File names, git's output and the commands of a configuration are untrusted. */
const escapeProgress = (progress: ProgressLine): ProgressLine =>
  Object.fromEntries(
    Object.entries(progress).map(([key, value]) => [
      key,
      typeof value === 'string' ? escapeUntrusted(escapeHidden(value)) : value,
    ]),
  ) as ProgressLine

function formatProgress(progress: ProgressLine, { paint }: Terminal): string {
  switch (progress.event) {
    case 'prerequisite': {
      const { status, name, detail, remedy } = progress
      const mark = { ok: paint('green', '✓'), warning: paint('yellow', '!'), failed: paint('red', '✗') }[status]
      return `${mark} ${name}  ${paint('dim', detail)}${remedy === null ? '' : `\n    ${paint('dim', `→ ${remedy}`)}`}`
    }
    case 'started':
      return paint('dim', `… ${progress.step}: ${progress.detail}`)
    case 'done':
      return `${paint('green', '✓')} ${progress.step}  ${paint('dim', `${progress.detail} (${progress.ms} ms)`)}`
    case 'notice':
      return `${paint('yellow', '!')} ${progress.detail}`
    case 'brings':
      return formatItem(progress, paint)
    case 'would':
      return `${progress.action.padEnd(6)} ${progress.path}  ${paint('dim', progress.detail)}`
  }
}

/** An item of the inventory, with what it would run. */
export function formatItem(
  { id, path, what, runs, state }: Extract<ProgressLine, { event: 'brings' }>,
  paint: Paint,
): string {
  const mark = state === 'trusted' ? paint('green', '✓') : paint('yellow', '?')
  const changed = state === 'changed' ? paint('yellow', '  changed since you trusted it') : ''
  const lines = runs.map((line) => `\n    ${paint('dim', oneLine(line))}`)
  return `${mark} ${oneLine(id)}  ${paint('dim', `${oneLine(path)}: ${oneLine(what)}`)}${changed}${lines.join('')}`
}

/** For a person at a terminal; null where there is none. */
export const askOnTerminal = ({ json }: Terminal): ((question: string) => Promise<boolean>) | null =>
  json || !process.stdin.isTTY || !process.stderr.isTTY ? null : askYesOrNo

async function askYesOrNo(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(?:es)?$/i.test((await lines.question(withOwnCommand(question))).trim())
  } finally {
    lines.close()
  }
}

export type Paint = (style: 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', text: string) => string

export type Terminal = {
  /** Results, to stdout, as they are. */
  out: (text: string) => void
  /** The whole result: with --json as it is, else in words. */
  answer: (output: object, words: string | readonly string[]) => void
  /** Words for people, to stdout; the commands in them run here. */
  say: (text: string) => void
  /** Progress and problems, to stderr. */
  note: (text: string) => void
  json: boolean
  /** `paint` is for stderr, `paintOut` for stdout, which may be redirected. */
  paint: Paint
  paintOut: Paint
}

export function openTerminal(json: boolean): Terminal {
  const [errColour, outColour] = [usesColour(process.stderr, json), usesColour(process.stdout, json)]
  const out = (text: string): void =>
    void process.stdout.write(`${json ? sanitizeJson(text) : sanitizeText(text, outColour)}\n`)
  return {
    out,
    answer: (output, words) => {
      for (const line of json ? [JSON.stringify(output)] : [words].flat()) out(line)
    },
    say: (text) => out(withOwnCommand(text)),
    note: (text) =>
      void (json ? undefined : process.stderr.write(`${sanitizeText(withOwnCommand(text), errColour)}\n`)),
    json,
    paint: painter(errColour),
    paintOut: painter(outColour),
  }
}

/** Only on a terminal, and not with NO_COLOR (https://no-color.org) or TERM=dumb. */
const usesColour = (stream: NodeJS.WriteStream, json: boolean): boolean =>
  stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb' && !json

const painter =
  (coloured: boolean): Paint =>
  (style, text) =>
    coloured ? styleText(style, text, { validateStream: false }) : text

/**
 * Removes escape sequences and invisible characters, except our own colours. A second line of defence: untrusted text has
 * been through `escapeUntrusted` before.
 */
const sanitizeText = (text: string, isColoured: boolean): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(isColoured ? /\u001b(?!\[(?:1|2|22|31|32|33|36|39)m)/g : /\u001b/g, '\ufffd')
    .replace(/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g, '\ufffd')
    .replace(invisible, '')

/** Escapes them instead, so that the JSON stays equivalent. */
const sanitizeJson = (json: string): string =>
  json.replace(/[\u007f-\u009f]|\p{Cf}/gu, toUnicodeEscape).replace(invisible, toUnicodeEscape)

const invisible = /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu

const toUnicodeEscape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')

const maxLineLength = 1_000

/** Untrusted text for one line of a terminal, without control, invisible or stacked characters. */
export const oneLine = (text: string): string =>
  escapeUntrusted(text.slice(0, 4 * maxLineLength))
    .replace(/\s+/g, ' ')
    // Stacked accents are drawn across the lines above and below.
    .replace(/([\p{Mn}\p{Me}]{3})[\p{Mn}\p{Me}]+/gu, '$1')
    .replaceAll('\ufe0f', '')
    .trim()
    .slice(0, maxLineLength)
    .replace(/[\ud800-\udbff]$/, '')

let here: string | undefined

/** What the command line says to people goes through here, so that each command in it runs where the person is. */
export function withOwnCommand(text: string): string {
  if (!text.includes('plan-gate')) return text
  here ??= commandHere()
  return withCommand(text, here)
}

/** The current folder may have been removed, and the package with it. */
function commandHere(): string {
  try {
    return ownCommand(process.cwd(), packageRoot()) ?? 'plan-gate'
  } catch {
    return 'plan-gate'
  }
}

export const writeResult = (file: string, content: string | Uint8Array): void =>
  writeAtomic(dirname(resolve(file)), basename(file), content, 0o644)

/** Fails before the work is done if its result could not be written. */
export function checkOutput(file: string, flag = '--output'): void {
  const folder = dirname(resolve(file))
  const why = problemIn(folder, file)
  if (why !== null)
    throw new UserError(`The result cannot be written to ${file}: ${why}`, `Give another file with ${flag}.`)
}

function problemIn(folder: string, file: string): string | null {
  try {
    accessSync(folder, constants.W_OK)
    if (!statSync(folder).isDirectory()) return `${folder} is not a writable folder.`
    assertRegularOrAbsent(folder, basename(file))
    return null
  } catch (error) {
    if (error instanceof StoreError) return error.message
    const code = errnoOf(error)
    return `${folder} is not a writable folder${isNotFound(code) ? '' : ` (${code})`}.`
  }
}
