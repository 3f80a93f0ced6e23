import { appendEvent } from '../store/append-event.ts'
import { readEvents } from '../store/read-events.ts'

/** Once in a cycle for each limit: a crash may have come between the last review and this. */
export async function recordLimit(root: string, revision: number): Promise<void> {
  const read = readEvents(root)
  const events = read.kind === 'read' ? read.events : []
  const cycle = events.slice(events.findLastIndex(({ type }) => type === 'cycle-archived') + 1)
  if (cycle.some((event) => event.type === 'limit-reached' && event.revision === revision)) return
  await appendEvent(root, { type: 'limit-reached', revision })
}
