import { closeSync, constants, readSync } from 'node:fs'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import { openRegular } from './open-regular.ts'
import { parseLedgerLine } from './parse-ledger-line.ts'
import { throwIfUnreadable } from './refuse-unread.ts'
import { reviewPaths } from './review-paths.ts'
import { errnoOf, StoreError } from './store-error.ts'

/**
 * The events of these types (null: of all), the last one first. Whoever takes only what is needed reads only that much of
 * a ledger, which may be years long, and `most` bytes of it at the most. A disk that fails throws a StoreError: what
 * cannot be read did not fail to happen.
 */
export function* eventsFromEnd(
  root: string,
  types: readonly string[] | null,
  most = Number.POSITIVE_INFINITY,
): Generator<LedgerEvent> {
  const opened = openRegular(root, reviewPaths.ledger, constants.O_RDONLY)
  throwIfUnreadable(reviewPaths.ledger, opened)
  if (opened.kind !== 'opened') return
  // As the ledger itself writes it: most lines are of no interest, and reading each as JSON would take its time.
  const mark = types === null ? /^/ : new RegExp(`"type":"(?:${types.join('|')})"`)
  try {
    for (const line of linesFromEnd(opened.fd, opened.size, most)) {
      if (!mark.test(line.toString('latin1'))) continue
      const event = parseLedgerLine(line)
      if (event !== undefined && (types === null || types.includes(event.type))) yield event
    }
  } finally {
    closeSync(opened.fd)
  }
}

/** Why its events cannot be told, in words. */
export function ledgerTrouble(root: string): readonly string[] {
  const opened = openRegular(root, reviewPaths.ledger, constants.O_RDONLY)
  if (opened.kind === 'opened') closeSync(opened.fd)
  return opened.kind === 'refused' ? [opened.why] : []
}

const pieceBytes = 256 * 1024
/** No event is as long; what is, is something else, and has no beginning worth looking for. */
const mostBytes = 1024 * 1024

function* linesFromEnd(fd: number, size: number, most: number): Generator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  const first = Math.max(0, size - most)
  for (let end = size; end > first && rest.length < mostBytes; ) {
    const start = Math.max(first, end - pieceBytes)
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

const newline = 0x0a

/** It may have become shorter meanwhile; what is not there is no line. */
function readPiece(fd: number, start: number, end: number): Buffer {
  const piece = Buffer.alloc(end - start)
  try {
    return piece.subarray(0, readSync(fd, piece, 0, piece.length, start))
  } catch (error) {
    throw new StoreError(reviewPaths.ledger, `cannot be read (${errnoOf(error)})`, undefined, error)
  }
}
