import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanScope } from '../gate/scope.ts'
import { makeRedactor } from '../redact/redact.ts'
import { createReviewers, routeFacts } from '../reviewers/create.ts'
import { cancelledFailure } from '../reviewers/failure.ts'
import { cacheFolder } from '../reviewers/program-cache.ts'
import { cacheFacts, describeRoutes, type Route, type RouteTable } from '../reviewers/route-table.ts'
import {
  type Attempt,
  type AttemptBudget,
  exitCodeOf,
  mainFailure,
  type RouteOutcome,
  runRoutes,
} from '../reviewers/routes.ts'
import type {
  AnsweredFinding,
  BackendName,
  EarlierFinding,
  Failure,
  Finding,
  ReviewResult,
  Thread,
  ThreadAfter,
} from '../schemas/review.ts'
import { openPassTimes } from '../state/pass-times.ts'
import { userEnvironment } from '../system/environment.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { askPass } from './ask-pass.ts'
import { measureContent } from './complexity.ts'
import { isBlocking } from './findings.ts'
import { prepareMaterial } from './material.ts'
import { type PassAnswer, type PassesOutcome, type PassQuestion, runPasses } from './passes.ts'
import type { ReviewDependencies, ReviewOutcome, ReviewRequest, ReviewSettings } from './request.ts'
import {
  chooseModel,
  countQuestions,
  modelOf,
  openReaders,
  openSecond,
  rootFor,
  rowOf,
  singlePassReason,
  stoppable,
} from './rows.ts'
import { type SettledReview, settleAnswer } from './settle.ts'
import { type CountTokens, countTokensNear, openTokenizer } from './tokens.ts'

/**
 * A review of a plan, of code or of a document: answers at once what needs no reviewer; otherwise redacts secrets, asks
 * the reviewers of the route table in their order, and makes as many passes as the complexity requires.
 */
