import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { planPath } from '../gate/place-of.ts'
import { annotatePlan } from '../plan/annotate-plan.ts'
import { diffLines } from '../plan/diff-lines.ts'
import { findStuck } from '../plan/find-stuck.ts'
import type { PlanNews } from '../plan/plan-news.ts'
import { settleFindings } from '../plan/settle-findings.ts'
import { unifiedDiff } from '../plan/unified-diff.ts'
import { reviewContent } from '../review/review-content.ts'
import type { ReviewOutcome, ReviewRequest } from '../review/review-request.ts'
import { canonicalTable } from '../routes/canonical-table.ts'
import type { ThreadAfter } from '../schemas/backend.ts'
import type { ReviewResult } from '../schemas/review-result.ts'
import { appendEvent } from '../store/append-event.ts'
import { readThread, writeThread } from '../store/codex-thread.ts'
import { ensureReviewDir } from '../store/ensure-review-dir.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { readRegular } from '../store/read-regular.ts'
import { refuseUnread } from '../store/refuse-unread.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { saveAnnotated, savePass, saveResult, saveSnapshot } from '../store/save-revision.ts'
import { sha256 } from '../store/sha256.ts'
import { readThreadUse, writeThreadUse } from '../store/thread-use.ts'
import { writeCounter } from '../store/version-counter.ts'
import { writeApproval } from '../store/write-approval.ts'
import { refuseAllButRegular } from '../store/write-whole.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { acceptTree, lookAtTree } from './check-drift.ts'
import { noteProgress } from './note-progress.ts'
import type { RevisionLimit } from './read-revision-limit.ts'
import { readRouteTable } from './read-route-table.ts'
import type { PlanReview } from './review-plan.ts'
import { reviewWorld } from './review-world.ts'
import type { ReviewedRevision } from './reviewed-revisions.ts'

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
export async function reviewRevision(review: PlanReview, revision: Revision): Promise<PlanNews> {
  const { root } = review
  refuseStrangeEntries(root)
  saveSnapshot(root, revision.revision, revision.bytes)
  await appendEvent(root, { type: 'revision-submitted', revision: revision.revision, plan_hash: revision.hash })
  const outcome = await ask(review, revision)
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
  refuseUnread(planPath, now)
  if (now.kind !== 'read' || sha256(now.bytes) !== revision.hash) {
    const why = 'The plan changed while it was under review.'
    await appendEvent(root, { type: 'review-unavailable', plan_hash: revision.hash, failure: 'outdated', why })
    return { kind: 'changed-during-review' }
  }
  const result = settle(outcome, revision)
  await record(root, result, revision)
  return newsOf(review, result, revision)
}

type Unavailable = Extract<PlanNews, { kind: 'unavailable' }>

/** Nobody hears it after Esc; a session that goes on, because only the machine had slept, does. */
export const interrupted: Unavailable = {
  kind: 'unavailable',
  failure: 'cancelled',
  why: 'It was stopped before it had come to an end.',
  nextStep: 'Save docs/plan.md again when it is to be reviewed.',
}

/** Before anything is paid for: what could not be written at the end. */
function refuseStrangeEntries(root: string): void {
  const { approval, thread, threadUse, counter, handled, progress, passes } = reviewPaths
  for (const path of [approval, thread, threadUse, counter, handled, progress]) refuseAllButRegular(root, path)
  ensureReviewDir(root, passes)
}

async function ask(
  { root, config, problems, deadlineAt, signal }: PlanReview,
  revision: Revision,
): Promise<ReviewOutcome | Unavailable> {
  const [problem] = problems
  if (problem !== undefined)
    return noRoute(
      `plan-gate.yaml is not valid, so who may be asked is not known: ${problem}`,
      'Mend plan-gate.yaml; `plan-gate config` says what is wrong with it.',
    )
  const { review, built } = readRouteTable(root, config, process.env)
  if (built.kind === 'invalid')
    return noRoute(
      `There is no route table to review by: ${built.problems.join(' ')}`,
      'Mend review.routes in plan-gate.yaml; `plan-gate routes` shows what is wrong.',
    )
  const { table } = built
  await appendEvent(root, { type: 'routes-effective', routes_hash: sha256(canonicalTable(table)) })
  const world = reviewWorld({
    config: { ...config, review },
    root,
    env: process.env,
    signal,
    loadTokenizer: () => loadTokenizer(readGitDirs(root)?.own),
  })
  let kept: Promise<unknown> = Promise.resolve()
  let notKept: unknown = null
  const totalMs = Math.min(deadlineAt - performance.now(), review.policy.max_total_seconds * 1000)
  const request = requestFor(root, revision, totalMs, review)
  const progress = noteProgress({ root, revision: revision.revision, deadlineAt: performance.now() + totalMs })
  try {
    let asked = 0
    const outcome = await reviewContent(
      request,
      { review, table, maxIterations: null },
      {
        ...world,
        tell: progress.tell,
        // In the order of asking: a pass that failed is kept beside the one that took its place.
        keepPass: (pass) => {
          asked += 1
          savePass(root, revision.revision, asked, pass)
        },
        // A failure to keep it is thrown when the review has ended, and not out of the middle of it.
        keepThread: (thread) => {
          kept = kept
            .then(() => keepThread(root, thread))
            .catch((error: unknown) => {
              notKept ??= error
            })
        },
      },
    )
    await kept
    if (notKept !== null) throw notKept
    return outcome
  } finally {
    progress.end()
  }
}

