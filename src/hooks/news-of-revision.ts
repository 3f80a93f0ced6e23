import type { PlanOutcome } from '../plan/plan-news.ts'
import type { ReviewResult } from '../schemas/review-result.ts'
import { appendEvent } from '../store/append-event.ts'
import { readThread } from '../store/codex-thread.ts'
import { writeApproval } from '../store/write-approval.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { readWorkingTree, rebaseline } from './check-drift.ts'
import { interrupted } from './interrupted.ts'
import type { RevisionLimit } from './read-revision-limit.ts'
import type { PlanReview } from './review-plan.ts'
import type { ReviewedRevision } from './reviewed-revisions.ts'

/** Which revision it is, and how many more are reviewed after it. */
type Numbered = { readonly hash: string; readonly revision: number; readonly left: number }

/** What a recorded verdict comes to: an approval opens the gate here and nowhere else. */
export async function applyVerdict(
  review: PlanReview,
  result: ReviewResult,
  { hash, revision, left }: Numbered,
): Promise<PlanOutcome> {
  const told = toldOf(result)
  switch (result.verdict) {
    case 'APPROVED':
      if (review.signal.aborted) return interrupted
      await approve(review.root, result, hash, revision)
      return { kind: 'approved', revision, review: told, verification: result.verification ?? null }
    case 'CHANGES_REQUIRED':
      if (left > 0) return { kind: 'changes-required', revision, left, review: told }
      await appendEvent(review.root, { type: 'limit-reached', revision })
      return { kind: 'limit-reached', revision, wasReviewed: true, review: told }
    case 'DECISION_NEEDED':
      if (left === 0) {
        await appendEvent(review.root, { type: 'limit-reached', revision })
        const summary = [told.summary, result.question ?? ''].filter((text) => text !== '').join('\n')
        return { kind: 'limit-reached', revision, wasReviewed: true, review: { ...told, summary } }
      }
      return { kind: 'decision-needed', revision, question: result.question ?? null, review: told }
    case 'SKIPPED':
      return { kind: 'skipped', why: result.summary }
  }
}

async function approve(root: string, result: ReviewResult, hash: string, revision: number): Promise<void> {
  const gitDirs = readGitDirs(root)
  // What is done from here on is held against the plan.
  if (gitDirs !== null) rebaseline(gitDirs.own, readWorkingTree(root, gitDirs))
  const thread = readThread(root)
  const route = result.pass_metadata?.route ?? 'unknown'
  const verification = result.verification ?? null
  await appendEvent(root, { type: 'approved', revision, plan_hash: hash, route, verification })
  writeApproval(root, {
    is_optimal: true,
    plan_hash: hash,
    review_version: revision,
    approved_at: new Date().toISOString(),
    codex_thread_id: route === 'codex' && thread.kind === 'known' ? thread.id : null,
    verification,
    route,
  })
}

/** The same bytes as a revision that was reviewed: the same verdict, and an approval that a crash kept from being written. */
export async function replayVerdict(
  review: PlanReview,
  hash: string,
  reviewed: readonly ReviewedRevision[],
  revision: number,
  { limit, revisions }: RevisionLimit,
): Promise<PlanOutcome> {
  const same = reviewed.find((each) => each.revision === revision)
  if (same === undefined) throw new Error(`revision ${revision} is not there`)
  const left = Math.max(0, limit - revisions)
  if (same.verdict === 'APPROVED' || revision === reviewed.at(-1)?.revision)
    return applyVerdict(review, same.result, { hash, revision, left })
  const { verdict, result } = same
  return { kind: 'same-plan', revision, verdict, question: result.question ?? null, review: toldOf(result) }
}

const toldOf = (result: ReviewResult) => ({
  summary: result.summary,
  findings: result.findings,
  previous: result.previous_findings ?? [],
  late: result.late ?? [],
  stuck: result.stuck ?? [],
})
