import { closeSync, constants, fsyncSync, readSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type LedgerEntry, type LedgerEvent, ledgerEventSchema } from '../schemas/records.ts'
import { accepts } from '../schemas/schema.ts'
import { UserError } from '../system/errors.ts'
import { sha256 } from '../system/sha256.ts'
import {
  ensureReviewDir,
  errnoOf,
  listNames,
  openRegular,
  type Refused,
  readRegular,
  StoreError,
  syncFolder,
  throwIfUnreadable,
} from './files.ts'
import { holdLock } from './lock.ts'
import { reviewDir, reviewPaths } from './own-paths.ts'

/** `events.jsonl`: one event a line, each with the hash of the line before. */

export async function appendEvent(root: string, entry: LedgerEntry, now = () => new Date()): Promise<void> {
  ensureReviewDir(root)
  await withLedgerLock(root, () => append(root, entry, now().toISOString()))
}

/** A lock of its own, held for milliseconds: a review that holds the other one for minutes keeps nothing from being recorded. */
async function withLedgerLock(root: string, work: () => void): Promise<void> {
  const held = await holdLock(join(root, reviewPaths.ledgerLock), work, { waitMs: 10_000 })
  if (held.kind === 'busy') throw new StoreError(reviewPaths.ledger, `was locked for ${held.waitedMs} ms`, 'Try again.')
}

function append(root: string, entry: LedgerEntry, at: string): void {
  const path = reviewPaths.ledger
  const opened = openRegular(root, path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT)
  if (opened.kind === 'absent') throw new StoreError(path, 'cannot be made')
  if (opened.kind === 'refused') throw new StoreError(path, `cannot be written: ${opened.why}`)
  try {
    writeFully(opened.fd, nextBytes(readLedgerTail(opened.fd, opened.size), entry, at))
    fsyncSync(opened.fd)
  } catch (error) {
    throw new StoreError(path, `cannot be written (${errnoOf(error)})`, undefined, error)
  } finally {
    closeSync(opened.fd)
  }
  if (opened.size === 0) syncFolder(join(root, reviewDir))
}

/** A torn line stays; it is ended with a newline, and a `torn-line` event that covers it continues the chain. */
function nextBytes({ last, torn, closed }: LedgerTail, entry: LedgerEntry, at: string): Buffer {
  const lines: Buffer[] = []
  let { seq, hash: prev } = last
  if (torn.lines > 0) {
    seq += torn.lines + 1
    const covering: LedgerEntry = { type: 'torn-line', after: last.hash, lines: torn.lines, bytes: torn.bytes.length }
    const line = lineOf({ seq, at, prev: sha256(torn.bytes) }, covering)
    lines.push(line)
    prev = sha256(line)
  }
  lines.push(lineOf({ seq: seq + 1, at, prev }, entry))
  return Buffer.concat([Buffer.from(closed ? '' : '\n'), ...lines.flatMap((line) => [line, Buffer.from('\n')])])
}

function lineOf({ seq, at, prev }: Pick<LedgerEvent, 'seq' | 'at' | 'prev'>, { type, ...fields }: LedgerEntry): Buffer {
  const line = Buffer.from(JSON.stringify({ seq, at, type, prev, ...fields }))
  if (line.length < maxLineBytes) return line
  // Too long (a drift of ten thousand files, say): that it happened is recorded all the same.
  return Buffer.from(JSON.stringify({ seq, at, type, prev, left_out_bytes: line.length }))
}

/** The kernel may write only a part, on a full disk for example; the next append then finds a torn line. */
function writeFully(fd: number, bytes: Buffer): void {
  let done = 0
  while (done < bytes.length) done += writeSync(fd, bytes, done)
}

export const zeroHash = '0'.repeat(64)

export const maxLineBytes = 32 * 1024

