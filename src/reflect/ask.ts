/** Asks the second reviewer: redacts and shortens what it is shown, walks the route table, and records the result. */
import type { EffectiveConfig } from '../config/schema.ts'
import { withholdFromDiff } from '../redact/sensitive-files.ts'
import { collectCleaner } from '../review/material.ts'
import type { Prompt } from '../review/prompts.ts'
import type { ReviewDependencies } from '../review/request.ts'
import { createReviewDependencies } from '../review/review.ts'
import { readRouteTable } from '../reviewers/create.ts'
import type { Route, RouteTable } from '../reviewers/route-table.ts'
import { type Attempt, mainFailure, runRoutes } from '../reviewers/routes.ts'
import type { Effort, Failure, Usage } from '../schemas/review.ts'
import { StoreError } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import { debug } from '../system/debug.ts'
import { abortOnSignals } from '../system/signals.ts'
import { clipMiddle } from '../text/clean.ts'
import {
  composeCondensing,
  composeReflection,
  composeSummary,
  condensed,
  joinLong,
  parseReflection,
  splitLong,
} from './prompts.ts'
import {
  afterAsking,
  limitsOf,
  type ReflectionAnswer,
  type ReflectionSetup,
  takeOneCall,
  updateSessionState,
} from './session-state.ts'
import type { StopReview } from './stop.ts'
import { chooseReflectionModel, type ReflectionSubject, type Weight } from './subject.ts'

/** Reviews an event without a stable key (a stop, a compaction); the result is not cached. */
export async function reflectUncached(
  root: string,
  session: string,
  setup: ReflectionSetup,
  subject: ReflectionSubject,
  extendDeadline: (ms: number) => void,
): Promise<StopReview> {
  const grant = await takeOneCall(root, session, limitsOf(setup.settings))
  if (grant.kind === 'refused') return grant
  const answer = await askReflection(root, session, setup, subject, extendDeadline)
  await updateSessionState(root, session, (state) => afterAsking(state, subject, answer, Date.now()))
  return answer
}

/** Longer content is sent as its head, a summary of its middle, and its tail. */
const maxContentChars = 400_000

/** Longer answers are condensed. */
const maxAnswerChars = 1_500

/** The points for a compaction are ten, and only a model reads them. */
const maxCompactionChars = 6_000

/** Before and after the reviewer is asked. */
const marginMs = 15_000

/** One review of a subject, for a call that was granted. */
export async function askReflection(
  root: string,
  session: string,
  setup: ReflectionSetup,
  subject: ReflectionSubject,
  extendDeadline: (ms: number) => void,
): Promise<ReflectionAnswer> {
  const { config } = setup.compiled
  const { review, built } = readRouteTable(root, config, process.env)
  if (built.kind === 'invalid') return { kind: 'failed', ...noTable(built.problems) }
  const totalMs = 1000 * Math.min(config.plan.deadline_seconds, review.policy.max_total_seconds)
  extendDeadline(totalMs + marginMs)
  const stop = abortOnSignals()
  const startedAt = performance.now()
  try {
    const reviewer = openReviewer(root, session, setup, { ...config, review }, built.table, totalMs, stop.signal)
    const answer = await reflect(subject, reviewer, config.review.sensitive_files)
    await recordAnswer(root, session, subject, answer, Math.round(performance.now() - startedAt))
    debug(`${subject.kind} ${subject.about}: ${answer.kind === 'judged' ? answer.verdict : answer.failure}`)
    return answer
  } finally {
    stop.end()
  }
}

const noTable = (problems: readonly string[]): Failure => ({
  failure: 'rejected',
  why: `There is no route table to review by: ${problems.join(' ')}`,
  nextStep: 'Fix review.routes in plan-gate.yaml; `plan-gate routes` shows what is wrong.',
  retryAfterMs: null,
})

type Reviewer = Pick<ReviewDependencies, 'redact' | 'random'> & {
  readonly ask: (prompt: (canRead: boolean) => Prompt, weight: Pick<Weight, 'model' | 'effort'>) => Promise<ProseAnswer>
  /** For what the review can do without; null when the session has no call left for it, or nobody answers. */
  readonly askMore: (prompt: Prompt) => Promise<string | null>
  readonly usage: () => Usage | null
}

