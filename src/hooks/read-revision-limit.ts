import { countRevisions } from '../store/count-revisions.ts'
import { eventsFromEnd } from '../store/events-from-end.ts'

export type RevisionLimit = { readonly revisions: number; readonly limit: number; readonly continued: number }

/** Each `plan-gate continue` of this cycle allows as many revisions again as there were at first. */
export function readRevisionLimit(root: string, maxRevisions: number): RevisionLimit {
  let continued = 0
  for (const { type } of eventsFromEnd(root, ['continued', 'cycle-archived'])) {
    if (type === 'cycle-archived') break
    continued += 1
  }
  return { revisions: countRevisions(root).value, limit: maxRevisions * (1 + continued), continued }
}