const noRoute = (why: string, nextStep: string): Unavailable => ({
  kind: 'unavailable',
  failure: 'no-route',
  why,
  nextStep,
})

/** Too large to be copied into each worktree. Where the package is gone, the estimate does. */
function loadTokenizer(gitDir: string | undefined): Promise<{ countTokens: (text: string) => number }> {
  const record = gitDir === undefined ? null : readInstallRecord(gitDir)
  const root = record?.kind === 'read' ? record.value.package_root : undefined
  if (root === undefined) throw new Error('the package is not known')
  return import(pathToFileURL(join(root, 'dist', 'tokenizer.mjs')).href) as Promise<{
    countTokens: (text: string) => number
  }>
}

function requestFor(
  root: string,
  { text, revision, reviewed }: Revision,
  totalMs: number,
  review: { readonly timeout_seconds: number },
): ReviewRequest {
  const last = reviewed.at(-1)
  const thread = readThread(root)
  return {
    type: 'plan',
    content: text,
    expertise: null,
    context: null,
    iteration: revision,
    earlier: last?.findings ?? [],
    lastId: last?.result.last_id ?? 0,
    changes: last === undefined ? null : changesSince(last, text),
    root,
    thread:
      thread.kind === 'known'
        ? { kind: 'resume', id: thread.id, used: readThreadUse(root, thread.id) }
        : { kind: 'start' },
    fast: false,
    passTimeoutMs: Math.min(review.timeout_seconds * 1000, totalMs),
    totalMs,
  }
}

const changesSince = (last: ReviewedRevision, text: string): string =>
  unifiedDiff(last.plan, text, {
    context: 3,
    maxLines: 2_000,
    names: { before: `revision ${last.revision}`, after: 'now' },
  })

/** One thread for all reviews of this worktree; that one took another's place is put on record. */
async function keepThread(root: string, { id, used, replaced }: ThreadAfter): Promise<void> {
  const before = readThread(root)
  if (used !== null) writeThreadUse(root, { thread: id, used })
  if (before.kind === 'known' && before.id === id) return
  writeThread(root, id)
  const instead = replaced ?? (before.kind === 'refused' ? { was: 'unknown', why: before.why } : null)
  await appendEvent(
    root,
    instead === null ? { type: 'thread-started', thread: id } : { type: 'thread-replaced', thread: id, ...instead },
  )
}

/** What the reviewer said, and what follows from it in the light of the reviews before. */
function settle(
  outcome: ReviewOutcome & { kind: 'reviewed' },
  { text, hash, revision, reviewed, lost }: Revision,
): ReviewResult {
  const { result, lastId } = outcome
  const last = reviewed.at(-1)
  const isChecklist = [result, last?.result].every((each) => each?.pass_metadata?.route === 'checklist')
  const settled = settleFindings({
    verdict: result.verdict,
    question: result.question ?? null,
    findings: result.findings,
    statuses: result.previous_findings ?? [],
    before: last === undefined ? null : { verdict: last.verdict, findings: last.findings },
    plan: text,
    changes: diffLines(last?.plan ?? '', text),
    // Who approves the plan as it is has said enough about what was found before; what it calls open, stays open.
    whenSilent: isChecklist || result.verdict === 'APPROVED' ? 'settled' : 'open',
  })
  const { verdict, question, findings, previous, late } = settled
  const history = [...reviewed, { revision, plan: text, verdict, findings, previous }]
  return {
    ...result,
    verdict,
    is_optimal: verdict === 'APPROVED',
    question,
    findings,
    previous_findings: previous,
    notices: [...(result.notices ?? []), ...lost.map(lostNotice), ...settled.notices],
    plan_hash: hash,
    last_id: lastId,
    late,
    stuck: findStuck(history).map(({ words }) => words),
  }
}

const lostNotice = (revision: number): string =>
  `The result of revision ${revision} cannot be read, so what was found then was not asked about.`

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

async function newsOf(
  review: PlanReview,
  result: ReviewResult,
  { hash, revision, left }: Pick<Revision, 'hash' | 'revision' | 'left'>,
): Promise<PlanNews> {
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
  if (gitDirs !== null) acceptTree(gitDirs.own, lookAtTree(root, gitDirs))
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
export async function newsAgain(
  review: PlanReview,
  hash: string,
  reviewed: readonly ReviewedRevision[],
  revision: number,
  { limit, revisions }: RevisionLimit,
): Promise<PlanNews> {
  const same = reviewed.find((each) => each.revision === revision)
  if (same === undefined) throw new Error(`revision ${revision} is not there`)
  const left = Math.max(0, limit - revisions)
  if (same.verdict === 'APPROVED' || revision === reviewed.at(-1)?.revision)
    return newsOf(review, same.result, { hash, revision, left })
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
