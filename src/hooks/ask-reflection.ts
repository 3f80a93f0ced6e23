import { randomBytes } from 'node:crypto'
import { composeReflection, type ReflectionMaterial } from '../reflect/compose-reflection.ts'
import { composeCondensing, condensed, readReflection, type ToCondense } from '../reflect/condense.ts'
import { composeSummary, joinLong, splitLong } from '../reflect/fit-content.ts'
import type { Reflected } from '../reflect/follow-session.ts'
import type { ReflectSettings } from '../reflect/reflect-settings.ts'
import type { ReflectionKind } from '../reflect/reflection-kinds.ts'
import { chooseReflectionModel, type Weight } from '../reflect/weigh-change.ts'
import { askInProse, type ProseAnswer } from '../review/ask-in-prose.ts'
import { clipEnd, clipMiddle } from '../review/clip-text.ts'
import { collectCleaner } from '../review/collect-cleaner.ts'
import type { Prompt } from '../review/prompts/compose-prompt.ts'
import type { RouteTable } from '../routes/route.ts'
import { withholdFromDiff } from '../safety/sensitive-files.ts'
import type { Failure, Usage } from '../schemas/backend.ts'
import type { CompiledConfig } from '../schemas/compiled-config.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { appendEvent } from '../store/append-event.ts'
import { StoreError } from '../store/store-error.ts'
import { debug } from './debug.ts'
import type { ReflectionSubject } from './find-matter.ts'
import { readRouteTable } from './read-route-table.ts'
import { takeOneCall } from './reflect-state.ts'
import { followSettings } from './reflection-setup.ts'
import { createReviewDependencies } from './review-world.ts'
import { abortOnSignals } from './stop-on-signals.ts'

export type ReflectionJob = {
  readonly root: string
  readonly session: string
  readonly compiled: CompiledConfig
  readonly settings: ReflectSettings
  readonly matter: ReflectionSubject
}

/** For what is done before and after the reviewer is asked. */
const marginMs = 15_000

/** One look by the second reviewer, for a call that was granted: what it is shown, says, and what is passed on of that. */
export async function askReflection(job: ReflectionJob, extend: (ms: number) => void): Promise<Reflected> {
  const { root, compiled, matter } = job
  const config = compiled.config as EffectiveConfig
  const { review, built } = readRouteTable(root, config, process.env)
  if (built.kind === 'invalid') return failedWith(noTable(built.problems))
  const totalMs = 1000 * Math.min(config.plan.deadline_seconds, review.policy.max_total_seconds)
  extend(totalMs + marginMs)
  const stop = abortOnSignals()
  const startedAt = performance.now()
  try {
    const asking = openAsking(job, { config: { ...config, review }, table: built.table, totalMs, signal: stop.signal })
    const reflected = await reflect(job, asking)
    await record(job, reflected, Math.round(performance.now() - startedAt))
    debug(
      `${matter.kind} ${matter.subject.about}: ${reflected.kind === 'judged' ? reflected.verdict : reflected.failure}`,
    )
    return reflected
  } finally {
    stop.end()
  }
}

type Asking = {
  readonly ask: (prompt: (canRead: boolean) => Prompt, weight: Pick<Weight, 'model' | 'effort'>) => Promise<ProseAnswer>
  /** What can be done without; null when the session has no call left for it, or nobody answers. */
  readonly askMore: (prompt: Prompt) => Promise<string | null>
  readonly redact: ReturnType<typeof createReviewDependencies>['redact']
  readonly usage: () => Usage | null
}