export async function reviewContent(
  request: ReviewRequest,
  { review, table, maxIterations }: ReviewSettings,
  effects: ReviewDependencies,
): Promise<ReviewOutcome> {
  const skipped = skipReview(request, review)
  if (skipped !== null) return { kind: 'reviewed', result: skipped, lastId: request.lastId, earlier: [] }

  const startedAt = effects.now()
  const timeLeftMs = (): number => startedAt + request.totalMs - effects.now()
  // A reader that was not waited for ends after the review, and then changes nothing of it.
  let isOver = false
  const during =
    <A extends readonly unknown[]>(act: (...args: A) => void) =>
    (...args: A): void => {
      if (!isOver) act(...args)
    }
  const live = { ...effects, onEvent: during(effects.onEvent), savePass: during(effects.savePass) }
  const saveThread = during(effects.saveThread)
  const notices = new Set<string>(table.notices)
  const notice = (text: string): void => {
    if (notices.has(text)) return
    notices.add(text)
    live.onEvent({ kind: 'notice', text })
  }
  const trace = (line: string): void => live.onEvent({ kind: 'trace', line })

  const unavailable = (exitCode: number, tokens: number, failure: Failure): ReviewOutcome => ({
    ...{ kind: 'unavailable', exitCode, tokens, notices: [...notices] },
    ...failure,
  })

  const prepared = prepareMaterial(request, review.sensitive_files, effects)
  // Nothing is sent or saved.
  if (prepared.kind === 'failed')
    return unavailable(2, 0, {
      failure: 'rejected',
      why: prepared.why,
      nextStep: prepared.nextStep,
      retryAfterMs: null,
    })
  const { earlier } = prepared.material
  const ended = endIterations(request.iteration, earlier, maxIterations)
  if (ended !== null) return { kind: 'reviewed', result: ended, lastId: request.lastId, earlier }

  for (const line of describeRoutes(table)) trace(line)
  for (const text of prepared.notices) notice(text)
  const measure = measureContent(request.type, prepared.material.content, effects.readChanges)
  // A thread that replaced another one stays for the rest of the review.
  let thread = request.thread
  let threadOf = request.threadOf

  const tag = effects.random()
  const spent = countQuestions()
  // Whoever of them was ended: what the others say is no review.
  let isCancelled = false
  const asker = (route: Route, budget: AttemptBudget, signal = effects.signal) => {
    const passTimeoutMs = route.timeoutMs ?? request.passTimeoutMs
    const root = rootFor(request, route, notice)
    const model = chooseModel(request.type, route, review.models)
    let last: ThreadAfter | null = null
    let timeouts = 0
    const ask = async (question: PassQuestion): Promise<PassAnswer> => {
      const answer = await askPass({
        ...{ question, tag, timeouts, model, root, route, budget, passTimeoutMs, timeLeftMs, notice },
        review,
        material: prepared.material,
        keepThread: (after) => {
          last = after
          thread = { kind: 'resume', id: after.id, used: after.used }
          threadOf = route.name
          saveThread(after, route.name)
        },
        count: spent.count,
        effects: { ...live, signal },
      })
      if (answer.kind === 'failed' && answer.failure === 'timeout') timeouts += 1
      isCancelled ||= effects.signal.aborted && answer.kind === 'failed' && answer.failure === 'cancelled'
      return answer
    }
    return { ask, root, model, passTimeoutMs, thread: (): ThreadAfter | null => last }
  }
  const facts = cacheFacts(effects.facts)

  const attempt = async (route: Route, budget: AttemptBudget): Promise<Attempt<Served>> => {
    const leading = stoppable(effects.signal)
    const lead = asker(route, budget, leading.signal)
    const readers = await openReaders(request, review, table, route, {
      ...{ facts, notice },
      open: (row, name, signal) => {
        const { ask } = asker(row, budget, signal)
        return async (question) => {
          const answer = await ask(question)
          trace(
            `[route-table] reader=${name}, result=${answer.kind === 'failed' ? `fail (${answer.failure})` : answer.kind === 'valid' ? 'success' : 'fail (malformed)'}`,
          )
          return answer
        }
      },
      expectedMs: (row) => effects.passTimes?.expect(row.name, 'high')?.ms ?? null,
      signal: effects.signal,
    })
    const isForeign = thread.kind === 'resume' && threadOf !== undefined && threadOf !== route.name
    const own: Thread = isForeign ? { kind: 'start' } : thread
    const outcome = await runPasses(
      {
        multipass: review.multipass,
        measure,
        single: singlePassReason(request, review, route, notice),
        thread: own,
        isUnderstood: request.iteration > 1 && own.kind === 'resume' && keepsThreads.includes(route.backend),
        hasSecondReader: request.type === 'plan' && request.iteration === 1 && review.readers === null,
        isDoubtful: (finding) => request.type === 'plan' && isDoubtful(finding, request.iteration),
        passTimeoutMs: lead.passTimeoutMs,
        name: route.name,
        beside: readers.length === 0 ? null : { readers, stopLead: leading.stop },
        second: await openSecond(review, table, route, { facts, notice, open: (row) => asker(row, budget).ask }),
      },
      {
        ask: lead.ask,
        countTokens: (text, near) => countTokensNear(text, near, effects.tokenizer),
        timeLeftMs,
        notice,
      },
    )
    for (const { stop } of [leading, ...readers]) stop()
    if (outcome.kind === 'failed') return { ...outcome, kind: 'failure' }
    const by = (outcome.by === undefined ? undefined : rowOf(outcome.by, table.routes)) ?? route
    if (outcome.by !== undefined) trace(`[route-table] reader=${route.name}, result=fail; ${outcome.by} leads`)
    // A new one for what follows: the one of the passes has been ended with its readers.
    const { ask, root, model } = asker(by, budget)
    const settled = await settleAnswer(
      { ...request, earlier, answer: outcome.answer, backend: by.backend, row: by.name },
      {
        askReader: (name) => {
          const row = rowOf(name, table.routes)
          return row === undefined ? null : asker(row, budget).ask
        },
        ask,
        notice,
        thread: () => (by === route ? lead.thread() : null),
        hasTime: () => timeLeftMs() >= minQuestionMs && !effects.signal.aborted,
      },
    )
    if (isCancelled) return { kind: 'failure', ...cancelledFailure }
    return { kind: 'success', value: { outcome, settled, root, model, route: by.name } }
  }

  const routed = await runRoutes(table, {
    facts: effects.facts,
    attempt,
    timeLeftMs,
    maxAttempts: review.policy.max_attempts,
    trace,
    isCancelled: () => effects.signal.aborted,
  })
  isOver = true
  if (routed.kind === 'unserved') return unavailable(exitCodeOf(routed), spent.known(), mainFailure(routed))
  const { value } = routed
  const insteadOf = replacedReviewers(routed, table, effects.facts.flatlineRouting)
  const result = resultOf(value, request, earlier, insteadOf, {
    total_duration_ms: Math.round(effects.now() - startedAt),
    route: value.route,
    model: value.model,
    readers: (value.outcome.readers ?? []).map((reader) => ({
      ...reader,
      model: modelOf(reader.name, request.type, table.routes, review.models),
    })),
    ...spent.total(),
  })
  return {
    kind: 'reviewed',
    result: { ...result, notices: [...notices, ...(result.notices ?? [])] },
    lastId: value.settled.lastId,
    earlier,
  }
}

