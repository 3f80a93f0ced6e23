import { planPath } from '../gate/place-of.ts'
import { annotatePlan } from '../plan/annotate-plan.ts'
import type { PlanOutcome } from '../plan/plan-news.ts'
import type { ReviewResult } from '../schemas/review-result.ts'
import { appendEvent } from '../store/append-event.ts'
import { ensureReviewDir } from '../store/ensure-review-dir.ts'
import { readRegular } from '../store/read-regular.ts'
import { throwIfUnreadable } from '../store/refuse-unread.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { saveAnnotated, saveResult, saveSnapshot } from '../store/save-revision.ts'
import { sha256 } from '../store/sha256.ts'
import { writeCounter } from '../store/version-counter.ts'
import { refuseAllButRegular } from '../store/write-whole.ts'
import { askAboutRevision } from './ask-about-revision.ts'
import { interrupted } from './interrupted.ts'
import { applyVerdict } from './news-of-revision.ts'
import type { PlanReview } from './review-plan.ts'
import type { ReviewedRevision } from './reviewed-revisions.ts'
import { mergeWithPreviousReview } from './settle-revision.ts'

export type Revision = {
  readonly bytes: Buffer
  readonly text: string
  readonly hash: string
  readonly revision: number
  /** How many more are reviewed after this one. */
  readonly left: number
  readonly reviewed: readonly ReviewedRevision[]
  /** The numbers of those whose result cannot be read. */
  readonly lost: readonly number[]
}

/** One revision from its bytes to what it came to. Only a verdict counts it, and only an approval of these bytes opens the gate. */
export async function reviewRevision(review: PlanReview, revision: Revision): Promise<PlanOutcome> {
  const { root } = review
  refuseStrangeEntries(root)
  saveSnapshot(root, revision.revision, revision.bytes)
  await appendEvent(root, { type: 'revision-submitted', revision: revision.revision, plan_hash: revision.hash })
  const outcome = await askAboutRevision(review, revision)
  if (outcome.kind === 'unavailable') {
    const { failure, why, nextStep } = outcome
    await appendEvent(root, { type: 'review-unavailable', plan_hash: revision.hash, failure, why })
    return { kind: 'unavailable', failure, why, nextStep }
  }
  if (outcome.result.verdict === 'SKIPPED') {
    const why = outcome.result.summary
    await appendEvent(root, { type: 'review-unavailable', plan_hash: revision.hash, failure: 'skipped', why })
    return { kind: 'skipped', why }
  }
  // Whatever it says: the session has ended, or the lock is another's and so is the decision.
  if (review.signal.aborted) return interrupted
  const now = readRegular(root, planPath, 64 * 1024 * 1024)
  throwIfUnreadable(planPath, now)
  if (now.kind !== 'read' || sha256(now.bytes) !== revision.hash) {
    const why = 'The plan changed while it was under review.'
    await appendEvent(root, { type: 'review-unavailable', plan_hash: revision.hash, failure: 'outdated', why })
    return { kind: 'changed-during-review' }
  }
  const result = mergeWithPreviousReview(outcome, revision)
  await record(root, result, revision)
  return applyVerdict(review, result, revision)
}

/** Before anything is paid for: what could not be written at the end. */
function refuseStrangeEntries(root: string): void {
  const { approval, thread, threadUse, counter, handled, progress, passes } = reviewPaths
  for (const path of [approval, thread, threadUse, counter, handled, progress]) refuseAllButRegular(root, path)
  ensureReviewDir(root, passes)
}

/** The ledger first: what a crash cuts off after it is asked for once more, and an approval is the very last. */
async function record(root: string, result: ReviewResult, { text, hash, revision }: Revision): Promise<void> {
  const { verdict, findings } = result
  const backend = result.pass_metadata?.route ?? 'unknown'
  await appendEvent(root, { type: 'reviewed', revision, plan_hash: hash, verdict, backend, findings: findings.length })
  saveAnnotated(
    root,
    revision,
    annotatePlan(text, {
      revision,
      date: new Date().toISOString(),
      verdict,
      summary: result.summary,
      question: result.question ?? null,
      findings,
      previous: result.previous_findings ?? [],
      notices: result.notices ?? [],
      stuck: result.stuck ?? [],
    }),
  )
  saveResult(root, revision, result)
  writeCounter(root, revision)
}
