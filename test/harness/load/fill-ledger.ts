import { createHash } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerEntry } from '../../../src/schemas/records.ts'
import { ensureReviewDir } from '../../../src/state/files.ts'
import { readEvents } from '../../../src/state/ledger.ts'
import { reviewPaths } from '../../../src/state/own-paths.ts'

/** Appends so many events with their chain, as `appendEvent` would, but in one write. */
export function fillLedger(root: string, count: number, entryOf: (at: number) => LedgerEntry): void {
  ensureReviewDir(root)
  const read = readEvents(root)
  const events = read.kind === 'read' ? read.events : []
  let seq = events.length
  let prev = seq === 0 ? '0'.repeat(64) : hashOf(JSON.stringify(events.at(-1)))
  const lines: string[] = []
  for (let i = 0; i < count; i += 1) {
    const { type, ...fields } = entryOf(i)
    seq += 1
    const line = JSON.stringify({
      seq,
      at: new Date(1_700_000_000_000 + i * 1000).toISOString(),
      type,
      prev,
      ...fields,
    })
    prev = hashOf(line)
    lines.push(`${line}\n`)
  }
  appendFileSync(join(root, reviewPaths.ledger), lines.join(''), { mode: 0o600 })
}

const hashOf = (line: string): string => createHash('sha256').update(line).digest('hex')
