/** `events.jsonl`: one event a line, each with the hash of the line before. */

import { closeSync, constants, fsyncSync, readSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type LedgerEntry, type LedgerEvent, ledgerEventSchema } from '../schemas/records.ts'
import { accepts } from '../schemas/schema.ts'
import { UserError } from '../system/errors.ts'
import { sha256 } from '../system/sha256.ts'
import { ensureReviewDir, errnoOf, listNames, openRegular, StoreError, syncFolder, throwIfUnreadable } from './files.ts'
import { holdLock } from './lock.ts'
import { reviewDir, reviewPaths } from './own-paths.ts'

/**
 * One more line in `events.jsonl`. The ledger has its own lock, held for milliseconds: a review that holds the other one
 * for minutes does not keep the rest from being recorded.
 */
export async function appendEvent(root: string, entry: LedgerEntry, now = () => new Date()): Promise<void> {
  ensureReviewDir(root)
  const work = () => append(root, entry, now().toISOString())
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

/** Longer than any line that is written, so the last `2 * maxLineBytes` of a file contain a whole line. */
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

/** Reads only the end, so that an append costs the same in a long ledger. */
function readLedgerTail(fd: number, size: number, window = 2 * maxLineBytes): LedgerTail {
  const start = Math.max(0, size - window)
  const bytes = Buffer.alloc(size - start)
  readFully(fd, bytes, start)
  const closed = size === 0 || bytes.at(-1) === newline
  const last = lastEvent(bytes, start)
  if (!last && start > 0) return readLedgerTail(fd, size, window * 8)
  const after = bytes.subarray(last?.end ?? 0)
  return {
    last: last ?? { seq: 0, hash: zeroHash },
    torn: { lines: countLines(after), bytes: closed ? after.subarray(0, -1) : after },
    closed,
  }
}

const newline = 0x0a

function lastEvent(bytes: Buffer, start: number): { seq: number; hash: string; end: number } | undefined {
  let end = bytes.length
  while (end > 0) {
    const from = end < 2 ? 0 : bytes.lastIndexOf(newline, end - 2) + 1
    // The window may begin in the middle of a line.
    if (from === 0 && start > 0) return undefined
    const line = bytes.subarray(from, bytes[end - 1] === newline ? end - 1 : end)
    const event = parseLedgerLine(line)
    if (event) return { seq: event.seq, hash: sha256(line), end }
    end = from
  }
  return undefined
}

function countLines(bytes: Buffer): number {
  let lines = bytes.length > 0 && bytes.at(-1) !== newline ? 1 : 0
  for (const byte of bytes) if (byte === newline) lines += 1
  return lines
}

function readFully(fd: number, bytes: Buffer, position: number): void {
  let done = 0
  while (done < bytes.length) {
    const read = readSync(fd, bytes, done, bytes.length - done, position + done)
    if (read === 0) throw new RangeError('the ledger became shorter while it was read')
    done += read
  }
}

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
    for (const line of linesFromEnd(opened.fd, opened.size, maxBytes)) {
      if (!mark.test(line.toString('latin1'))) continue
      const event = parseLedgerLine(line)
      if (event !== undefined && (types === null || types.includes(event.type))) yield event
    }
  } finally {
    closeSync(opened.fd)
  }
}

const chunkBytes = 256 * 1024

/** No event is that long. */
const maxUnbroken = 1024 * 1024

function* linesFromEnd(fd: number, size: number, maxBytes: number): Generator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  const first = Math.max(0, size - maxBytes)
  for (let end = size; end > first && rest.length < maxUnbroken; ) {
    const start = Math.max(first, end - chunkBytes)
    let lines = Buffer.concat([readPiece(fd, start, end), rest])
    for (let at = lines.lastIndexOf(newline); at >= 0; at = lines.lastIndexOf(newline)) {
      if (at + 1 < lines.length) yield lines.subarray(at + 1)
      lines = lines.subarray(0, at)
    }
    rest = lines
    end = start
  }
  if (rest.length > 0) yield rest
}

/** Shorter where the file was truncated meanwhile. */
function readPiece(fd: number, start: number, end: number): Buffer {
  const piece = Buffer.alloc(end - start)
  try {
    return piece.subarray(0, readSync(fd, piece, 0, piece.length, start))
  } catch (error) {
    throw new StoreError(reviewPaths.ledger, `cannot be read (${errnoOf(error)})`, undefined, error)
  }
}

type EventsRead =
  | { kind: 'absent' }
  | { kind: 'read'; events: readonly LedgerEvent[] }
  | { kind: 'refused'; why: string }

