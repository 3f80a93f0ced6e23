import { gateConfig } from '../config/compiled-config.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { approvedHash } from '../gate/plan-state.ts'
import { readWorkingTree, rebaseline } from '../gate/working-tree.ts'
import { describeReviewer, isBlocking, otherReaders } from '../review/findings.ts'
import type { ReviewOutcome } from '../review/request.ts'
import { checkPlan } from '../reviewers/checklist/plan.ts'
import { checklistSetup } from '../reviewers/create.ts'
import type { Finding, ReviewResult } from '../schemas/review.ts'
import { readApproval, readPlanBytes, writeApproval } from '../state/approval.ts'
import { endCycle, withLock } from '../state/cycles.ts'
import {
  assertRegularOrAbsent,
  ensureReviewDir,
  putFile,
  StoreError,
  saveFile,
  throwIfUnreadable,
} from '../state/files.ts'
import { appendEvent, ledgerProblem } from '../state/ledger.ts'
import { planPath, reviewPaths } from '../state/own-paths.ts'
import type { Expected } from '../state/pass-times.ts'
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
import { annotatePlan } from './annotate.ts'
import { askReviewer, contestedIn, measurePlan, readReplies } from './ask-reviewer.ts'
import { findStuck } from './findings.ts'
import {
  formatForClaude,
  formatForUser,
  interrupted,
  type PlanOutcome,
  type ReviewSummary,
  unavailable,
} from './messages.ts'
import { decideNextStep, findAnswer } from './next-step.ts'
import { notifyUser } from './notify.ts'
import { changedAfterApproval, readHandled, writeHandled } from './plan-change.ts'
import {
  amendedRevision,
  findMismatches,
  lostRevisions,
  type ReviewedRevision,
  type RevisionLimit,
  readRevisionLimit,
  readSpentTokens,
  recordedThread,
  recordLimit,
  reviewedRevisions,
  type SpentTokens,
  tokensOf,
} from './revisions.ts'
import type { HookMessage } from './sync-approval.ts'
import { isHeldByUser, pendingFindings, readWaivers, type Waiver } from './user-decisions.ts'

/** For the work before and after the review. The timeout of the hook itself is another margin above. */
const marginMs = 20_000

/** With less than this left after waiting for another review, there is no time for one. */
const minReviewMs = 30_000

/**
 * Reviews the plan and answers the hook. One review at a time: a second hook waits for the lock, and then finds that
 * these bytes were answered meanwhile, or reviews them. Any failure leaves the gate closed and is reported.
 */
export async function reviewPlan(
  root: string,
  extendDeadline: (ms: number) => void,
  /** The text of plan mode, which first becomes docs/plan.md; null: docs/plan.md as it is. */
  presented: string | null = null,
): Promise<HookMessage> {
  const { config, problems } = await gateConfig(root)
  const totalMs = config.plan.deadline_seconds * 1000
  const deadlineAt = performance.now() + totalMs
  extendDeadline(totalMs + marginMs)
  const stop = abortOnSignals()
  let hasBegun = false
  try {
    const work = (lost: AbortSignal): Promise<HookMessage> => {
      hasBegun = true
      const signal = AbortSignal.any([lost, stop.signal])
      return reviewLockedPlan({ root, config, problems, deadlineAt, signal, lost }, presented)
    }
    const held = withLock(root, work, { waitMs: Math.max(6_000, totalMs - minReviewMs) })
    // A hook that only waits for the lock can end at once.
    await Promise.race([held, stop.asked])
    if (stop.signal.aborted && !hasBegun) return toHookMessage(interrupted)
    const ended = await held
    return ended.kind === 'done' ? ended.value : toHookMessage(anotherReviewRuns)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return toHookMessage(unavailable('not-recorded', error.message, error.next))
  } finally {
    stop.end()
  }
}

const anotherReviewRuns = unavailable(
  'timeout',
  'Another review of the plan was running the whole time.',
  'When that one has ended (`plan-gate status`), save docs/plan.md again.',
)

