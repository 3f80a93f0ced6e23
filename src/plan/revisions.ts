import validate from '../schemas/generated/review-result.js'
import type { LedgerEvent } from '../schemas/records.ts'
import type { ReviewResult } from '../schemas/review.ts'
import { throwIfUnreadable } from '../state/files.ts'
import { appendEvent, eventsFromEnd, readEvents } from '../state/ledger.ts'
import { countRevisions, listRevisions, readRevision } from '../state/revisions.ts'
import type { Reviewed } from './findings.ts'

export type RevisionLimit = { readonly revisions: number; readonly limit: number; readonly continued: number }

/** Each `plan-gate continue` of this cycle grants as many revisions again as there were at first. */
export function readRevisionLimit(root: string, maxRevisions: number): RevisionLimit {
  let continued = 0
  for (const { type } of eventsFromEnd(root, ['continued', 'cycle-archived'])) {
    if (type === 'cycle-archived') break
    continued += 1
  }
  return { revisions: countRevisions(root).value, limit: maxRevisions * (1 + continued), continued }
}

/** Once per limit of a cycle: a crash may have come between the last review and this. */
export async function recordLimit(root: string, revision: number): Promise<void> {
  const read = readEvents(root)
  const events = read.kind === 'read' ? read.events : []
  const cycle = events.slice(events.findLastIndex(({ type }) => type === 'cycle-archived') + 1)
  if (cycle.some((event) => event.type === 'limit-reached' && event.revision === revision)) return
  await appendEvent(root, { type: 'limit-reached', revision })
}

export type ReviewedRevision = Reviewed & { readonly result: ReviewResult }

/** Reviewed revisions whose result cannot be read any more. */
export const lostRevisions = (root: string, reviewed: readonly ReviewedRevision[]): readonly number[] =>
  listRevisions(root)
    .filter(
      ({ revision, parts }) => parts.includes('codex.json') && !reviewed.some((each) => each.revision === revision),
    )
    .map(({ revision }) => revision)

/** The revisions of this cycle whose result can be read, in order. */
export const reviewedRevisions = (root: string): readonly ReviewedRevision[] =>
  listRevisions(root).flatMap(({ revision }) => {
    const { snapshot, result } = readRevision(root, revision)
    // Throws, because without them the reviewer would not be asked about earlier findings.
    for (const read of [snapshot, result]) throwIfUnreadable(`plan_v${revision}`, read)
    if (snapshot.kind !== 'read' || result.kind !== 'read' || !validate(result.value)) return []
    const { verdict, findings, previous_findings: previous = [] } = result.value
    return [{ revision, plan: snapshot.bytes.toString('utf8'), verdict, findings, previous, result: result.value }]
  })

type KnownApproval = { kind: 'none' } | { kind: 'ended' } | { kind: 'by-hand' } | { kind: 'by'; route: string }

/** What the ledger says of an approval of these bytes; one that was revoked, or whose cycle ended, has `ended`. */
export function findApproval(events: readonly LedgerEvent[], planHash: string): KnownApproval {
  const last = events.findLastIndex(({ type, plan_hash }) => approving.includes(type) && plan_hash === planHash)
  const event = events[last]
  if (event === undefined) return { kind: 'none' }
  if (events.slice(last).some(({ type }) => ending.includes(type))) return { kind: 'ended' }
  return event.type === 'approved-manually' ? { kind: 'by-hand' } : { kind: 'by', route: String(event.route) }
}

const approving = ['approved', 'approved-manually']
const ending = ['approval-revoked', 'cycle-archived']
