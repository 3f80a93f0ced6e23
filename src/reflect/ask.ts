import type { EffectiveConfig } from '../config/schema.ts'
import { withholdFromDiff } from '../redact/sensitive-files.ts'
import { isSecurityPath } from '../review/complexity.ts'
import { collectCleaner } from '../review/material.ts'
import type { Prompt } from '../review/prompts.ts'
import type { ReviewDependencies } from '../review/request.ts'
import { createReviewDependencies } from '../review/review.ts'
import { readRouteTable } from '../reviewers/create.ts'
import { failureOf } from '../reviewers/failure.ts'
import type { Route } from '../reviewers/route-table.ts'
import { type Attempt, mainFailure, runRoutes } from '../reviewers/routes.ts'
import type { Effort, Failure } from '../schemas/review.ts'
import { StoreError } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import { debug } from '../system/errors.ts'
import { abortOnSignals } from '../system/signals.ts'
import { clipMiddle } from '../text/clean.ts'
import {
  composeReflection,
  condense,
  parseReflection,
  type ReflectionKind,
  type ReflectionMaterial,
  shorten,
} from './prompts.ts'
import type { ReflectionContext } from './reflect.ts'
import { type Answer, takeCall, updateSessionState } from './session-state.ts'
import type { ChangeSize, ReflectionSubject } from './subject.ts'

/** Asks the second reviewer: redacts and shortens what it is shown, walks the route table, and records the result. */

/** Longer content is sent as its head, a summary of its middle, and its tail. */
const maxContentChars = 400_000

/** Longer answers are condensed. The points for a compaction are ten, and only a model reads them. */
const maxAnswerChars = 1_500
const maxCompactionChars = 6_000

const marginMs = 15_000

export async function askReflection(context: ReflectionContext, subject: ReflectionSubject): Promise<Answer> {
  const { root, compiled, extendDeadline } = context
  const { config } = compiled
  const { review, built } = readRouteTable(root, config, process.env)
  if (built.kind === 'invalid') return { kind: 'failed', ...noTable(built.problems) }
  const totalMs = 1000 * Math.min(config.plan.deadline_seconds, review.policy.max_total_seconds)
  extendDeadline(totalMs + marginMs)
  const stop = abortOnSignals()
  const startedAt = performance.now()
  try {
    const loadTokenizer = (): never => {
      throw new Error('what is asked in prose is measured in characters')
    }
    const setup = { config: { ...config, review }, root, env: process.env, signal: stop.signal, loadTokenizer }
    const asker = {
      ...createReviewDependencies(setup),
      review,
      routes: built.table.routes,
      deadlineAt: startedAt + totalMs,
    }
    const answer = await reviewSubject(context, subject, asker)
    await recordAnswer(context, subject, answer, Math.round(performance.now() - startedAt))
    debug(`${subject.kind} ${subject.about}: ${answer.kind === 'judged' ? answer.verdict : answer.failure}`)
    return answer
  } finally {
    stop.end()
  }
}

const noTable = (problems: readonly string[]): Failure =>
  failureOf(
    'rejected',
    `There is no route table to review by: ${problems.join(' ')}`,
    'Fix review.routes in plan-gate.yaml; `plan-gate routes` shows what is wrong.',
  )

type Asker = Pick<ReviewDependencies, 'reviewers' | 'facts' | 'redact' | 'random' | 'now' | 'signal'> & {
  readonly review: EffectiveConfig['review']
  readonly routes: readonly Route[]
  readonly deadlineAt: number
}