export type PlanReview = {
  readonly root: string
  readonly config: EffectiveConfig
  readonly problems: readonly string[]
  readonly deadlineAt: number
  /** Aborted when the session ends, and with `lost`. */
  readonly signal: AbortSignal
  /** Aborted when another process has taken the lock over: nothing may be written any more. */
  readonly lost: AbortSignal
}

const replaceLedger =
  'The user runs `plan-gate install` (it keeps the file, and carries over what they decided). Then save docs/plan.md again.'

const silent: HookMessage = { kind: 'silence', text: '', user: null }

async function reviewLockedPlan(review: PlanReview, presented: string | null): Promise<HookMessage> {
  const { root, config } = review
  if (presented !== null) writePresentedPlan(root, presented)
  const read = readPlanBytes(root)
  if (read.kind !== 'read') return silent
  // A decision of the user may be missing in it.
  const damage = ledgerProblem(root)
  if (damage !== null) return toHookMessage(unavailable('not-recorded', `${damage}.`, replaceLedger))
  const hash = sha256(read.bytes)
  const handled = readHandled(root)
  const approval = readApproval(root)
  throwIfUnreadable(reviewPaths.approval, approval)
  const approved = approvedHash(approval)
  // While this hook waited for the lock, another one may have answered these bytes.
  const found = findAnswer({
    planHash: hash,
    approvedHash: approved,
    last: () => handled,
    counter: () => readCounter(root).value,
    wrotePlan: true,
  })
  if (found.kind === 'repeat') return found.answer
  if (found.kind === 'not-needed') return handled?.plan_hash === hash ? handled : silent
  const limit = readRevisionLimit(root, config.plan.max_revisions)
  const mismatches = findMismatches(root).map(({ why }) => `plan-gate: ${why}, which counts.`)
  // A crash came between a result and its number, or the counter was set back by hand.
  if (readCounter(root).value < limit.revisions) writeCounter(root, limit.revisions)
  const reviewed = reviewedRevisions(root)
  const text = read.bytes.toString('utf8')
  const { plan } = readReplies(text)
  const spent = readSpentTokens(root, reviewed, config.plan.cycle_tokens ?? null)
  const isHeld = isHeldByUser(root, pendingFindings(root, reviewed))
  const step = decideNextStep({
    hash,
    approvedHash: approved,
    // An approval counts again only while the user has neither asked for changes nor taken a waiver back since.
    reviewed: reviewed
      .filter(({ verdict, findings }) => verdict !== 'APPROVED' || !(isHeld || findings.some(isBlocking)))
      .map(({ revision, plan, verdict }) => ({ revision, planHash: sha256(plan), verdict })),
    counter: limit.revisions,
    maxRevisions: config.plan.max_revisions,
    continued: limit.limit - config.plan.max_revisions,
    tooLong: await measurePlan(root, text, config.plan.max_tokens),
    isSpent: spent !== null,
    isUtf8: () => Buffer.from(text, 'utf8').equals(read.bytes),
    // Minor checklist findings do not block the review.
    checklist: () =>
      checkPlan(plan, checklistSetup(config, root))
        .filter(isBlocking)
        .map((finding, index) => ({ ...finding, id: `C${index + 1}` })),
  })
  const remember = (outcome: PlanOutcome): HookMessage => {
    const said = toHookMessage(outcome)
    const message = { ...said, text: [...mismatches, said.text].join('\n') }
    if (!review.lost.aborted)
      writeHandled(root, { plan_hash: hash, again: !isFinal(outcome), outcome: outcome.kind, ...message })
    return message
  }
  switch (step.kind) {
    case 'same-as':
      return remember(
        await replayVerdict(review, reviewed, { hash, revision: step.revision, left: leftOf(limit), spent }),
      )
    case 'limit': {
      const last = reviewed.at(-1)
      const wasReviewed = last !== undefined && sha256(last.plan) === hash
      const summary = toReviewSummary(last?.result ?? { summary: '', findings: [] })
      return remember(await limitReached(root, step.revisions, wasReviewed, summary, spent))
    }
    case 'refused-input':
      return remember(step.why === 'not-utf8' ? { kind: 'not-utf8' } : { ...step, kind: 'too-long' })
    case 'checklist':
      if (step.newCycle) await endCycle(root, changedAfterApproval)
      return remember({ kind: 'checklist', findings: step.findings })
    case 'review': {
      if (step.newCycle) await endCycle(root, changedAfterApproval)
      const earlier = step.newCycle ? [] : reviewed
      const outcome = await reviewRevision(review, {
        bytes: read.bytes,
        text,
        hash,
        revision: step.revision,
        left: step.left,
        reviewed: earlier,
        amended: amendedRevision(root),
        waivers: readWaivers(root),
        users: pendingFindings(root, earlier),
        lost: step.newCycle ? [] : lostRevisions(root, reviewed),
      })
      // The bytes that are there now have no answer yet; the hook that waits for the lock gives it.
      const message = outcome.kind === 'changed-during-review' ? toHookMessage(outcome) : remember(outcome)
      const problem = await notifyUser(config.plan.notify, root, outcome)
      return problem === null ? message : { ...message, user: `${message.user} ${problem}` }
    }
  }
}

