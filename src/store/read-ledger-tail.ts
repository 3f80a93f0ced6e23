import { readSync } from 'node:fs'
import { hashOf, maxLineBytes, parseLedgerLine, zeroHash } from './parse-ledger-line.ts'

/**
 * How a ledger ends: the last whole event, and what a crash left after it. `closed` is whether the file ends with a
 * newline. `torn.bytes` has its inner newlines, not the last one.
 */
export type LedgerTail = {
  last: { seq: number; hash: string }
  torn: { lines: number; bytes: Buffer }
  closed: boolean
}

/** Reads only the end, so that an append costs the same in a long ledger. */
export function readLedgerTail(fd: number, size: number, window = 2 * maxLineBytes): LedgerTail {
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
    if (event) return { seq: event.seq, hash: hashOf(line), end }
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