async function reviewSubject(context: ReflectionContext, subject: ReflectionSubject, asker: Asker): Promise<Answer> {
  const { kind } = subject
  const { random } = asker
  const sensitiveFiles = context.compiled.config.review.sensitive_files
  const { material, failed } = cleanMaterial(subject, sensitiveFiles, asker.redact)
  if (failed !== null) return { kind: 'failed', ...failed }
  let tokens: number | null = null
  const ask = async (prompt: (canRead: boolean) => Prompt, weight: Weight) => {
    const answer = await askRoutes(prompt, weight, context, asker)
    if (answer.kind === 'answered' && answer.tokens !== null) tokens = (tokens ?? 0) + answer.tokens
    return answer
  }
  const askMore = async (prompt: Prompt): Promise<string | null> => {
    if (!(await takeOneCall(context))) return null
    const answer = await ask(() => prompt, { model: 'fast', effort: 'low' })
    return answer.kind === 'answered' ? answer.text : null
  }
  const content = await shorten(material.content, maxContentChars, random, askMore)
  const weight = weightOf(subject)
  const answer = await ask(
    (canRead) => composeReflection(kind, { ...material, content }, weight.hints ?? [], canRead, random),
    weight,
  )
  if (answer.kind === 'failed') return answer
  // Read from the answer as it came; only then is a long one condensed.
  const { verdict, text } = parseReflection(answer.text, sensitiveFiles)
  const limit = kind === 'compaction' ? maxCompactionChars : maxAnswerChars
  const summary = await condense(text, limit, random, askMore)
  return { kind: 'judged', verdict, summary, tokens }
}

/** For what the review can do without, as long as the session has a call left. */
async function takeOneCall({ root, session, settings }: ReflectionContext): Promise<boolean> {
  const { isTaken } = await updateSessionState(root, session, (state) => {
    const { spending, refusal } = takeCall(state.spending, settings, Date.now())
    return { state: refusal === null ? { ...state, spending } : state, isTaken: refusal === null }
  })
  return isTaken
}

/** Redacted first and truncated afterwards: half a secret would not be recognised. */
function cleanMaterial(
  { content, context, plan, changes }: ReflectionSubject,
  sensitiveFiles: readonly string[],
  redact: Asker['redact'],
): { readonly material: ReflectionMaterial; readonly failed: Failure | null } {
  const { clean, failed } = collectCleaner(redact)
  const diff = (text: string): string => withholdFromDiff(text, sensitiveFiles).diff
  const material = {
    content: clean(diff(content)),
    context: clipMiddle(clean(context ?? ''), 2_000),
    plan: clipMiddle(clean(plan ?? ''), 60_000),
    changes: clipMiddle(clean(diff(changes ?? '')), 120_000),
  }
  const why = failed()
  const nothingSent = `Secrets could not be redacted, so nothing was sent: ${why}`
  return { material, failed: why === null ? null : failureOf('rejected', nothingSent, fixPatterns) }
}

const fixPatterns = 'Fix review.redaction.patterns in plan-gate.yaml.'

async function recordAnswer(
  { root, session }: ReflectionContext,
  { kind, about }: ReflectionSubject,
  answer: Answer,
  duration_ms: number,
): Promise<void> {
  const event = { session, kind, about, duration_ms }
  try {
    if (answer.kind === 'failed') {
      const { failure, why } = answer
      await appendEvent(root, { type: 'reflection-unavailable', ...event, failure, why })
    } else {
      const { verdict, tokens } = answer
      await appendEvent(root, {
        type: 'reflected',
        ...event,
        verdict: kind === 'compaction' ? 'none' : verdict,
        tokens,
      })
    }
  } catch (error) {
    // Advice is passed on whether it is in the ledger or not.
    if (!(error instanceof StoreError)) throw error
    debug(error.message)
  }
}

type Answered = { readonly text: string; readonly tokens: number | null }