/** Every event, of unknown types too. Torn lines are left out; `verifyLedger` reports them. */
export function readEvents(root: string, path: string = reviewPaths.ledger): EventsRead {
  const opened = openRegular(root, path, constants.O_RDONLY)
  if (opened.kind !== 'opened') return opened
  try {
    const events: LedgerEvent[] = []
    for (const line of readLedgerLines(opened.fd)) {
      const event = line === 'too-long' ? undefined : parseLedgerLine(line)
      if (event) events.push(event)
    }
    return { kind: 'read', events }
  } finally {
    closeSync(opened.fd)
  }
}

/** The lines of a file, without their newlines, as it is read. One longer than `maxBytes` ends it with `too-long`. */
function* readLedgerLines(fd: number, maxBytes = maxUnbroken): Generator<Buffer | 'too-long'> {
  const chunk = Buffer.alloc(chunkBytes)
  let rest = Buffer.alloc(0)
  for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
    let bytes = Buffer.concat([rest, chunk.subarray(0, read)])
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline)) {
      yield bytes.subarray(0, end)
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > maxBytes) {
      yield 'too-long'
      return
    }
    rest = bytes
  }
  if (rest.length > 0) yield rest
}

/** `head` is the hash of the last event: kept elsewhere, it also proves that no line was cut off at the end. */
type LedgerCheck =
  | { kind: 'absent' }
  | { kind: 'refused'; why: string }
  | { kind: 'intact'; events: number; head: string; tornBytes: number }
  | { kind: 'broken'; line: number; why: string }

export function verifyLedger(root: string, path: string = reviewPaths.ledger): LedgerCheck {
  const opened = openRegular(root, path, constants.O_RDONLY)
  if (opened.kind !== 'opened') return opened
  try {
    return verifyChain(readLedgerLines(opened.fd))
  } finally {
    closeSync(opened.fd)
  }
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
export async function putLedgerAside(root: string): Promise<void> {
  const work = (): void => {
    const { kind } = verifyLedger(root)
    if (kind === 'broken' || kind === 'refused')
      renameSync(join(root, reviewPaths.ledger), join(root, reviewDir, `events.damaged-${Date.now()}.jsonl`))
  }
  const held = await holdLock(join(root, reviewPaths.ledgerLock), work, { waitMs: 10_000 })
  if (held.kind === 'busy') throw new StoreError(reviewPaths.ledger, `was locked for ${held.waitedMs} ms`, 'Try again.')
}

/**
 * What can be read of a damaged ledger: the events since the last end of a cycle, whether no line is missing or changed
 * since, and every byte.
 */
export function readDamagedLedger(
  root: string,
  path: string,
): { readonly events: readonly LedgerEvent[]; readonly isWhole: boolean; readonly text: string } {
  const opened = openRegular(root, path, constants.O_RDONLY)
  if (opened.kind !== 'opened') return { events: [], isWhole: false, text: '' }
  try {
    const lines = [...readLedgerLines(opened.fd)]
    const parsed = lines.map((line) => (line === 'too-long' ? undefined : parseLedgerLine(line)))
    const end = parsed.findLastIndex((event) => event?.type === 'cycle-archived')
    const [line, event] = [lines[end], parsed[end]]
    const start = event === undefined || !Buffer.isBuffer(line) ? undefined : { seq: event.seq, hash: sha256(line) }
    const check = verifyChain(lines.slice(end + 1), start)
    return {
      events: parsed.slice(end + 1).filter((each) => each !== undefined),
      isWhole: check.kind === 'intact' && check.tornBytes === 0 && (check.events > 0 || start !== undefined),
      text: lines.map((each) => each.toString('latin1')).join('\n'),
    }
  } finally {
    closeSync(opened.fd)
  }
}

/** `so`: what follows from that for the command. */
export function throwIfLedgerDamaged(root: string, so: string): void {
  const problem = ledgerProblem(root)
  if (problem !== null)
    throw new UserError(`${problem}, ${so}.`, '`plan-gate install` keeps it, and carries over what you decided.', 1)
}

function verifyChain(lines: Iterable<Buffer | 'too-long'>, start = { seq: 0, hash: zeroHash }): LedgerCheck {
  let number = start.seq
  let events = 0
  let head = start.hash
  let torn: Buffer[] = []
  for (const line of lines) {
    number += 1
    if (line === 'too-long') return { kind: 'broken', line: number, why: 'it is longer than any event' }
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
