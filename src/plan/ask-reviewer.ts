import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanScope } from '../gate/scope.ts'
import { isBlocking } from '../review/findings.ts'
import { readGuidelines, readIntent } from '../review/material.ts'
import type { ReviewEvent, ReviewOutcome, ReviewRequest, Settle } from '../review/request.ts'
import { createReviewDependencies, reviewContent } from '../review/review.ts'
import { countTokensNear, estimateTokens, mayExceedBudget, openTokenizer } from '../review/tokens.ts'
import { readRouteTable } from '../reviewers/create.ts'
import { canonicalTable } from '../reviewers/route-table.ts'
import type { Progress } from '../schemas/records.ts'
import type { Finding, ThreadAfter } from '../schemas/review.ts'
import { appendEvent } from '../state/ledger.ts'
import { formatForecast } from '../state/pass-times.ts'
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
import { trimLineEnds } from '../text/clean.ts'
import { unifiedDiff } from '../text/diff.ts'
import { parseMarkdown } from '../text/markdown.ts'
import { settlePlanReview } from './findings.ts'
import { type OutcomeOf, unavailable } from './messages.ts'
import type { TooLong } from './next-step.ts'
import type { PlanReview, Revision } from './review-plan.ts'
import { type ReviewedRevision, recordedThread } from './revisions.ts'
import { applyWaivers, formatWaivers, isWaived } from './user-decisions.ts'

/** Runs the review along the route table, on the worktree's one thread; each pass is saved as it ends. */
export async function askReviewer(
  { root, config, problems, deadlineAt, signal }: PlanReview,
  revision: Revision,
): Promise<ReviewOutcome | OutcomeOf<'unavailable'>> {
  const [problem] = problems
  if (problem !== undefined)
    return unavailable(
      'no-route',
      `plan-gate.yaml is not valid, so the reviewer is not known: ${problem}`,
      'Fix plan-gate.yaml; `plan-gate config` says what is wrong.',
    )
  const { review, built } = readRouteTable(root, config, process.env)
  if (built.kind === 'invalid')
    return unavailable(
      'no-route',
      `The route table is invalid: ${built.problems.join(' ')}`,
      'Fix review.routes in plan-gate.yaml; `plan-gate routes` says what is wrong.',
    )
  const { table } = built
  await appendEvent(root, { type: 'routes-effective', routes_hash: sha256(canonicalTable(table)) })
  const dependencies = createReviewDependencies({
    config: { ...config, review },
    root,
    env: process.env,
    signal,
    loadTokenizer: () => loadTokenizer(readGitDirs(root)?.own),
  })
  let threadSaved: Promise<unknown> = Promise.resolve()
  let saveError: unknown = null
  const totalMs = Math.min(deadlineAt - performance.now(), review.policy.max_total_seconds * 1000)
  const known = readBackground(root, config, revision)
  const request = { ...requestFor(root, revision, totalMs, review), ...known.parts }
  const progress = trackProgress({ root, revision: revision.revision, deadlineAt: performance.now() + totalMs })
  try {
    let passCount = 0
    const outcome = await reviewContent(
      request,
      { review, table, maxIterations: null },
      {
        ...dependencies,
        onEvent: progress.onEvent,
        // Numbered in the order of asking: a failed pass is kept beside its retry.
        savePass: (pass) => {
          passCount += 1
          savePass(root, revision.revision, passCount, pass)
        },
        // A failure to save it is thrown after the review, not in the middle of it.
        saveThread: (thread, route) => {
          threadSaved = threadSaved
            .then(() => keepThread(root, thread, route))
            .catch((error: unknown) => {
              saveError ??= error
            })
        },
      },
    )
    await threadSaved
    if (saveError !== null) throw saveError
    if (outcome.kind === 'unavailable') return outcome
    const { notices = [] } = outcome.result
    return { ...outcome, result: { ...outcome.result, notices: [...known.notices, ...notices] } }
  } finally {
    progress.end()
  }
}

/** What the reviewer is told beside the plan, and what of it could not be read. */
function readBackground(root: string, { plan, review }: EffectiveConfig, { text, waivers }: Revision) {
  const gitDir = readGitDirs(root)?.own ?? null
  const intent = readIntent(root, gitDir, plan.request)
  const touched = readPlanScope(text).map(({ pattern }) => pattern)
  const guidelines = readGuidelines(root, gitDir, review.guidelines, { type: 'plan', touched })
  return {
    parts: {
      intent: [intent.text, formatWaivers(waivers)].filter((part) => part !== null).join('\n\n') || null,
      guidelines: guidelines.text,
    },
    notices: [...intent.notices, ...guidelines.notices],
  }
}