/** Along the same table as any review, but advice is not worth a retry; the checklist has nothing to say in prose. */
async function askRoutes(
  prompt: (canRead: boolean) => Prompt,
  weight: Weight,
  { root, settings }: ReflectionContext,
  asker: Asker,
): Promise<({ readonly kind: 'answered' } & Answered) | ({ readonly kind: 'failed' } & Failure)> {
  const { now, signal, review } = asker
  const models = {
    override: settings.override,
    review: settings.model ?? review.models.code,
    fast: settings.fast_model ?? null,
  }
  const { model, effort } = chooseReflectionModel(weight, models)
  debug(`asks ${model ?? 'the model that the backend has'} at effort ${effort}`)
  const end = Math.min(now() + settings.timeout_seconds * 1000, asker.deadlineAt)
  const timeLeftMs = (): number => end - now()
  const attempt = async (route: Route): Promise<Attempt<Answered>> => {
    const canRead = review.tool_access && route.capabilities.includes('tool_access')
    const { system, user } = prompt(canRead)
    const question = {
      system,
      user,
      // `reflect.model` and `review.models` name none of Claude's.
      model: route.model ?? (route.backend === 'claude' ? null : model),
      effort,
      schema: null,
      thread: { kind: 'none' as const },
      root: canRead ? root : null,
      timeoutMs: Math.min(route.timeoutMs ?? timeLeftMs(), timeLeftMs()),
      subject: { type: 'code' as const, content: user },
    }
    return redacted(await asker.reviewers(route)(question, { signal, onProgress: () => {} }), asker.redact)
  }
  const routes = asker.routes.filter(({ backend }) => backend !== 'checklist')
  const isCancelled = (): boolean => signal.aborted
  const effects = { facts: asker.facts, attempt, timeLeftMs, maxAttempts: routes.length, trace: debug, isCancelled }
  const routed = await runRoutes<Answered>({ routes }, effects)
  return routed.kind === 'served' ? { kind: 'answered', ...routed.value } : { kind: 'failed', ...mainFailure(routed) }
}

function redacted(
  answer: Awaited<ReturnType<ReturnType<Asker['reviewers']>>>,
  redact: Asker['redact'],
): Attempt<Answered> {
  const clean = redact(answer.kind === 'answered' ? answer.text : answer.why)
  if (answer.kind === 'failed') {
    const { failure, nextStep, retryAfterMs } = answer
    const why = clean.kind === 'redacted' ? clean.text : 'The reason cannot be shown.'
    return { kind: 'failure', failure, why, nextStep, retryAfterMs }
  }
  if (clean.kind === 'failed')
    return { kind: 'failure', ...failureOf('malformed', 'Secrets in the answer could not be redacted.', fixPatterns) }
  const { usage } = answer
  return { kind: 'success', value: { text: clean.text, tokens: usage === null ? null : usage.input + usage.output } }
}

/** Which model reviews a subject, with what effort, and what else it is asked. */

type Weight = { readonly model: 'review' | 'fast'; readonly effort: Effort; readonly hints?: readonly string[] }

export const weightOf = ({ kind, about, size }: ReflectionSubject): Weight =>
  size === undefined ? (weights[kind] ?? { model: 'review', effort: 'high' }) : weighChange(about, size)

const weights: { readonly [kind in ReflectionKind]?: Weight } = {
  thinking: { model: 'fast', effort: 'high' },
  compaction: { model: 'review', effort: 'medium' },
}

/** `path` is relative to the worktree. */
export function weighChange(path: string, size: ChangeSize): Required<Weight> {
  const [model, whenSmall, effort, ...questions] = fileWeights[kindOfFile(path)]
  const hints = [...questions, ...hintsFor(size)]
  if (isLarge(size)) return { model: 'review', effort: higher[effort], hints }
  return { model: isSmall(size) ? whenSmall : model, effort, hints }
}

/** `override`: by the user for every call. */
type Models = { readonly override: string | null; readonly review: string | null; readonly fast: string | null }

/** A fast model is asked with high effort: it is cheap, and shallow without. */
export function chooseReflectionModel(
  { model: wanted, effort }: Weight,
  { override, review, fast }: Models,
): { readonly model: string | null; readonly effort: Effort } {
  const model = override ?? (wanted === 'fast' ? (fast ?? review) : review)
  return { model, effort: model !== null && model === fast && effort !== 'xhigh' ? 'high' : effort }
}

const higher: { readonly [effort in Effort]: Effort } = { low: 'medium', medium: 'high', high: 'xhigh', xhigh: 'xhigh' }