const leftOf = ({ limit, revisions }: RevisionLimit): number => Math.max(0, limit - revisions)

/** A verdict holds until the text changes. Everything else may be different the next time. */
const isFinal = ({ kind }: PlanOutcome): boolean =>
  kind === 'changes-required' || kind === 'decision-needed' || kind === 'same-plan'

function toHookMessage(outcome: PlanOutcome): HookMessage {
  const { blocks, text } = formatForClaude(outcome)
  return { kind: blocks ? 'block' : 'context', text, user: formatForUser(outcome) }
}

function costOf({ pass_metadata: spent }: ReviewResult): Expected | null {
  if (spent === undefined) return null
  const { input_tokens: input = null, output_tokens: output = null } = spent
  return { ms: spent.total_duration_ms, tokens: input === null || output === null ? null : input + output }
}

/** `left`: how many more revisions are reviewed after it. */
type RevisionNumber = {
  readonly hash: string
  readonly revision: number
  readonly left: number
  readonly spent: SpentTokens
}

/** Applies a recorded verdict. This is the only place where a review opens the gate. */
async function applyVerdict(
  review: PlanReview,
  result: ReviewResult,
  { hash, revision, left, spent }: RevisionNumber,
): Promise<PlanOutcome> {
  const summary = toReviewSummary(result)
  switch (result.verdict) {
    case 'APPROVED':
      if (review.signal.aborted) return interrupted
      await approve(review.root, result, hash, revision)
      return { kind: 'approved', revision, review: summary, ...reviewedBy(result) }
    case 'CHANGES_REQUIRED':
      if (left > 0 && spent === null)
        return { kind: 'changes-required', revision, left, review: summary, next: costOf(result) }
      return limitReached(review.root, revision, true, summary, spent)
    case 'DECISION_NEEDED':
      if (left === 0 || spent !== null) {
        const text = [summary.summary, result.question ?? ''].filter((part) => part !== '').join('\n')
        return limitReached(review.root, revision, true, { ...summary, summary: text }, spent)
      }
      return { kind: 'decision-needed', revision, question: result.question ?? null, review: summary }
    case 'SKIPPED':
      return { kind: 'skipped', why: result.summary }
  }
}

async function limitReached(
  root: string,
  revision: number,
  wasReviewed: boolean,
  review: ReviewSummary,
  spent: SpentTokens,
): Promise<PlanOutcome> {
  await recordLimit(root, revision)
  return { kind: 'limit-reached', revision, wasReviewed, review, spent }
}