function openAsking(
  { root, session, settings }: ReflectionJob,
  place: { config: EffectiveConfig; table: RouteTable; totalMs: number; signal: AbortSignal },
): Asking {
  const { config, table, totalMs, signal } = place
  const world = createReviewDependencies({ config, root, env: process.env, signal, loadTokenizer: noTokenizer })
  const deadlineAt = performance.now() + totalMs
  const models = {
    override: settings.override,
    review: settings.model ?? config.review.models.code,
    fast: settings.fast_model ?? null,
  }
  const { limits } = followSettings(settings)
  const mayRead = config.review.tool_access ? root : null
  const used: Usage[] = []
  const ask: Asking['ask'] = async (prompt, weight) => {
    const { model, effort } = chooseReflectionModel(weight, models)
    const timeoutMs = Math.min(settings.timeout_seconds * 1000, deadlineAt - performance.now())
    debug(`asks ${model ?? 'the model that the backend has'} at effort ${effort}`)
    const question = { prompt, model, effort, root: mayRead, timeoutMs }
    const answer = await askInProse(question, table, { ...world, trace: debug })
    if (answer.kind === 'answered' && answer.usage !== null) used.push(answer.usage)
    return answer
  }
  return {
    ask,
    askMore: async (prompt) => {
      if ((await takeOneCall(root, session, limits)).kind === 'refused') return null
      const answer = await ask(() => prompt, { model: 'fast', effort: 'low' })
      return answer.kind === 'answered' ? answer.text : null
    },
    redact: world.redact,
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

/** The verdict is read from the answer as it came; only then is a long one condensed. */
async function reflect({ compiled, settings, matter }: ReflectionJob, asking: Asking): Promise<Reflected> {
  const { sensitive_files } = (compiled.config as EffectiveConfig).review
  const material = cleanMaterial(matter.material, sensitive_files, asking.redact)
  if (material.kind === 'failed') return failedWith(uncleanable(material.why))
  const content = await shortened(material.value.content, settings.max_content_chars, asking)
  const weight = matter.weigh()
  const shown = { ...material.value, content, hints: weight.hints }
  const answer = await asking.ask((canRead) => composeReflection(matter.kind, { ...shown, canRead }, random), weight)
  if (answer.kind === 'failed') return failedWith(answer)
  const { verdict, toCondense } = readReflection(answer.text, sensitive_files)
  const summary = await inFewWords(toCondense, limitFor(matter.kind, settings.condense_over_chars), asking)
  return { kind: 'judged', verdict, summary, usage: asking.usage() }
}

/** What is to outlive a compaction is ten points, and read by a model only. */
const limitFor = (kind: ReflectionKind, limit: number): number =>
  kind === 'compaction' ? Math.max(limit, 6_000) : limit

const random = (): string => randomBytes(6).toString('hex')

type Shown = Omit<ReflectionMaterial, 'hints' | 'canRead'>
type Cleaned = { readonly kind: 'clean'; readonly value: Shown } | { readonly kind: 'failed'; readonly why: string }

/** Redacted first and cut afterwards: half a secret would not be known for one. */
function cleanMaterial(material: Shown, sensitiveFiles: readonly string[], redact: Asking['redact']): Cleaned {
  const { clean, failed } = collectCleaner(redact)
  const part = (text: string | null, most: number): string | null =>
    text === null ? null : clipMiddle(clean(text), most)
  const value: Shown = {
    content: clean(withholdFromDiff(material.content, sensitiveFiles).diff),
    about: part(material.about, 2_000),
    result: part(material.result, 8_000),
    plan: part(material.plan, 60_000),
    changes: part(material.changes === null ? null : withholdFromDiff(material.changes, sensitiveFiles).diff, 120_000),
    waiting: material.waiting.slice(0, 50).map((path) => clipEnd(clean(path), 300)),
  }
  const why = failed()
  return why === null ? { kind: 'clean', value } : { kind: 'failed', why }
}

async function shortened(content: string, maxChars: number, { askMore }: Asking): Promise<string> {
  const fitting = splitLong(content, maxChars)
  if (fitting.kind === 'whole') return fitting.text
  return joinLong(fitting, await askMore(composeSummary(fitting.middle, maxChars, random)), maxChars)
}

async function inFewWords(text: ToCondense, limit: number, { askMore }: Asking): Promise<string> {
  const prompt = composeCondensing(text, limit, random)
  return condensed(text, prompt === null ? null : await askMore(prompt), limit)
}

async function record({ root, session, matter }: ReflectionJob, reflected: Reflected, tookMs: number): Promise<void> {
  const { kind, subject } = matter
  const event = { session, kind, about: subject.about, duration_ms: tookMs }
  try {
    if (reflected.kind === 'failed') {
      const { failure, why } = reflected
      await appendEvent(root, { type: 'reflection-unavailable', ...event, failure, why })
      return
    }
    const { verdict, usage } = reflected
    const tokens = usage === null ? null : usage.input + usage.output
    await appendEvent(root, { type: 'reflected', ...event, verdict: kind === 'compaction' ? 'none' : verdict, tokens })
  } catch (error) {
    // What is only advice is passed on whether it is on record or not.
    if (!(error instanceof StoreError)) throw error
    debug(error.message)
  }
}

const failedWith = ({ failure, why, nextStep, retryAfterMs }: Failure): Reflected => ({
  kind: 'failed',
  failure,
  why,
  nextStep,
  retryAfterMs,
})

const noTable = (problems: readonly string[]): Failure => ({
  failure: 'rejected',
  why: `There is no route table to review by: ${problems.join(' ')}`,
  nextStep: 'Mend review.routes in plan-gate.yaml; `plan-gate routes` shows what is wrong.',
  retryAfterMs: null,
})

const uncleanable = (why: string): Failure => ({
  failure: 'rejected',
  why: `Secrets could not be blanked, so nothing was sent: ${why}`,
  nextStep: 'Mend review.redaction.patterns in plan-gate.yaml.',
  retryAfterMs: null,
})