/**
 * What would hold a plan up by surprise, and costs a round if it is false: in the first round all that blocks, then a new
 * critical finding. Later the end is near anyway.
 */
const isDoubtful = ({ id, severity }: AnsweredFinding, iteration: number): boolean =>
  iteration === 1 ? isBlocking({ severity }) : iteration <= 3 && severity === 'critical' && id === null

/** Their threads hold what was understood in the round before. */
const keepsThreads: readonly BackendName[] = ['codex', 'claude']

/** With less time a short question would be cut off. */
const minQuestionMs = 20_000

/**
 * The reviewers before this one that could not answer, where nobody named this one: the built-in table falls through to
 * one that sees less.
 */
function replacedReviewers(
  { failures, skipped }: Extract<RouteOutcome<Served>, { kind: 'served' }>,
  { origin }: RouteTable,
  usesHounfour: boolean,
): readonly string[] {
  if (origin === 'config') return []
  return [...skipped.filter(({ name }) => name !== 'hounfour' || usesHounfour), ...failures].map(
    ({ name, why }) => `${name}: ${why}`,
  )
}

type Served = {
  readonly outcome: PassesOutcome & { kind: 'answered' }
  readonly settled: SettledReview
  readonly root: string | null
  readonly model: string | null
  readonly route: string
}

type Spent = ReturnType<ReturnType<typeof countQuestions>['total']> & {
  readonly total_duration_ms: number
  readonly route: string
  readonly model: string | null
  readonly readers: NonNullable<NonNullable<ReviewResult['pass_metadata']>['readers']>
}

function resultOf(
  { outcome, settled, root }: Served,
  request: ReviewRequest,
  earlier: readonly Finding[],
  insteadOf: readonly string[],
  { readers, ...spent }: Spent,
): ReviewResult {
  const { answer, verification, complexity, tokens, mode } = outcome
  const isUnnamed = request.type === 'plan' && insteadOf.length > 0
  const isOnlyItsOwn = isUnnamed && settled.verdict === 'APPROVED'
  const verdict = isOnlyItsOwn ? 'DECISION_NEEDED' : settled.verdict
  const { findings, previous } = isUnnamed ? withOpen(settled, earlier) : settled
  return {
    verdict,
    is_optimal: verdict === 'APPROVED',
    summary: settled.summary ?? answer.summary,
    question: isOnlyItsOwn ? questionFor(spent, insteadOf, root !== null) : settled.question,
    findings,
    previous_findings: previous,
    verification,
    iteration: request.iteration,
    notices: settled.notices,
    ...(settled.late.length === 0 ? {} : { late: settled.late }),
    pass_metadata: {
      passes_completed: tokens.length,
      pass1_tokens: tokens[0] ?? null,
      pass2_tokens: tokens[1] ?? null,
      pass3_tokens: tokens[2] ?? null,
      reasoning_mode: mode,
      complexity,
      repository: root !== null,
      ...(readers.length === 0 ? spent : { ...spent, readers }),
      ...(insteadOf.length === 0 ? {} : { instead_of: insteadOf }),
    },
  }
}