const looked = ({ pass_metadata: passes, verification }: ReviewResult) => ({
  route: passes?.route ?? 'unknown',
  model: passes?.model ?? null,
  verification: verification ?? null,
  ...(passes === undefined ? {} : { passes: passes.passes_completed }),
  ...(passes?.repository === undefined ? {} : { repository: passes.repository }),
  ...(passes?.readers === undefined ? {} : { readers: otherReaders(passes) }),
})

const reviewedBy = (result: ReviewResult) => ({ by: describeReviewer(looked(result)), notices: result.notices ?? [] })

async function approve(root: string, result: ReviewResult, hash: string, revision: number): Promise<void> {
  const gitDirs = readGitDirs(root)
  // The baseline that the implementation is compared with.
  if (gitDirs !== null) rebaseline(gitDirs.own, readWorkingTree(root, gitDirs))
  const thread = readThread(root)
  const { route, verification, ...more } = looked(result)
  const waived = readWaivers(root).map(({ id, severity, reason }) => ({ id, severity, reason }))
  await appendEvent(root, { type: 'approved', revision, plan_hash: hash, route, verification })
  writeApproval(root, {
    is_optimal: true,
    plan_hash: hash,
    review_version: revision,
    approved_at: new Date().toISOString(),
    codex_thread_id: thread.kind === 'known' && recordedThread(root)?.route === route ? thread.id : null,
    verification,
    route,
    ...more,
    ...(waived.length === 0 ? {} : { waived }),
  })
}

/** The same bytes as a reviewed revision get the same verdict; an approval that a crash kept from being written is written. */
async function replayVerdict(
  review: PlanReview,
  reviewed: readonly ReviewedRevision[],
  same: RevisionNumber,
): Promise<PlanOutcome> {
  const { revision } = same
  const known = reviewed.find((each) => each.revision === revision)
  if (known === undefined) throw new Error(`revision ${revision} is not there`)
  const { verdict, result } = known
  if (verdict === 'APPROVED' || revision === reviewed.at(-1)?.revision) return applyVerdict(review, result, same)
  return { kind: 'same-plan', revision, verdict, question: result.question ?? null, review: toReviewSummary(result) }
}

type Summarised = Pick<ReviewResult, 'summary' | 'findings' | 'previous_findings' | 'late' | 'stuck'>

const toReviewSummary = (result: Summarised): ReviewSummary => ({
  summary: result.summary,
  findings: result.findings,
  previous: result.previous_findings ?? [],
  late: result.late ?? [],
  stuck: result.stuck ?? [],
})

/** The plan that Claude presents at the end of plan mode becomes docs/plan.md; the text that it replaces is kept. */
function writePresentedPlan(root: string, text: string): void {
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
  readonly left: number
  readonly reviewed: readonly ReviewedRevision[]
  /** The review that approved the text that this cycle amends. */
  readonly amended: ReviewedRevision | null
  readonly waivers: readonly Waiver[]
  /** What the user has written, and no review has answered. */
  readonly users: readonly Finding[]
  /** The numbers of those whose result cannot be read. */
  readonly lost: readonly number[]
}

