import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanScope } from '../gate/scope.ts'
import { makeRedactor } from '../redact/redact.ts'
import { withholdFromDiff } from '../redact/sensitive-files.ts'
import { cacheFolder } from '../reviewers/program-cache.ts'
import { createReviewers, routeFacts } from '../reviewers/create.ts'
import type { AttemptBudget } from '../reviewers/retry.ts'
import { describeRoutes, type Route, type RouteTable } from '../reviewers/route-table.ts'
import { type Attempt, exitCodeOf, mainFailure, type RouteOutcome, runRoutes } from '../reviewers/routes.ts'
import type {
  AnsweredFinding,
  EarlierFinding,
  Finding,
  ReviewResult,
  ReviewType,
  ThreadAfter,
  Usage,
} from '../schemas/review.ts'
import { openPassTimes } from '../state/pass-times.ts'
import { userEnvironment } from '../system/environment.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { diffLines, type LineDiff } from '../text/line-diff.ts'
import { measureContent } from './complexity.ts'
import { isBlocking } from './findings.ts'
import { askPass, type PassesOutcome, type PassQuestion, runPasses } from './passes.ts'
import type { Material, ReviewDependencies, ReviewOutcome, ReviewRequest, ReviewSettings } from './request.ts'
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
  const notices = new Set<string>(table.notices)
  const notice = (text: string): void => {
    if (notices.has(text)) return
    notices.add(text)
    effects.onEvent({ kind: 'notice', text })
  }
  const trace = (line: string): void => effects.onEvent({ kind: 'trace', line })

  const prepared = prepareMaterial(request, review.sensitive_files, effects)
  if (prepared.kind === 'failed') return unavailable(prepared, notices)
  const { earlier } = prepared.material
  const ended = endIterations({ iteration: request.iteration, earlier }, maxIterations)
  if (ended !== null) return { kind: 'reviewed', result: ended, lastId: request.lastId, earlier }

  for (const line of describeRoutes(table)) trace(line)
  for (const text of prepared.notices) notice(text)
  const measure = measureContent(request.type, prepared.material.content, effects.readChanges)
  // A thread that replaced another one stays for the rest of the review.
  let thread = request.thread

  const tag = effects.random()
  const spent = countQuestions()
  const attempt = async (route: Route, budget: AttemptBudget): Promise<Attempt<Served>> => {
    const passTimeoutMs = route.timeoutMs ?? request.passTimeoutMs
    const root = rootFor(request, route, notice)
    let last: ThreadAfter | null = null
    let timeouts = 0
    const ask = async (question: PassQuestion) => {
      const answer = await askPass({
        question,
        effort: review.effort,
        tag,
        timeouts,
        material: prepared.material,
        model: chooseModel(request.type, route, review.models),
        root,
        budgets: review.multipass.budgets,
        sensitiveFiles: review.sensitive_files,
        route,
        budget,
        passTimeoutMs,
        timeLeftMs,
        notice,
        keepThread: (after) => {
          last = after
          thread = { kind: 'resume', id: after.id, used: after.used }
          effects.saveThread(after)
        },
        count: spent.count,
        effects,
      })
      if (answer.kind === 'failed' && answer.failure === 'timeout') timeouts += 1
      return answer
    }
    const outcome = await runPasses(
      {
        multipass: review.multipass,
        measure,
        single: singlePassReason(request, review, route, notice),
        thread,
        isUnderstood: request.iteration > 1 && thread.kind === 'resume' && route.backend === 'codex',
        hasSecondReader: request.type === 'plan' && request.iteration === 1,
        isDoubtful: (finding) => request.type === 'plan' && isDoubtful(finding, request.iteration),
        passTimeoutMs,
      },
      { ask, countTokens: (text, near) => countTokensNear(text, near, effects.tokenizer), timeLeftMs, notice },
    )
    if (outcome.kind === 'failed') return { ...outcome, kind: 'failure' }
    const settled = await settleAnswer(
      { ...request, earlier, answer: outcome.answer, backend: route.backend },
      { ask, notice, thread: () => last, hasTime: () => timeLeftMs() >= minQuestionMs && !effects.signal.aborted },
    )
    return { kind: 'success', value: { outcome, settled, root } }
  }

  const routed = await runRoutes(table, {
    facts: effects.facts,
    attempt,
    timeLeftMs,
    maxAttempts: review.policy.max_attempts,
    trace,
    isCancelled: () => effects.signal.aborted,
  })
  if (routed.kind === 'unserved')
    return {
      kind: 'unavailable',
      exitCode: exitCodeOf(routed),
      notices: [...notices],
      tokens: spent.known(),
      ...mainFailure(routed),
    }
  const { value, route } = routed
  const insteadOf = replacedReviewers(routed, table, effects.facts.flatlineRouting)
  const result = resultOf(value, request, earlier, insteadOf, {
    total_duration_ms: Math.round(effects.now() - startedAt),
    route: route.name,
    model: chooseModel(request.type, route, review.models),
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

/** Sums up all questions of a review. */
function countQuestions() {
  const sum = { calls: 0, failed_calls: 0, malformed_calls: 0 }
  const usages: (Usage | null)[] = []
  // One turn whose tokens are not known makes the sum unknown.
  const all = (tokens: keyof Usage): number | null =>
    usages.reduce<number | null>((total, usage) => (total === null || usage === null ? null : total + usage[tokens]), 0)
  return {
    count: (question: Usage | null | 'failed' | 'malformed'): void => {
      sum.calls += Number(question !== 'malformed')
      if (question === 'failed' || question === 'malformed') sum[`${question}_calls`] += 1
      else usages.push(question)
    },
    known: (): number => usages.reduce((total, usage) => total + (usage === null ? 0 : usage.input + usage.output), 0),
    total: () => ({
      ...sum,
      input_tokens: all('input'),
      cached_input_tokens: all('cached'),
      output_tokens: all('output'),
    }),
  }
}

/** Why a review by this row has a single pass; null for several passes. */
function singlePassReason(
  { fast }: ReviewRequest,
  review: ReviewSettings['review'],
  { name, capabilities }: Route,
  notice: (text: string) => void,
): string | null {
  if (fast || review.fast) return 'asked for with --fast or review.fast'
  if (review.reasoning_mode === 'single-pass') return 'review.reasoning_mode is single-pass'
  if (capabilities.includes('multi_pass')) return null
  notice(`The row for ${name} lacks the capability multi_pass, so there is a single pass.`)
  return `${name} lacks the capability multi_pass`
}

/** The folder that the reviewer may read; null for one without tools. */
function rootFor(
  { root }: ReviewRequest,
  { name, backend, capabilities }: Route,
  notice: (text: string) => void,
): string | null {
  if (root === null || capabilities.includes('tool_access')) return root
  // The checklist reads the worktree without tools.
  if (backend !== 'checklist')
    notice(`The row for ${name} lacks the capability tool_access, so the reviewer sees only what it is sent.`)
  return null
}

type Served = {
  readonly outcome: PassesOutcome & { kind: 'answered' }
  readonly settled: SettledReview
  readonly root: string | null
}

type Spent = ReturnType<ReturnType<typeof countQuestions>['total']> & {
  readonly total_duration_ms: number
  readonly route: string
  readonly model: string | null
}

function resultOf(
  { outcome, settled, root }: Served,
  request: ReviewRequest,
  earlier: readonly Finding[],
  insteadOf: readonly string[],
  spent: Spent,
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
      ...spent,
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

/** What was and was not looked at. */
const questionFor = ({ route, model }: Spent, insteadOf: readonly string[], sawRepository: boolean): string =>
  [
    `${model === null ? route : `${route} (${model})`} approves the plan, and was asked only because another reviewer could not answer (${insteadOf.join('; ')}).`,
    sawRepository ? 'It could read the repository.' : 'It saw the plan alone, and no file of the repository.',
    'Do you approve the plan on this, or is it to be reviewed again when the other one answers?',
  ].join(' ')

/** Nothing is sent or saved. */
const unavailable = (
  { why, nextStep }: { readonly why: string; readonly nextStep: string },
  notices: ReadonlySet<string>,
): ReviewOutcome => ({
  kind: 'unavailable',
  exitCode: 2,
  notices: [...notices],
  tokens: 0,
  failure: 'rejected',
  why,
  nextStep,
  retryAfterMs: null,
})

/** The result of a review that is switched off; null otherwise. */
function skipReview(
  { type, iteration }: { readonly type: ReviewType; readonly iteration: number },
  review: EffectiveConfig['review'],
): ReviewResult | null {
  const phase = type === 'code' ? 'implementation' : type
  if (!review.enabled)
    return answer('SKIPPED', iteration, 'Reviews are switched off (review.enabled in plan-gate.yaml).')
  if (review.phases[phase]) return null
  const why = `This kind of review is switched off (review.phases.${phase} in plan-gate.yaml).`
  return answer('SKIPPED', iteration, why)
}

/** Past the limit the user decides, and no reviewer can approve. */
function endIterations(
  { iteration, earlier }: { readonly iteration: number; readonly earlier: readonly Finding[] },
  maxIterations: number | null,
): ReviewResult | null {
  if (maxIterations === null || iteration <= maxIterations) return null
  const points = earlier.map(({ id, severity, section, problem }) => `${id} (${severity}, ${section}): ${problem}`)
  return {
    ...answer(
      'DECISION_NEEDED',
      iteration,
      `Iteration ${iteration} is past review.max_iterations (${maxIterations}), so no reviewer was asked.`,
    ),
    question:
      points.length === 0
        ? 'Which points are still open is not known here: hand over the last result with --previous. Accept it as it is, or change it yourself?'
        : `These points are still open. Accept them, or resolve them yourself?\n${points.map((point) => `- ${point}`).join('\n')}`,
    findings: earlier,
  }
}

const answer = (verdict: 'SKIPPED' | 'DECISION_NEEDED', iteration: number, summary: string): ReviewResult => ({
  verdict,
  is_optimal: false,
  summary,
  question: null,
  findings: [],
  previous_findings: [],
  verification: null,
  iteration,
  notices: [],
})

/** For a plan, Codex uses the model that the user chose in its own configuration; `review.models` names none of Claude's. */
function chooseModel(
  type: ReviewType,
  { backend, model }: Route,
  { documents, code, plan }: EffectiveConfig['review']['models'],
): string | null {
  if (backend === 'checklist' || backend === 'claude' || model !== null) return model
  switch (type) {
    case 'code':
      return code
    case 'plan':
      return plan ?? (backend === 'codex' ? null : documents)
    case 'prd':
    case 'sdd':
    case 'sprint':
      return documents
  }
}

type Prepared =
  | { readonly kind: 'prepared'; readonly material: Material; readonly notices: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string; readonly nextStep: string }

/** First of all, since a secret that a budget cuts in two would no longer be recognised. */
function prepareMaterial(
  request: ReviewRequest,
  sensitiveFiles: readonly string[],
  { redact }: Pick<ReviewDependencies, 'redact'>,
): Prepared {
  const { content } = request
  const withheld = request.type === 'code' ? withholdFromDiff(content, sensitiveFiles) : { diff: content, files: [] }
  const { clean, failed } = collectCleaner(redact)
  const cleanOrNone = (text: string | null): string | null => (text === null ? null : clean(text))
  const material: Material = {
    type: request.type,
    content: clean(withheld.diff),
    expertise: cleanOrNone(request.expertise),
    context: cleanOrNone(request.context),
    changes: cleanOrNone(request.changes),
    intent: cleanOrNone(request.intent),
    guidelines: cleanOrNone(request.guidelines),
    replies: cleanOrNone(request.replies),
    iteration: request.iteration,
    rounds: request.rounds,
    earlier: request.earlier.map((finding) => cleanFinding(finding, clean)),
  }
  const why = failed()
  if (why !== null)
    return {
      kind: 'failed',
      why: `Secrets could not be blanked: ${why}`,
      nextStep: 'Fix review.redaction.patterns in plan-gate.yaml.',
    }
  const blanked = diffLines(content, material.content)
  const prose = request.type === 'plan' ? blanked.find(hidesWords) : undefined
  if (prose !== undefined)
    return {
      kind: 'failed',
      why: `Line ${prose.before} of the plan and what follows look like a secret, which no reviewer may see, and what none has seen is not approved.`,
      nextStep: 'Take it out of the plan, or say it in other words.',
    }
  const lines = blanked.map(({ before }) => before)
  const { files } = withheld
  return {
    kind: 'prepared',
    material,
    notices: [
      ...(files.length === 0 ? [] : [`Not sent, because such files hold secrets: ${files.join(', ')}.`]),
      ...(lines.length === 0 || request.type === 'code'
        ? []
        : [`Blanked, because it looks like a secret, and not seen by the reviewer: in line ${lines.join(', ')}.`]),
    ],
  }
}

/** More than the one word that a secret is. */
function hidesWords({ removed, added }: LineDiff[number]): boolean {
  const words = (lines: readonly string[]): readonly string[] => lines.join(' ').split(/\s+/)
  const left = new Set(words(added))
  return words(removed).filter((word) => word !== '' && !left.has(word)).length > 2
}

const cleanFinding = (finding: Finding, clean: (text: string) => string): Finding => ({
  ...finding,
  section: clean(finding.section),
  problem: clean(finding.problem),
  evidence: clean(finding.evidence),
  fix: clean(finding.fix),
})

/** Redacts many parts; after a failure of one of them, none may be used. */
export function collectCleaner(redact: ReviewDependencies['redact']): {
  readonly clean: (text: string) => string
  readonly failed: () => string | null
} {
  let why: string | null = null
  return {
    clean: (text) => {
      const redaction = redact(text)
      if (redaction.kind === 'redacted') return redaction.text
      why ??= redaction.why
      return ''
    },
    failed: () => why,
  }
}

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
