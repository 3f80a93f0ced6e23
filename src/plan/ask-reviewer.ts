import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createReviewDependencies } from '../review/dependencies.ts'
import type { ReviewEvent, ReviewOutcome, ReviewRequest } from '../review/request.ts'
import { reviewContent } from '../review/review.ts'
import { readRouteTable } from '../reviewers/create.ts'
import { canonicalTable } from '../reviewers/route-table.ts'
import type { Progress } from '../schemas/records.ts'
import type { ThreadAfter } from '../schemas/review.ts'
import { appendEvent } from '../state/ledger.ts'
import { readInstallRecord } from '../state/records.ts'
import {
  clearProgress,
  readThread,
  readThreadUse,
  savePass,
  writeProgress,
  writeThread,
  writeThreadUse,
} from '../state/revisions.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import { unifiedDiff } from '../text/line-diff.ts'
import type { PlanOutcome } from './messages.ts'
import type { PlanReview, Revision } from './review-plan.ts'
import type { ReviewedRevision } from './revisions.ts'

type Unavailable = Extract<PlanOutcome, { kind: 'unavailable' }>

/** Down the route table, on the worktree's one thread; each pass is kept as it ends. */
export async function askReviewer(
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
  const progress = trackProgress({ root, revision: revision.revision, deadlineAt: performance.now() + totalMs })
  try {
    let asked = 0
    const outcome = await reviewContent(
      request,
      { review, table, maxIterations: null },
      {
        ...world,
        onEvent: progress.tell,
        // In the order of asking: a pass that failed is kept beside the one that took its place.
        savePass: (pass) => {
          asked += 1
          savePass(root, revision.revision, asked, pass)
        },
        // A failure to keep it is thrown when the review has ended, and not out of the middle of it.
        saveThread: (thread) => {
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

type Review = { readonly root: string; readonly revision: number; readonly deadlineAt: number }

/** Each write is synced; a backend at work gives dozens of signs a second. */
const progressIntervalMs = 1_000

/** Keeps on disk, for whoever watches, which pass is running and when its reviewer was last heard of. */
export function trackProgress({ root, revision, deadlineAt }: Review): {
  tell: (event: ReviewEvent) => void
  end: () => void
} {
  const started_at = new Date().toISOString()
  let progress: Progress | null = null
  let writtenAt = 0
  let later: NodeJS.Timeout | undefined
  const write = (next: Progress): void => {
    clearTimeout(later)
    later = undefined
    progress = next
    writtenAt = performance.now()
    writeProgress(root, next)
  }
  const writeSign = (): void => {
    try {
      if (progress !== null) write(progress)
    } catch {
      // That somebody sees less of it must not end a review.
    }
  }
  return {
    tell: (event) => {
      switch (event.kind) {
        case 'pass':
          return write({
            pass: event.pass,
            passes: event.passes,
            backend: event.backend,
            started_at,
            deadline_at: toWallClock(deadlineAt),
            revision,
            pid: process.pid,
            does: event.does,
            pass_started_at: new Date().toISOString(),
            pass_deadline_at: toWallClock(event.deadlineAt),
          })
        case 'sign':
          if (progress === null) return
          progress = { ...progress, sign: event.text.slice(0, 300), signed_at: new Date().toISOString() }
          later ??= setTimeout(writeSign, Math.max(0, writtenAt + progressIntervalMs - performance.now()))
          return
        case 'trace':
        case 'notice':
          return
      }
    },
    // Nothing may be written once the review has ended: a file would tell of one that runs.
    end: () => {
      clearTimeout(later)
      progress = null
      clearProgress(root)
    },
  }
}

/** What the review's own clock shows at some time, as the calendar has it. */
const toWallClock = (at: number): string => new Date(Date.now() + at - performance.now()).toISOString()
