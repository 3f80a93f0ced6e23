import { gateConfig } from '../config/compiled-config.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { readWorkingTree, rebaseline } from '../gate/working-tree.ts'
import { neutralise } from '../redact/untrusted-text.ts'
import { isBlocking } from '../review/findings.ts'
import type { ReviewOutcome } from '../review/request.ts'
import { checkPlan } from '../reviewers/checklist/plan.ts'
import { checklistSetup } from '../reviewers/create.ts'
import type { ReviewResult } from '../schemas/review.ts'
import { readApproval, readPlanBytes, writeApproval } from '../state/approval.ts'
import { endCycle, withLock } from '../state/cycles.ts'
import {
  ensureReviewDir,
  putFile,
  refuseAllButRegular,
  StoreError,
  saveFile,
  throwIfUnreadable,
} from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import { planPath, reviewPaths } from '../state/own-paths.ts'
import {
  listRevisions,
  readCounter,
  readRevision,
  readThread,
  saveAnnotated,
  saveResult,
  saveSnapshot,
  writeCounter,
} from '../state/revisions.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import { abortOnSignals } from '../system/signals.ts'
import { diffLines } from '../text/line-diff.ts'
import { annotatePlan } from './annotate.ts'
import { askAboutRevision } from './ask-reviewer.ts'
import { findStuck, reconcileFindings } from './findings.ts'
import { formatForClaude, formatForUser, interrupted, type PlanOutcome } from './messages.ts'
import { decideNextStep } from './next-step.ts'
import { readHandled, readStanding, writeHandled } from './plan-change.ts'
import {
  lostRevisions,
  type ReviewedRevision,
  type RevisionLimit,
  readRevisionLimit,
  recordLimit,
  reviewedRevisions,
} from './revisions.ts'
import type { HookMessage } from './sync-approval.ts'

/** For what is done before and after the reviewer is asked. The time-out of the hook itself is another margin above. */
const marginMs = 20_000

/** With less than this left, waiting for another review has used up the time. */
const leastMs = 30_000

/**
 * The plan has new bytes. One review at a time: who comes while one runs waits for it, and then finds that these bytes
 * were dealt with meanwhile, or that they are next. Whatever fails in here leaves the gate closed, and says so.
 */
export async function reviewPlan(
  root: string,
  extend: (ms: number) => void,
  /** The text of plan mode, which first becomes docs/plan.md; null: what is there counts. */
  presented: string | null = null,
): Promise<HookMessage> {
  const { config: compiled, problems } = await gateConfig(root)
  const config = compiled as EffectiveConfig
  const totalMs = config.plan.deadline_seconds * 1000
  const deadlineAt = performance.now() + totalMs
  extend(totalMs + marginMs)
  const stop = abortOnSignals()
  let hasBegun = false
  try {
    const work = (lost: AbortSignal): Promise<HookMessage> => {
      hasBegun = true
      const signal = AbortSignal.any([lost, stop.signal])
      return reviewLockedPlan({ root, config, problems, deadlineAt, signal, lost }, presented)
    }
    const held = withLock(root, work, { waitMs: Math.max(6_000, totalMs - leastMs) })
    // Who only waits for another review has nothing to bring to an end first.
    await Promise.race([held, stop.asked])
    if (stop.signal.aborted && !hasBegun) return toHookMessage(interrupted)
    const ended = await held
    return ended.kind === 'done' ? ended.value : toHookMessage(busy)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return toHookMessage({ kind: 'unavailable', failure: 'not-recorded', why: error.message, nextStep: error.next })
  } finally {
    stop.end()
  }
}

const busy: PlanOutcome = {
  kind: 'unavailable',
  failure: 'timeout',
  why: 'Another review of the plan was running for all of the time that there was.',
  nextStep: 'When that one has ended (`plan-gate status`), save docs/plan.md again.',
}

export type PlanReview = {
  readonly root: string
  readonly config: EffectiveConfig
  /** What is wrong with plan-gate.yaml; the configuration is then not what its author meant. */
  readonly problems: readonly string[]
  readonly deadlineAt: number
  /** Aborted when the session ends, and with `lost`. */
  readonly signal: AbortSignal
  /** Aborted when the lock is another's by now: then nothing may be written any more. */
  readonly lost: AbortSignal
}

const silent: HookMessage = { kind: 'silence', text: '', user: null }