/** What a named reviewer holds against the plan is closed by a named one. */
function withOpen({ findings, previous }: SettledReview, earlier: readonly Finding[]) {
  const open = earlier.filter(({ id, severity }) => isBlocking({ severity }) && !findings.some((one) => one.id === id))
  const isOpen = ({ id }: EarlierFinding): boolean => open.some((finding) => finding.id === id)
  const reason = 'Only a reviewer that you have named can close it.'
  return {
    findings: [...findings, ...open],
    previous: previous.map((entry) => (isOpen(entry) ? { ...entry, status: 'not_fixed' as const, reason } : entry)),
  }
}

const questionFor = (
  { route, model }: Pick<Spent, 'route' | 'model'>,
  insteadOf: readonly string[],
  sawRepository: boolean,
): string =>
  [
    `${model === null ? route : `${route} (${model})`} approves the plan, and was asked only because another reviewer could not answer (${insteadOf.join('; ')}).`,
    sawRepository ? 'It could read the repository.' : 'It saw only the plan, and no file of the repository.',
    'Do you approve the plan on this, or is it to be reviewed again when the other one answers?',
  ].join(' ')

function skipReview({ type, iteration }: ReviewRequest, review: EffectiveConfig['review']): ReviewResult | null {
  const phase = type === 'code' ? 'implementation' : type
  if (review.enabled && review.phases[phase]) return null
  const why = review.enabled
    ? `This kind of review is switched off (review.phases.${phase} in plan-gate.yaml).`
    : 'Reviews are switched off (review.enabled in plan-gate.yaml).'
  return { verdict: 'SKIPPED', summary: why, ...noFindings, iteration }
}

/** Past the limit the user decides, and no reviewer can approve. */
function endIterations(
  iteration: number,
  earlier: readonly Finding[],
  maxIterations: number | null,
): ReviewResult | null {
  if (maxIterations === null || iteration <= maxIterations) return null
  const points = earlier.map(({ id, severity, section, problem }) => `${id} (${severity}, ${section}): ${problem}`)
  return {
    verdict: 'DECISION_NEEDED',
    summary: `Iteration ${iteration} is past review.max_iterations (${maxIterations}), so no reviewer was asked.`,
    ...noFindings,
    iteration,
    question:
      points.length === 0
        ? 'Which points are still open is not known here: hand over the last result with --previous. Accept it as it is, or change it yourself?'
        : `These points are still open. Accept them, or resolve them yourself?\n${points.map((point) => `- ${point}`).join('\n')}`,
    findings: earlier,
  }
}

const noFindings = {
  is_optimal: false,
  question: null,
  findings: [],
  previous_findings: [],
  verification: null,
  notices: [],
} as const

export type ReviewSetup = {
  readonly config: EffectiveConfig
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly loadTokenizer: Parameters<typeof openTokenizer>[0]
}

/** The dependencies that all reviews share; the caller adds what is done with events, passes and threads. */
export function createReviewDependencies({
  config,
  root,
  env,
  signal,
  loadTokenizer,
}: ReviewSetup): Omit<ReviewDependencies, 'onEvent' | 'savePass' | 'saveThread'> {
  const redactor = makeRedactor(config.review.redaction.patterns)
  let opened: Promise<CountTokens> | undefined
  return {
    reviewers: createReviewers(config, root, env),
    facts: routeFacts(config, env, root),
    redact: redactor.text,
    tokenizer: () => {
      opened ??= openTokenizer(loadTokenizer)
      return opened
    },
    readChanges: readPlanScope,
    now: () => performance.now(),
    sleep: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
    random: () => randomBytes(6).toString('hex'),
    passTimes: openPassTimes(readGitDirs(root)?.own ?? null, cacheFolder(userEnvironment(env))),
    signal,
  }
}