/** Undefined for anything but an event: such bytes are torn. */
function parseLedgerLine(line: Buffer): LedgerEvent | undefined {
  // Exceptions are slow: a line that is no object is not parsed.
  if (line[0] !== 0x7b) return undefined
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    return accepts(ledgerEventSchema, value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * How a ledger ends: the last whole event, and what a crash left after it. `closed` is whether the file ends with a
 * newline. `torn.bytes` has its inner newlines, not the last one.
 */
type LedgerTail = { last: { seq: number; hash: string }; torn: { lines: number; bytes: Buffer }; closed: boolean }

function readLedgerTail(fd: number, size: number): LedgerTail {
  let last = { seq: 0, hash: zeroHash }
  let end = 0
  for (const { line, start } of linesFromEnd(fd, size)) {
    const event = parseLedgerLine(line)
    if (event === undefined) continue
    last = { seq: event.seq, hash: sha256(line) }
    end = start + line.length + 1
    break
  }
  const closed = size === 0 || readPiece(fd, size - 1, size)[0] === newline
  const after = readPiece(fd, Math.min(end, size), size)
  const bytes = closed ? after.subarray(0, -1) : after
  return { last, torn: { lines: after.length === 0 ? 0 : linesOf(bytes).length, bytes }, closed }
}

const newline = 0x0a

/**
 * The events of these types (null: of all), the last one first. Reads lazily, since a ledger may be years long, and at most
 * `maxBytes`. A failing disk throws a StoreError: an unreadable ledger is not an empty one.
 */
export function* eventsFromEnd(
  root: string,
  types: readonly string[] | null,
  maxBytes = Number.POSITIVE_INFINITY,
): Generator<LedgerEvent> {
  const opened = openRegular(root, reviewPaths.ledger, constants.O_RDONLY)
  throwIfUnreadable(reviewPaths.ledger, opened)
  if (opened.kind !== 'opened') return
  // As the ledger itself writes it: parsing every line as JSON would be slow.
  const mark = types === null ? /^/ : new RegExp(`"type":"(?:${types.join('|')})"`)
  try {
    for (const { line } of linesFromEnd(opened.fd, opened.size, maxBytes, maxUnbroken)) {
      if (!mark.test(line.toString('latin1'))) continue
      const event = parseLedgerLine(line)
      if (event !== undefined && (types === null || types.includes(event.type))) yield event
    }
  } finally {
    closeSync(opened.fd)
  }
}

/** The end of a ledger is read at every append; it holds a whole line. */
const chunkBytes = 2 * maxLineBytes

/** No event is that long. */
const maxUnbroken = 1024 * 1024

/** Ends at something longer than `longest` without a newline. */
function* linesFromEnd(
  fd: number,
  size: number,
  maxBytes = size,
  longest = size,
): Generator<{ line: Buffer; start: number }> {
  let rest: Buffer = Buffer.alloc(0)
  const first = Math.max(0, size - maxBytes)
  for (let end = size; end > first && rest.length <= longest; ) {
    const start = Math.max(first, end - chunkBytes)
    let lines = Buffer.concat([readPiece(fd, start, end), rest])
    for (let at = lines.lastIndexOf(newline); at >= 0; at = lines.lastIndexOf(newline)) {
      yield { line: lines.subarray(at + 1), start: start + at + 1 }
      lines = lines.subarray(0, at)
    }
    rest = lines
    end = start
  }
  yield { line: rest, start: first }
}

/** Shorter where the file was truncated meanwhile. */
function readPiece(fd: number, start: number, end: number): Buffer {
  const piece = Buffer.alloc(end - start)
  let done = 0
  try {
    for (let read = -1; read !== 0 && done < piece.length; done += read)
      read = readSync(fd, piece, done, piece.length - done, start + done)
  } catch (error) {
    throw new StoreError(reviewPaths.ledger, `cannot be read (${errnoOf(error)})`, undefined, error)
  }
  return piece.subarray(0, done)
}

type LinesRead = { kind: 'absent' } | { kind: 'read'; lines: readonly Buffer[] } | Refused

function readLines(root: string, path: string): LinesRead {
  const read = readRegular(root, path, Number.POSITIVE_INFINITY)
  return read.kind === 'read' ? { kind: 'read', lines: linesOf(read.bytes) } : read
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return start < bytes.length || bytes.length === 0 ? [...lines, bytes.subarray(start)] : lines
}

type EventsRead = { kind: 'absent' } | { kind: 'read'; events: readonly LedgerEvent[] } | Refused

/** Every event, of unknown types too. Torn lines are left out; `verifyLedger` reports them. */
export function readEvents(root: string, path: string = reviewPaths.ledger): EventsRead {
  const read = readLines(root, path)
  return read.kind === 'read'
    ? { kind: 'read', events: read.lines.flatMap((line) => parseLedgerLine(line) ?? []) }
    : read
}

/** `head` is the hash of the last event: kept elsewhere, it also proves that no line was cut off at the end. */
type LedgerCheck =
  | { kind: 'absent' }
  | Refused
  | { kind: 'intact'; events: number; head: string; tornBytes: number }
  | { kind: 'broken'; line: number; why: string }

export function verifyLedger(root: string, path: string = reviewPaths.ledger): LedgerCheck {
  const read = readLines(root, path)
  return read.kind === 'read' ? verifyChain(read.lines) : read
}

/** Why its events cannot be relied on; null where they can. Reads all of it. */
export function ledgerProblem(root: string): string | null {
  const check = verifyLedger(root)
  if (check.kind === 'refused') return check.why
  if (check.kind === 'broken') return `${reviewPaths.ledger} is damaged in line ${check.line}: ${check.why}`
  const [left] = unreplacedLedgers(root)
  return left === undefined ? null : `${left} was put aside, and what the user decided in it was not carried over`
}

/** Damaged ledgers that were put aside, and that no ledger says to have replaced; the oldest first. */
export function unreplacedLedgers(root: string): readonly string[] {
  const names = listNames(root, reviewDir).filter((name) => /^events\.damaged-\d+\.jsonl$/.test(name))
  if (names.length === 0) return []
  const replaced = (path: string): unknown[] => {
    const read = readEvents(root, path)
    return read.kind === 'read' ? read.events.flatMap((event) => (event.type === replacing ? event.damaged : [])) : []
  }
  const own = new Set(replaced(reviewPaths.ledger))
  const left = names.map((name) => `${reviewDir}/${name}`).filter((path) => !own.has(path))
  // One of them may have replaced another.
  const known = new Set(left.flatMap(replaced))
  return left.filter((path) => !known.has(path)).sort()
}

const replacing = 'ledger-replaced'

/** Puts a ledger aside that cannot be relied on, under the lock of the appends. */
export const putLedgerAside = (root: string): Promise<void> =>
  withLedgerLock(root, () => {
    const { kind } = verifyLedger(root)
    if (kind === 'broken' || kind === 'refused')
      renameSync(join(root, reviewPaths.ledger), join(root, reviewDir, `events.damaged-${Date.now()}.jsonl`))
  })

/**
 * What can be read of a damaged ledger: the events since the last end of a cycle, whether no line is missing or changed
 * since, and every byte.
 */
export function readDamagedLedger(
  root: string,
  path: string,
): { readonly events: readonly LedgerEvent[]; readonly isWhole: boolean; readonly text: string } {
  const read = readLines(root, path)
  const lines = read.kind === 'read' ? read.lines : []
  const parsed = lines.map(parseLedgerLine)
  const end = parsed.findLastIndex((event) => event?.type === 'cycle-archived')
  const [line, event] = [lines[end], parsed[end]]
  const start = line === undefined || event === undefined ? undefined : { seq: event.seq, hash: sha256(line) }
  const check = verifyChain(lines.slice(end + 1), start)
  return {
    events: parsed.slice(end + 1).filter((each) => each !== undefined),
    isWhole: check.kind === 'intact' && check.tornBytes === 0 && (check.events > 0 || start !== undefined),
    text: joinLines(lines).toString('latin1'),
  }
}

/** `so`: what follows from that for the command. */
export function throwIfLedgerDamaged(root: string, so: string): void {
  const problem = ledgerProblem(root)
  if (problem !== null)
    throw new UserError(`${problem}, ${so}.`, '`plan-gate install` keeps it, and carries over what you decided.', 1)
}

function verifyChain(lines: readonly Buffer[], start = { seq: 0, hash: zeroHash }): LedgerCheck {
  let number = start.seq
  let events = 0
  let head = start.hash
  let torn: Buffer[] = []
  for (const line of lines) {
    number += 1
    if (line.length > maxUnbroken) return { kind: 'broken', line: number, why: 'it is longer than any event' }
    const event = parseLedgerLine(line)
    if (!event) {
      torn.push(line)
      continue
    }
    const why = whyBroken(event, number, head, torn)
    if (why) return { kind: 'broken', line: number - torn.length, why }
    head = sha256(line)
    events += 1
    torn = []
  }
  return { kind: 'intact', events, head, tornBytes: joinLines(torn).length }
}

function whyBroken(event: LedgerEvent, number: number, head: string, torn: readonly Buffer[]): string | undefined {
  if (torn.length > 0) {
    const isCovered = event.type === 'torn-line' && event.after === head && event.prev === sha256(joinLines(torn))
    return isCovered && event.seq === number ? undefined : 'it is not an event, and no torn-line event covers it'
  }
  if (event.seq !== number) return `its number is ${event.seq}`
  return event.prev === head ? undefined : 'it does not follow from the line before: one of the two was changed'
}

const joinLines = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])))
