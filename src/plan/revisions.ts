import type { LedgerEvent } from '../schemas/records.ts'
import { type ReviewResult, reviewResultSchema } from '../schemas/review.ts'
import { accepts } from '../schemas/schema.ts'
import { throwIfUnreadable } from '../state/files.ts'
import { appendEvent, eventsFromEnd } from '../state/ledger.ts'
import { cyclePath } from '../state/own-paths.ts'
import { listRevisions, readCounter, readRevision, readThread } from '../state/revisions.ts'
import { sha256 } from '../system/sha256.ts'
import type { Reviewed } from './findings.ts'
import { changedAfterApproval, changesWereRequested } from './plan-change.ts'
import { readWaived, restoreWithdrawn } from './user-decisions.ts'

export type RevisionLimit = { readonly revisions: number; readonly limit: number; readonly continued: number }

/**
 * What the ledger says of this cycle: the last review of each revision, how often the user had it continued, and the
 * tokens of reviews without a verdict.
 */
function readCycle(root: string) {
  const reviews = new Map<number, LedgerEvent>()
  let [continued, unanswered] = [0, 0]
  for (const event of eventsFromEnd(root, ['reviewed', 'review-unavailable', 'continued', 'cycle-archived'])) {
    if (event.type === 'cycle-archived') break
    const revision = Number(event.revision)
    if (event.type === 'continued') continued += 1
    else if (event.type === 'review-unavailable') unanswered += Number(event.tokens ?? 0)
    else if (!reviews.has(revision)) reviews.set(revision, event)
  }
  return { reviews, continued, unanswered }
}

/**
 * Each `plan-gate continue` of this cycle grants as many revisions again as there were at first. A counter that was set back
 * gives no more.
 */
export function readRevisionLimit(root: string, maxRevisions: number): RevisionLimit {
  const { reviews, continued } = readCycle(root)
  const revisions = Math.max(readCounter(root).value, ...reviews.keys())
  return { revisions, limit: maxRevisions * (1 + continued), continued }
}

export type SpentTokens = { readonly tokens: number; readonly limit: number } | null

/** The tokens that the reviews of this cycle may use, and have used; null: there is no limit, or it is not reached. */
export function readSpentTokens(
  root: string,
  reviewed: readonly Pick<ReviewedRevision, 'result'>[],
  cycleTokens: number | null,
): SpentTokens {
  if (cycleTokens === null) return null
  const { continued, unanswered } = readCycle(root)
  const limit = cycleTokens * (1 + continued)
  const tokens = reviewed.reduce((sum, { result }) => sum + tokensOf(result), unanswered)
  return tokens >= limit ? { tokens, limit } : null
}

export const tokensOf = ({ pass_metadata: used }: ReviewResult): number =>
  (used?.input_tokens ?? 0) + (used?.output_tokens ?? 0)

/** The thread that the ledger names: that of another file would tell its reviewer something else. */
export function recordedThread(root: string): { readonly id: string; readonly route: string } | null {
  const [last] = eventsFromEnd(root, ['thread-started', 'thread-replaced'])
  // Once only Codex had threads.
  return last === undefined ? null : { id: String(last.thread), route: String(last.route ?? 'codex') }
}

/** What was edited, or what a crash has cut off, a line each. The ledger counts. */
export function findMismatches(root: string): { name: 'counter' | 'thread'; why: string }[] {
  const [counter, recorded] = [readCounter(root), Math.max(0, ...readCycle(root).reviews.keys())]
  const [thread, named] = [readThread(root), recordedThread(root)?.id ?? null]
  const counted = counter.why ?? `version_counter says ${counter.value}`
  const counterProblem = { name: 'counter', why: `${counted}, and the ledger says ${recorded}` } as const
  const found: ReturnType<typeof findMismatches> = counter.value === recorded ? [] : [counterProblem]
  if (thread.kind === 'known' && thread.id !== named)
    found.push({
      name: 'thread',
      why: `codex_thread_id names ${thread.id}, and the ledger names ${named ?? 'no thread'}`,
    })
  return found
}

/** Once per limit of a cycle: a crash may have come between the last review and this. */
export async function recordLimit(root: string, revision: number): Promise<void> {
  for (const event of eventsFromEnd(root, ['limit-reached', 'cycle-archived'])) {
    if (event.type === 'cycle-archived') break
    if (event.revision === revision) return
  }
  await appendEvent(root, { type: 'limit-reached', revision })
}

export type ReviewedRevision = Reviewed & { readonly result: ReviewResult }

