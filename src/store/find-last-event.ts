import { closeSync, constants, readSync } from 'node:fs'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import { openRegular } from './open-regular.ts'
import { maxLineBytes, parseLedgerLine } from './parse-ledger-line.ts'
import { reviewPaths } from './review-paths.ts'

/** The last event of one of these types near the end of the ledger; for who has no time to read all of a long one. */
export function findLastEvent(root: string, types: readonly string[]): LedgerEvent | null {
  // As the ledger itself writes it. Most lines are of no interest, and reading each would take a millisecond.
  const marks = types.map((type) => `"type":"${type}"`)
  for (const line of lastLines(root, 2 * maxLineBytes).reverse()) {
    if (!marks.some((mark) => line.includes(mark))) continue
    const event = parseLedgerLine(Buffer.from(line))
    if (event !== undefined && types.includes(event.type)) return event
  }
  return null
}

/** The first of them may have begun earlier; it is no JSON then. */
function lastLines(root: string, bytes: number): string[] {
  const opened = openRegular(root, reviewPaths.ledger, constants.O_RDONLY)
  if (opened.kind !== 'opened') return []
  try {
    const start = Math.max(0, opened.size - bytes)
    const end = Buffer.alloc(opened.size - start)
    return end.toString('utf8', 0, readSync(opened.fd, end, 0, end.length, start)).split('\n')
  } finally {
    closeSync(opened.fd)
  }
}
