import { closeSync, constants } from 'node:fs'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import { openRegular } from './open-regular.ts'
import { hashOf, parseLedgerLine, zeroHash } from './parse-ledger-line.ts'
import { readLedgerLines } from './read-ledger-lines.ts'
import { reviewPaths } from './review-paths.ts'

/** `head` is the hash of the last event: kept elsewhere, it also proves that no line was cut off at the end. */
export type LedgerCheck =
  | { kind: 'absent' }
  | { kind: 'refused'; why: string }
  | { kind: 'intact'; events: number; head: string; tornBytes: number }
  | { kind: 'broken'; line: number; why: string }

export function verifyLedger(root: string, path: string = reviewPaths.ledger): LedgerCheck {
  const opened = openRegular(root, path, constants.O_RDONLY)
  if (opened.kind !== 'opened') return opened
  try {
    return followChain(readLedgerLines(opened.fd))
  } finally {
    closeSync(opened.fd)
  }
}

function followChain(lines: Iterable<Buffer | 'too-long'>): LedgerCheck {
  let number = 0
  let events = 0
  let head = zeroHash
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
    head = hashOf(line)
    events += 1
    torn = []
  }
  return { kind: 'intact', events, head, tornBytes: joined(torn).length }
}

function whyBroken(event: LedgerEvent, number: number, head: string, torn: readonly Buffer[]): string | undefined {
  if (torn.length > 0) {
    const isCovered = event.type === 'torn-line' && event.after === head && event.prev === hashOf(joined(torn))
    return isCovered && event.seq === number ? undefined : 'it is not an event, and no torn-line event covers it'
  }
  if (event.seq !== number) return `its number is ${event.seq}`
  return event.prev === head ? undefined : 'it does not follow from the line before: one of the two was changed'
}

const joined = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])))
