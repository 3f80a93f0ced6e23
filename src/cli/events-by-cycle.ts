import type { LedgerEvent } from '../schemas/ledger-event.ts'

export type EventsByCycle = {
  readonly ended: ReadonlyMap<number, readonly LedgerEvent[]>
  readonly current: readonly LedgerEvent[]
}

/** What the ledger says of each cycle; the end of one is the event that it was archived. */
export function eventsByCycle(events: readonly LedgerEvent[]): EventsByCycle {
  const ended = new Map<number, readonly LedgerEvent[]>()
  let current: LedgerEvent[] = []
  for (const event of events) {
    current.push(event)
    if (event.type !== 'cycle-archived') continue
    const cycle = Number(event.cycle)
    // After a crash the end may be there twice.
    ended.set(cycle, [...(ended.get(cycle) ?? []), ...current])
    current = []
  }
  return { ended, current }
}
