import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PlanOutcome } from '../plan/plan-news.ts'
import { unifiedDiff } from '../plan/unified-diff.ts'
import { reviewContent } from '../review/review-content.ts'
import type { ReviewOutcome, ReviewRequest } from '../review/review-request.ts'
import { canonicalTable } from '../routes/canonical-table.ts'
import type { ThreadAfter } from '../schemas/backend.ts'
import { appendEvent } from '../store/append-event.ts'
import { readThread, writeThread } from '../store/codex-thread.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { savePass } from '../store/save-revision.ts'
import { sha256 } from '../store/sha256.ts'
import { readThreadUse, writeThreadUse } from '../store/thread-use.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { noteProgress } from './note-progress.ts'
import { readRouteTable } from './read-route-table.ts'
import type { PlanReview } from './review-plan.ts'
import type { Revision } from './review-revision.ts'
import { createReviewDependencies } from './review-world.ts'
import type { ReviewedRevision } from './reviewed-revisions.ts'

type Unavailable = Extract<PlanOutcome, { kind: 'unavailable' }>

/** Down the route table, on the worktree's one thread; each pass is kept as it ends. */
export async function askAboutRevision(
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
  const world = createReviewDependencies({
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