/** Reviewed revisions whose result is gone, cannot be read any more, or is not what the ledger says. */
export function lostRevisions(root: string, reviewed: readonly ReviewedRevision[]): readonly number[] {
  const there = listRevisions(root).flatMap(({ revision, parts }) => (parts.includes('codex.json') ? [revision] : []))
  const known = new Set([...readCycle(root).reviews.keys(), ...there])
  return [...known].filter((revision) => !reviewed.some((each) => each.revision === revision)).sort((a, b) => a - b)
}

/** The revisions of this cycle whose result can be read, in order. One that the ledger does not know has no verdict. */
export function reviewedRevisions(root: string): readonly ReviewedRevision[] {
  const { reviews } = readCycle(root)
  const reviewed = listRevisions(root).flatMap(({ revision }) => {
    const { snapshot, result } = readRevision(root, revision)
    // Throws, because without them the reviewer would not be asked about earlier findings.
    for (const read of [snapshot, result]) throwIfUnreadable(`plan_v${revision}`, read)
    if (snapshot.kind !== 'read' || result.kind !== 'read' || !accepts(reviewResultSchema, result.value)) return []
    const review = reviews.get(revision)
    if (review?.verdict !== result.value.verdict || review.plan_hash !== sha256(snapshot.bytes)) return []
    return [toReviewed(revision, snapshot.bytes, result.value)]
  })
  const waived = readWaived(root)
  if (waived.withdrawn.length === 0) return reviewed
  const recorded = reviewed.map(({ findings, result }) => ({ findings, late: result.late ?? [] }))
  return reviewed.map((review, index) => {
    const findings = restoreWithdrawn(recorded.slice(0, index + 1), waived)
    return { ...review, findings, result: { ...review.result, findings: [...findings] } }
  })
}

/**
 * The review that approved the text that this cycle amends; null where the cycle before did not end by an edit of a text
 * (or the wish for one) that a review had approved, or that text is not known by its hash any more.
 */
export function amendedRevision(root: string): ReviewedRevision | null {
  let [cycle, isEdited] = [0, false]
  for (const event of eventsFromEnd(root, ['approved', 'approved-manually', 'approval-revoked', 'cycle-archived'])) {
    if (event.type === 'cycle-archived') {
      if (cycle !== 0) return null
      cycle = Number(event.cycle)
    } else if (cycle !== 0 && event.type === 'approval-revoked') isEdited = amending.includes(event.why)
    else if (cycle !== 0)
      return isEdited && event.type === 'approved' ? readAmended(root, cyclePath(cycle), event) : null
  }
  return null
}

/** Why an approval has ended whose text is worked on. */
const amending: readonly unknown[] = [changedAfterApproval, changesWereRequested]

function readAmended(
  root: string,
  folder: string,
  { revision: number, plan_hash }: LedgerEvent,
): ReviewedRevision | null {
  const revision = Number(number)
  const { snapshot, result } = readRevision(root, revision, folder)
  for (const read of [snapshot, result]) throwIfUnreadable(`${folder}/plan_v${revision}`, read)
  if (snapshot.kind !== 'read' || result.kind !== 'read' || sha256(snapshot.bytes) !== plan_hash) return null
  if (!accepts(reviewResultSchema, result.value) || result.value.verdict !== 'APPROVED') return null
  return toReviewed(revision, snapshot.bytes, result.value)
}

const toReviewed = (revision: number, snapshot: Buffer, result: ReviewResult): ReviewedRevision => ({
  revision,
  plan: snapshot.toString('utf8'),
  verdict: result.verdict,
  findings: result.findings,
  previous: result.previous_findings ?? [],
  result,
})

type KnownApproval = { kind: 'none' } | { kind: 'ended' } | { kind: 'by-hand' } | { kind: 'by'; route: string }

/** What the ledger says of an approval of these bytes; one that was revoked, or whose cycle ended, has `ended`. */
export function findApproval(events: readonly LedgerEvent[], planHash: string): KnownApproval {
  const last = events.findLastIndex(({ type, plan_hash }) => approving.includes(type) && plan_hash === planHash)
  const event = events[last]
  if (event === undefined) return { kind: 'none' }
  if (events.slice(last).some(({ type }) => ending.includes(type))) return { kind: 'ended' }
  if (event.type === 'approval-carried') return findApproval(events.slice(0, last), String(event.from))
  return event.type === 'approved-manually' ? { kind: 'by-hand' } : { kind: 'by', route: String(event.route) }
}

const approving = ['approved', 'approved-manually', 'approval-carried']
const ending = ['approval-revoked', 'cycle-archived']