function openReviewer(
  root: string,
  session: string,
  { settings }: ReflectionSetup,
  config: EffectiveConfig,
  table: RouteTable,
  totalMs: number,
  signal: AbortSignal,
): Reviewer {
  const dependencies = createReviewDependencies({ config, root, env: process.env, signal, loadTokenizer: noTokenizer })
  const deadlineAt = performance.now() + totalMs
  const models = {
    override: settings.override,
    review: settings.model ?? config.review.models.code,
    fast: settings.fast_model ?? null,
  }
  const mayRead = config.review.tool_access ? root : null
  const used: Usage[] = []
  const ask: Reviewer['ask'] = async (prompt, weight) => {
    const { model, effort } = chooseReflectionModel(weight, models)
    const timeoutMs = Math.min(settings.timeout_seconds * 1000, deadlineAt - performance.now())
    debug(`asks ${model ?? 'the model that the backend has'} at effort ${effort}`)
    const answer = await askInProse({ prompt, model, effort, root: mayRead, timeoutMs }, table, dependencies)
    if (answer.kind === 'answered' && answer.usage !== null) used.push(answer.usage)
    return answer
  }
  return {
    ask,
    askMore: async (prompt) => {
      if ((await takeOneCall(root, session, limitsOf(settings))).kind === 'refused') return null
      const answer = await ask(() => prompt, { model: 'fast', effort: 'low' })
      return answer.kind === 'answered' ? answer.text : null
    },
    redact: dependencies.redact,
    random: dependencies.random,
    usage: () => sumOf(used),
  }
}

const noTokenizer = (): never => {
  throw new Error('what is asked in prose is measured in characters')
}

const sumOf = ([first, ...rest]: readonly Usage[]): Usage | null =>
  first === undefined
    ? null
    : rest.reduce(
        (sum, { input, cached, output, reasoning }) => ({
          input: sum.input + input,
          cached: sum.cached + cached,
          output: sum.output + output,
          reasoning: sum.reasoning + reasoning,
        }),
        first,
      )

async function reflect(
  { kind, material, weigh }: ReflectionSubject,
  reviewer: Reviewer,
  sensitiveFiles: readonly string[],
): Promise<ReflectionAnswer> {
  const cleaned = cleanMaterial(material, sensitiveFiles, reviewer.redact)
  if (cleaned.kind === 'failed') return { kind: 'failed', ...notRedacted(cleaned.why) }
  const content = await shortened(cleaned.value.content, reviewer)
  const weight = weigh()
  const shown = { ...cleaned.value, content, hints: weight.hints }
  const answer = await reviewer.ask(
    (canRead) => composeReflection(kind, { ...shown, canRead }, reviewer.random),
    weight,
  )
  if (answer.kind === 'failed') return answer
  // Read from the answer as it came; only then is a long one condensed.
  const { verdict, toCondense } = parseReflection(answer.text, sensitiveFiles)
  const limit = kind === 'compaction' ? maxCompactionChars : maxAnswerChars
  const prompt = composeCondensing(toCondense, limit, reviewer.random)
  const summary = condensed(toCondense, prompt === null ? null : await reviewer.askMore(prompt), limit)
  return { kind: 'judged', verdict, summary, usage: reviewer.usage() }
}

const notRedacted = (why: string): Failure => ({
  failure: 'rejected',
  why: `Secrets could not be redacted, so nothing was sent: ${why}`,
  nextStep: 'Fix review.redaction.patterns in plan-gate.yaml.',
  retryAfterMs: null,
})

type Shown = ReflectionSubject['material']

/** Redacted first and truncated afterwards: half a secret would not be recognised. */
function cleanMaterial(
  material: Shown,
  sensitiveFiles: readonly string[],
  redact: Reviewer['redact'],
): { readonly kind: 'clean'; readonly value: Shown } | { readonly kind: 'failed'; readonly why: string } {
  const { clean, failed } = collectCleaner(redact)
  const part = (text: string | null, max: number): string | null =>
    text === null ? null : clipMiddle(clean(text), max)
  const diff = (text: string): string => withholdFromDiff(text, sensitiveFiles).diff
  const value: Shown = {
    content: clean(diff(material.content)),
    about: part(material.about, 2_000),
    result: part(material.result, 8_000),
    plan: part(material.plan, 60_000),
    changes: part(material.changes === null ? null : diff(material.changes), 120_000),
  }
  const why = failed()
  return why === null ? { kind: 'clean', value } : { kind: 'failed', why }
}