/** One revision, from its bytes to the outcome. Only a verdict counts it, and only an approval of these bytes opens the gate. */
async function reviewRevision(review: PlanReview, revision: Revision): Promise<PlanOutcome> {
  const { root } = review
  refuseUnwritableFiles(root)
  saveSnapshot(root, revision.revision, revision.bytes)
  await appendEvent(root, { type: 'revision-submitted', revision: revision.revision, plan_hash: revision.hash })
  const outcome = await askReviewer(review, revision)
  const recordNone = (failure: string, why: string, more: object = {}): Promise<unknown> =>
    appendEvent(root, { type: 'review-unavailable', plan_hash: revision.hash, failure, why, ...more })
  if (outcome.kind === 'unavailable') {
    const { failure, why, nextStep } = outcome
    const tokens = 'tokens' in outcome ? outcome.tokens : 0
    await recordNone(failure, why, { next_step: nextStep, tokens })
    return unavailable(failure, why, nextStep)
  }
  if (outcome.result.verdict === 'SKIPPED') {
    const why = outcome.result.summary
    await recordNone('skipped', why)
    return { kind: 'skipped', why }
  }
  // Whatever the verdict: the session has ended, or another process holds the lock and decides.
  if (review.signal.aborted) return interrupted
  const now = readPlanBytes(root)
  if (now.kind !== 'read' || sha256(now.bytes) !== revision.hash) {
    await recordNone('outdated', 'The plan changed while it was under review.')
    return { kind: 'changed-during-review' }
  }
  const result = completeResult(outcome, revision)
  const { instead_of: failed = [] } = result.pass_metadata ?? {}
  // Said, and not recorded as a verdict: the same bytes go to the first reviewer again.
  if (failed.length > 0 && result.verdict === 'DECISION_NEEDED') {
    const by = reviewedBy(result)
    const why = `${failed.join('; ')}; and ${by.by}, which was asked instead, is not named in plan-gate.yaml.`
    await recordNone('not-named', why, { tokens: tokensOf(result) })
    annotate(root, result, revision)
    const { question = null } = result
    return { kind: 'not-named', revision: revision.revision, question, review: toReviewSummary(result), ...by }
  }
  await record(root, result, revision)
  const reviewed = [...revision.reviewed, { result }]
  const spent = readSpentTokens(root, reviewed, review.config.plan.cycle_tokens ?? null)
  return applyVerdict(review, result, { ...revision, spent })
}

/** Before the review is paid for: the files that must be written at the end. */
function refuseUnwritableFiles(root: string): void {
  const { approval, thread, threadUse, counter, handled, progress, passes } = reviewPaths
  for (const path of [approval, thread, threadUse, counter, handled, progress]) assertRegularOrAbsent(root, path)
  ensureReviewDir(root, passes)
}

/** The result before the ledger: a result that the ledger does not know is reviewed again, and an approval is written last. */
async function record(root: string, result: ReviewResult, plan: Revision): Promise<void> {
  const { hash, revision } = plan
  const { verdict, findings } = result
  const backend = result.pass_metadata?.route ?? 'unknown'
  annotate(root, result, plan)
  saveResult(root, revision, result)
  await appendEvent(root, { type: 'reviewed', revision, plan_hash: hash, verdict, backend, findings: findings.length })
  writeCounter(root, revision)
}

const annotate = (root: string, result: ReviewResult, { text, revision }: Revision): void =>
  saveAnnotated(root, revision, annotatePlan(text, { ...result, revision, date: new Date().toISOString() }))

function completeResult({ result, lastId }: ReviewOutcome & { kind: 'reviewed' }, plan: Revision): ReviewResult {
  const { text, hash, revision, reviewed, lost } = plan
  const { verdict, findings, previous_findings: previous = [], notices = [] } = result
  const history = [...reviewed, { revision, plan: text, verdict, findings, previous }]
  return {
    ...result,
    iteration: revision,
    notices: [...notices, ...lost.map(lostNotice)],
    plan_hash: hash,
    last_id: lastId,
    late: result.late ?? [],
    stuck: [...findStuck(history), ...stillContested(plan, findings)],
  }
}

/** A fresh reader has looked at them, too. Both sides, for the user. */
function stillContested(plan: Revision, findings: readonly Finding[]): readonly string[] {
  const { contested } = readReplies(plan.text)
  const open = findings.filter(isBlocking)
  return contestedIn(plan, open).map((id) => {
    const problem = open.find((finding) => finding.id === id)?.problem ?? ''
    return `${id} was contested twice and is kept open. The reviewer: ${problem} The author: ${contested.get(id)}`
  })
}

const lostNotice = (revision: number): string =>
  `The result of revision ${revision} cannot be read or is not what the ledger says, so what was found then was not asked about.`
