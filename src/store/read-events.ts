import { closeSync, constants } from 'node:fs'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import { openRegular } from './open-regular.ts'
import { parseLedgerLine } from './parse-ledger-line.ts'
import { readLedgerLines } from './read-ledger-lines.ts'
import { reviewPaths } from './review-paths.ts'

export type EventsRead =
  | { kind: 'absent' }
  | { kind: 'read'; events: readonly LedgerEvent[] }
  | { kind: 'refused'; why: string }

/** Every event, of unknown types too. Torn lines are left out; `verifyLedger` tells of them. */
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
