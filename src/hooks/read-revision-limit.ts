import { countRevisions } from '../store/count-revisions.ts'
import { readEvents } from '../store/read-events.ts'

export type RevisionLimit = { readonly revisions: number; readonly limit: number; readonly continued: number }

/** Each `plan-gate continue` of this cycle allows as many revisions again as there were at first. */
export function readRevisionLimit(root: string, maxRevisions: number): RevisionLimit {
  const read = readEvents(root)
  const events = read.kind === 'read' ? read.events : []
  const cycle = events.slice(events.findLastIndex(({ type }) => type === 'cycle-archived') + 1)
  const continued = cycle.filter(({ type }) => type === 'continued').length
  return { revisions: countRevisions(root).value, limit: maxRevisions * (1 + continued), continued }
}