/** null: it is not too long for a reviewer to see all of it. A token is at least one byte. */
export async function measurePlan(root: string, plan: string, limit: number): Promise<TooLong | null> {
  if (!mayExceedBudget(plan, limit)) return null
  const tokenizer = () => openTokenizer(() => loadTokenizer(readGitDirs(root)?.own))
  const tokens = await countTokensNear(plan, [limit], tokenizer)
  if (tokens <= limit) return null
  const { lines, headings } = parseMarkdown(plan)
  const sections = headings
    .filter(({ level }) => level === 2)
    .map(({ title, number, end }) => ({
      title,
      tokens: estimateTokens(plan.slice(lines[number - 1]?.start, lines[end - 1]?.end)),
    }))
  return { tokens, limit, sections: sections.sort((a, b) => b.tokens - a.tokens).slice(0, 5) }
}

/** The tokenizer is too large to be copied into each worktree. Without the package the estimate is used. */
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
  plan: Revision,
  totalMs: number,
  review: { readonly timeout_seconds: number },
): Omit<ReviewRequest, 'intent' | 'guidelines'> {
  const { text, revision, left, reviewed, amended, waivers, users } = plan
  const said = readReplies(text)
  const last = reviewed.at(-1) ?? amended
  const earlier = applyWaivers([...(last?.findings ?? []), ...users], waivers)
  const [thread, recorded] = [readThread(root), recordedThread(root)]
  // The approval that is amended was the first round.
  const before = amended === null ? 0 : 1
  const round = revision + before
  return {
    type: 'plan',
    content: said.plan,
    expertise: null,
    context: null,
    iteration: round,
    earlier,
    lastId: last?.result.last_id ?? 0,
    changes: last === null ? null : changesSince(last, said.plan, last === amended ? 'approved' : null),
    replies: said.replies,
    contested: contestedIn(plan, earlier.filter(isBlocking)),
    rounds: round + left,
    settle: settlePlan(plan, last, revision, said.plan),
    root,
    ...(thread.kind === 'known' && thread.id === recorded?.id
      ? { thread: { kind: 'resume', id: thread.id, used: readThreadUse(root, thread.id) }, threadOf: recorded.route }
      : { thread: { kind: 'start' } }),
    fast: false,
    passTimeoutMs: Math.min(review.timeout_seconds * 1000, totalMs),
    totalMs,
  }
}

/** By the policy of plans; what the user has waived is advice. */
function settlePlan({ waivers, users }: Revision, last: ReviewedRevision | null, round: number, plan: string): Settle {
  const settle = settlePlanReview({
    before: last && {
      verdict: last.verdict,
      findings: applyWaivers(last.findings, waivers),
      plan: readReplies(last.plan).plan,
    },
    users: applyWaivers(users, waivers),
    waived: [...(last?.findings ?? []), ...users].flatMap((each) => (isWaived(each, waivers) ? [each.id] : [])),
    round,
    plan,
    byChecklist: last?.result.pass_metadata?.route === 'checklist',
  })
  return (reported, stage) => settle({ ...reported, findings: applyWaivers(reported.findings, waivers) }, stage)
}

/** Open findings that the author contests now, and contested in an earlier revision of the cycle. */
export const contestedIn = ({ text, reviewed }: Revision, open: readonly Finding[]): readonly string[] =>
  contestedTwice(
    readReplies(text),
    reviewed.map(({ plan }) => plan),
    open,
  )

const changesSince = (last: ReviewedRevision, plan: string, name: string | null): string =>
  unifiedDiff(trimLineEnds(readReplies(last.plan).plan), trimLineEnds(plan), {
    context: 3,
    maxLines: 2_000,
    names: { before: name ?? `revision ${last.revision}`, after: 'now' },
  })

/** One thread for all reviews of this worktree; a replaced thread is recorded. */
async function keepThread(root: string, { id, used, replaced }: ThreadAfter, route: string): Promise<void> {
  const [before, recorded] = [readThread(root), recordedThread(root)]
  if (used !== null) writeThreadUse(root, { thread: id, used })
  if (before.kind === 'known' && before.id === id) return
  writeThread(root, id)
  const isForeign = recorded !== null && recorded.route !== route
  const why = isForeign ? `it belongs to ${recorded.route}` : 'the ledger does not name it'
  const unknown = before.kind === 'known' ? { was: before.id, why } : null
  const instead = replaced ?? (before.kind === 'refused' ? { was: 'unknown', why: before.why } : unknown)
  await appendEvent(
    root,
    instead === null
      ? { type: 'thread-started', thread: id, route }
      : { type: 'thread-replaced', thread: id, route, ...instead },
  )
}