export type FileKind = 'security' | 'data' | 'tests' | 'config' | 'ui' | 'docs' | 'other'

/** The model, the model for a small change, the effort, and the questions. */
type FileWeight = readonly [Weight['model'], Weight['model'], Effort, ...string[]]

const fileWeights: { readonly [kind in FileKind]: FileWeight } = {
  security: [
    'review',
    'review',
    'xhigh',
    'This file guards something. Who gets in, or learns something, who could not before?',
    'Is anything compared, parsed or trusted before it is checked? Is a secret written, logged or sent?',
  ],
  data: [
    'review',
    'review',
    'xhigh',
    'This touches data that exists. What happens to rows that are there already, and how is it taken back?',
    'Does it hold while old and new code run side by side, and if it stops halfway?',
  ],
  config: [
    'review',
    'review',
    'high',
    'This is configuration. Does each key exist in the program that reads it, and what did it rely on before?',
  ],
  tests: [
    'review',
    'fast',
    'medium',
    'This is a test. Would it fail if the code were wrong? Is an assertion weaker, skipped or gone that was there before?',
  ],
  ui: [
    'review',
    'fast',
    'medium',
    'People see this. What do they see while it loads, when it fails, when it is empty, without a mouse?',
  ],
  docs: ['fast', 'fast', 'low', 'This is a document. Is each command, name and path in it as the code has it?'],
  other: ['review', 'fast', 'high'],
}

export function kindOfFile(path: string): FileKind {
  if (isSecurityPath(path)) return 'security'
  return fileKinds.find(([pattern]) => pattern.test(path))?.[1] ?? 'other'
}

/** The first match counts; a migration's test is reviewed as data. */
const fileKinds: readonly (readonly [RegExp, FileKind])[] = [
  [/(?:^|\/)(?:migrations?|migrate|schemas?|seeds?)\/|\.(?:sql|prisma|graphql|proto|avsc)$/i, 'data'],
  [/(?:^|\/)(?:models?|entities)\/[^/]+\.\w+$|(?:^|\/)schema\.\w+$/i, 'data'],
  [
    /(?:^|\/)(?:tests?|specs?|__tests__|__mocks__|e2e|cypress)\/|[._-](?:test|spec)s?\.\w+$|(?:^|\/)test_[^/]+\.py$/i,
    'tests',
  ],
  [/(?:^|\/)(?:docs?|documentation)\/|\.(?:md|mdx|rst|adoc|txt)$|(?:^|\/)(?:LICENSE|CHANGELOG|AUTHORS)$/i, 'docs'],
  [/\.(?:tsx|jsx|vue|svelte|astro|css|scss|sass|less|html?|hbs|ejs|svg)$/i, 'ui'],
  [
    /\.(?:json5?|jsonc|ya?ml|toml|ini|cfg|conf|properties|tf|lock|mod|gradle)$|(?:^|\/)(?:\.[^/]+rc|Makefile|[^/]+\.config\.\w+)$/i,
    'config',
  ],
]

/** Characters as well as lines: a line may be a whole minified program. */
const isSmall = (size: ChangeSize): boolean => linesOf(size) <= 10 && charsOf(size) <= 1000
const isLarge = (size: ChangeSize): boolean => linesOf(size) > 300 || charsOf(size) > 20_000
const linesOf = ({ linesBefore, linesAfter }: ChangeSize): number => Math.max(linesBefore, linesAfter)
const charsOf = ({ charsBefore, charsAfter }: ChangeSize): number => Math.max(charsBefore, charsAfter)

function hintsFor({ linesBefore, linesAfter }: ChangeSize): string[] {
  const become = `${linesBefore} lines become ${linesAfter}.`
  if (linesBefore >= 20 && linesAfter < linesBefore / 2)
    return [`${become} Is anything gone that is still called, tested or promised?`]
  if (linesBefore >= 5 && linesAfter >= 60 && linesAfter > linesBefore * 3)
    return [`${become} Is all of it asked for, and does any of it exist elsewhere already?`]
  return []
}
