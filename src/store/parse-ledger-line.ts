import validate from '../schemas/generated/ledger-event.js'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import { sha256 } from './sha256.ts'

export const zeroHash = '0'.repeat(64)

/** Longer than any line that is written, so the end of a file this long has a whole line. */
export const maxLineBytes = 32 * 1024

export const hashOf = (bytes: Uint8Array): string => sha256(bytes)

const openingBrace = 0x7b

/** Undefined for anything but an event: such bytes are torn. */
export function parseLedgerLine(line: Buffer): LedgerEvent | undefined {
  // Of a large piece of something else, an exception for each line would take its time.
  if (line[0] !== openingBrace) return undefined
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    return validate(value) ? value : undefined
  } catch {
    return undefined
  }
}