async function reviewLockedPlan(review: PlanReview, presented: string | null): Promise<HookMessage> {
  const { root, config } = review
  if (presented !== null) presentPlan(root, presented)
  const read = readPlanBytes(root)
  if (read.kind !== 'read') return silent
  const hash = sha256(read.bytes)
  // While this hook waited for the lock, another one has dealt with these very bytes.
  const standing = readStanding(root, hash)
  if (standing !== null) return standing
  const handled = readHandled(root)
  const approval = readApproval(root)
  throwIfUnreadable(reviewPaths.approval, approval)
  const approvedHash = approval.kind === 'recorded' && approval.approval.is_optimal ? approval.approval.plan_hash : null
  const limit = readRevisionLimit(root, config.plan.max_revisions)
  // A crash came between a result and its number, or somebody set the counter back.
  if (readCounter(root).value < limit.revisions) writeCounter(root, limit.revisions)
  const reviewed = reviewedRevisions(root)
  const text = read.bytes.toString('utf8')
  const step = decideNextStep({
    plan: { hash, bytes: read.bytes.length },
    isPlanWrite: true,
    toldHash: handled?.plan_hash ?? null,
    approvedHash,
    reviewed: reviewed.map(({ revision, plan, verdict }) => ({ revision, planHash: sha256(plan), verdict })),
    counter: limit.revisions,
    maxRevisions: config.plan.max_revisions,
    continued: limit.limit - config.plan.max_revisions,
    maxBytes: config.plan.max_bytes,
    isUtf8: () => Buffer.from(text, 'utf8').equals(read.bytes),
    // What is only minor does not keep the plan from its reviewer, who is told the rest by the plan itself.
    checklist: () =>
      checkPlan(text, checklistSetup(config, root))
        .filter(isBlocking)
        .map((finding, index) => ({ ...finding, id: `C${index + 1}` })),
  })
  const keep = (news: PlanOutcome): HookMessage => {
    const told = toHookMessage(news)
    if (!review.lost.aborted) writeHandled(root, { plan_hash: hash, again: !stands(news), ...told })
    return told
  }
  switch (step.kind) {
    case 'nothing':
      return handled?.plan_hash === hash ? handled : silent
    case 'same-as':
      return keep(await replayVerdict(review, hash, reviewed, step.revision, limit))
    case 'limit': {
      await recordLimit(root, step.revisions)
      const last = reviewed.at(-1)
      const wasReviewed = last !== undefined && sha256(last.plan) === hash
      const told =
        last === undefined
          ? emptyReview
          : { ...emptyReview, ...last.result, findings: last.findings, previous: last.previous }
      return keep({ kind: 'limit-reached', revision: step.revisions, wasReviewed, review: told })
    }
    case 'refused-input':
      return keep(
        step.why === 'not-utf8' ? { kind: 'not-utf8' } : { kind: 'too-long', bytes: step.bytes, limit: step.limit },
      )
    case 'checklist':
      if (step.newCycle) await endCycle(root, outdated)
      return keep({ kind: 'checklist', findings: step.findings })
    case 'review': {
      if (step.newCycle) await endCycle(root, outdated)
      const earlier = step.newCycle ? [] : reviewed
      const news = await reviewRevision(review, {
        bytes: read.bytes,
        text,
        hash,
        revision: step.revision,
        left: step.left,
        reviewed: earlier,
        lost: step.newCycle ? [] : lostRevisions(root, reviewed),
      })
      // What arrived meanwhile has not been dealt with; the hook that waits for it will.
      return news.kind === 'changed-during-review' ? toHookMessage(news) : keep(news)
    }
  }
}

/** A verdict stands until the text changes. All else may be otherwise the next time: the approval withdrawn, the path made. */
const stands = ({ kind }: PlanOutcome): boolean =>
  kind === 'changes-required' || kind === 'decision-needed' || kind === 'same-plan'

const outdated = 'docs/plan.md was changed after its approval'

const emptyReview = { summary: '', findings: [], previous: [], late: [], stuck: [] } as const

function toHookMessage(news: PlanOutcome): HookMessage {
  const { blocks, text } = formatForClaude(news, neutralise)
  return { kind: blocks ? 'block' : 'context', text, user: formatForUser(news, neutralise) }
}

/** Which revision it is, and how many more are reviewed after it. */
type Numbered = { readonly hash: string; readonly revision: number; readonly left: number }

/** What a recorded verdict comes to: an approval opens the gate here and nowhere else. */
async function applyVerdict(
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
async function replayVerdict(
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

/** The plan that Claude presents at the end of plan mode becomes docs/plan.md; a text that it replaces is not lost. */
function presentPlan(root: string, text: string): void {
  const bytes = Buffer.from(text.endsWith('\n') ? text : `${text}\n`)
  const there = readPlanBytes(root)
  if (there.kind === 'read' && there.bytes.equals(bytes)) return
  if (there.kind === 'read' && !isRevision(root, there.bytes)) saveFile(root, reviewPaths.replacedPlan, there.bytes)
  putFile(root, planPath, bytes, 0o644)
}

const isRevision = (root: string, bytes: Buffer): boolean =>
  listRevisions(root).some(({ revision }) => {
    const { snapshot } = readRevision(root, revision)
    return snapshot.kind === 'read' && snapshot.bytes.equals(bytes)
  })

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
async function reviewRevision(review: PlanReview, revision: Revision): Promise<PlanOutcome> {
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
  const now = readPlanBytes(root)
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

/** What the reviewer said, and what follows from it in the light of the reviews before. */
function mergeWithPreviousReview(
  outcome: ReviewOutcome & { kind: 'reviewed' },
  { text, hash, revision, reviewed, lost }: Revision,
): ReviewResult {
  const { result, lastId } = outcome
  const last = reviewed.at(-1)
  const isChecklist = [result, last?.result].every((each) => each?.pass_metadata?.route === 'checklist')
  const settled = reconcileFindings({
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