/** Debounce: each write is synced, and a reviewer at work sends dozens of signals a second. */
const progressIntervalMs = 1_000

type Tracked = { readonly root: string; readonly revision: number; readonly deadlineAt: number }

/** Writes progress.json: which pass is running, and when its reviewer was last active. */
export function trackProgress({ root, revision, deadlineAt }: Tracked) {
  const started_at = new Date().toISOString()
  let progress: Progress | null = null
  let writtenAt = 0
  let timer: NodeJS.Timeout | undefined
  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    writtenAt = performance.now()
    if (progress !== null) writeProgress(root, progress)
  }
  const writeSign = (): void => {
    try {
      write()
    } catch {
      // Progress that cannot be written must not end a review.
    }
  }
  return {
    onEvent: (event: ReviewEvent): void => {
      switch (event.kind) {
        case 'pass':
          progress = {
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
            ...(event.expectedMs ? { pass_expected_ms: event.expectedMs } : {}),
            ...(event.forecast ? { expected_ms: event.forecast.ms, forecast: formatForecast(event.forecast) } : {}),
          }
          return write()
        case 'sign':
          if (progress === null) return
          progress = { ...progress, sign: event.text.slice(0, 300), signed_at: new Date().toISOString() }
          timer ??= setTimeout(writeSign, Math.max(0, writtenAt + progressIntervalMs - performance.now()))
          return
        case 'trace':
        case 'notice':
          return
      }
    },
    // A file written after the end would show a review that does not run.
    end: (): void => {
      clearTimeout(timer)
      progress = null
      clearProgress(root)
    },
  }
}

const toWallClock = (at: number): string => new Date(Date.now() + at - performance.now()).toISOString()

type Replies = {
  readonly plan: string
  /** The items below `## Review replies`; null: there is none. */
  readonly replies: string | null
  /** The findings that the author contests, each with the line that says so. */
  readonly contested: ReadonlyMap<string, string>
}

/** The author's answers to findings stand in the plan, and are no part of it: they are cut out before it is reviewed. */
export function readReplies(text: string): Replies {
  const markdown = parseMarkdown(text)
  // The line of its heading is shown to nobody, so there may be nothing else in it.
  const sections = markdown.headings.filter(({ number }) => {
    const line = markdown.lines[number - 1]
    return /^##[ \t]+review replies[ \t]*\r?\n?$/i.test(text.slice(line?.start, line?.end))
  })
  const parts: string[] = []
  let [plan, end] = ['', 0]
  for (const { number, end: last } of sections) {
    const [first, below] = [markdown.lines[number - 1], markdown.lines.slice(number, last)]
    const stop = below.at(-1)?.end ?? first?.end ?? 0
    plan += text.slice(end, first?.start)
    parts.push(text.slice(first?.end, stop).trim())
    end = stop
  }
  const replies = parts.filter((part) => part !== '').join('\n\n')
  return {
    plan: plan + text.slice(end),
    replies: replies === '' ? null : replies,
    contested: new Map(replies.split('\n').flatMap(contestedInReplies)),
  }
}

/** `- F3: contest: src/a.ts:12 closes it.` */
function contestedInReplies(line: string): [id: string, line: string][] {
  const [, id = ''] = /^\W*(F\d{1,9})\b\W{0,8}(?:contest|disagree|reject|dispute|declin)/i.exec(line) ?? []
  return id === '' ? [] : [[id.toUpperCase(), line.trim()]]
}

/**
 * Open findings that the author contests now, and contested in one earlier text of the cycle. After more of them, a fresh
 * reader has decided.
 */
export const contestedTwice = (
  { contested }: Replies,
  earlier: readonly string[],
  open: readonly { readonly id: string }[],
): readonly string[] => {
  const before = contested.size === 0 ? [] : earlier.map((text) => readReplies(text).contested)
  return [...contested.keys()].filter(
    (id) => open.some((finding) => finding.id === id) && before.filter((replies) => replies.has(id)).length === 1,
  )
}