async function shortened(content: string, { askMore, random }: Reviewer): Promise<string> {
  const split = splitLong(content, maxContentChars)
  if (split.kind === 'whole') return split.text
  return joinLong(split, await askMore(composeSummary(split.middle, maxContentChars, random)), maxContentChars)
}

async function recordAnswer(
  root: string,
  session: string,
  { kind, about }: ReflectionSubject,
  answer: ReflectionAnswer,
  duration_ms: number,
): Promise<void> {
  const event = { session, kind, about, duration_ms }
  try {
    if (answer.kind === 'failed') {
      const { failure, why } = answer
      await appendEvent(root, { type: 'reflection-unavailable', ...event, failure, why })
      return
    }
    const { verdict, usage } = answer
    const tokens = usage === null ? null : usage.input + usage.output
    await appendEvent(root, { type: 'reflected', ...event, verdict: kind === 'compaction' ? 'none' : verdict, tokens })
  } catch (error) {
    // Advice is passed on whether it is in the ledger or not.
    if (!(error instanceof StoreError)) throw error
    debug(error.message)
  }
}

/** One question that is answered in prose. Everything in it is redacted already. */
type ProseQuestion = {
  /** `canRead`: whether the reviewer of this row may read the files. */
  readonly prompt: (canRead: boolean) => Prompt
  readonly model: string | null
  readonly effort: Effort
  /** The folder whose files may be read; null: none may. */
  readonly root: string | null
  readonly timeoutMs: number
}

type Answered = { readonly text: string; readonly usage: Usage | null }
type ProseAnswer = ({ readonly kind: 'answered' } & Answered) | ({ readonly kind: 'failed' } & Failure)
type ProseDependencies = Pick<ReviewDependencies, 'reviewers' | 'facts' | 'redact' | 'now' | 'signal'>

/** Along the same table as any review, but advice is not worth a retry; the checklist has nothing to say in prose. */
async function askInProse(
  question: ProseQuestion,
  { routes }: Pick<RouteTable, 'routes'>,
  dependencies: ProseDependencies,
): Promise<ProseAnswer> {
  const startedAt = dependencies.now()
  const timeLeftMs = (): number => startedAt + question.timeoutMs - dependencies.now()
  const readers = routes.filter(({ backend }) => backend !== 'checklist')
  const routed = await runRoutes<Answered>(
    { routes: readers },
    {
      facts: dependencies.facts,
      attempt: (route) => askRow(question, route, timeLeftMs(), dependencies),
      timeLeftMs,
      maxAttempts: readers.length,
      trace: debug,
      isCancelled: () => dependencies.signal.aborted,
    },
  )
  return routed.kind === 'served' ? { kind: 'answered', ...routed.value } : { kind: 'failed', ...mainFailure(routed) }
}

async function askRow(
  { prompt, model, effort, root }: ProseQuestion,
  route: Route,
  leftMs: number,
  { reviewers, redact, signal }: ProseDependencies,
): Promise<Attempt<Answered>> {
  const canRead = root !== null && route.capabilities.includes('tool_access')
  const { system, user } = prompt(canRead)
  const answer = await reviewers(route)(
    {
      system,
      user,
      // `reflect.model` and `review.models` name none of Claude's.
      model: route.model ?? (route.backend === 'claude' ? null : model),
      effort,
      schema: null,
      thread: { kind: 'none' },
      root: canRead ? root : null,
      timeoutMs: Math.min(route.timeoutMs ?? leftMs, leftMs),
      subject: { type: 'code', content: user },
    },
    { signal, onProgress: () => {} },
  )
  const clean = redact(answer.kind === 'answered' ? answer.text : answer.why)
  if (answer.kind === 'answered')
    return clean.kind === 'redacted' ? { kind: 'success', value: { text: clean.text, usage: answer.usage } } : unshown
  const { failure, nextStep, retryAfterMs } = answer
  const why = clean.kind === 'redacted' ? clean.text : 'The reason cannot be shown.'
  return { kind: 'failure', failure, why, nextStep, retryAfterMs }
}

const unshown: Attempt<never> = {
  kind: 'failure',
  failure: 'malformed',
  why: 'Secrets in the answer could not be redacted.',
  nextStep: 'Fix review.redaction.patterns in plan-gate.yaml.',
  retryAfterMs: null,
}
