import { checkPlan } from '../backends/checklist/check-plan.ts'
import { planPath } from '../gate/place-of.ts'
import { decideNextStep } from '../plan/decide-next-step.ts'
import { isBlocking } from '../plan/is-blocking.ts'
import type { PlanOutcome } from '../plan/plan-news.ts'
import { formatForClaude } from '../plan/tell-claude.ts'
import { formatForUser } from '../plan/tell-user.ts'
import { neutralise } from '../safety/neutralise.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { endCycle } from '../store/end-cycle.ts'
import { readHandled, readStanding, writeHandled } from '../store/handled-plan.ts'
import { readApproval } from '../store/read-approval.ts'
import { readRegular } from '../store/read-regular.ts'
import { throwIfUnreadable } from '../store/refuse-unread.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { sha256 } from '../store/sha256.ts'
import { StoreError } from '../store/store-error.ts'
import { readCounter, writeCounter } from '../store/version-counter.ts'
import { withLock } from '../store/with-lock.ts'
import { gateConfig } from './gate-config.ts'
import { interrupted } from './interrupted.ts'
import { replayVerdict } from './news-of-revision.ts'
import { presentPlan } from './present-plan.ts'
import { readRevisionLimit } from './read-revision-limit.ts'
import { recordLimit } from './record-limit.ts'
import { checklistSetup } from './review-backends.ts'
import type { HookMessage } from './review-if-changed.ts'
import { reviewRevision } from './review-revision.ts'
import { lostRevisions, reviewedRevisions } from './reviewed-revisions.ts'
import { abortOnSignals } from './stop-on-signals.ts'

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
  const read = readRegular(root, planPath, 64 * 1024 * 1024)
  throwIfUnreadable(planPath, read)
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
      if (step.newCycle) await endCycle(root, { why: outdated })
      return keep({ kind: 'checklist', findings: step.findings })
    case 'review': {
      if (step.newCycle) await endCycle(root, { why: outdated })
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
