import type { EffectiveConfig } from '../config/schema.ts'
import { withholdFromAnswer, withholdQuotes } from '../redact/sensitive-files.ts'
import type { Route } from '../reviewers/route-table.ts'
import { type AttemptBudget, askWithRetry } from '../reviewers/routes.ts'
import {
  type Answer,
  type Effort,
  type Question,
  reviewerAnswerSchema,
  type ThreadAfter,
  type Usage,
} from '../schemas/review.ts'
import { readAnswer } from './answer.ts'
import { chooseEffort, fitEffort, forecast, passesFrom } from './complexity.ts'
import { fitMaterial } from './fit.ts'
import type { PassAnswer, PassQuestion } from './passes.ts'
import { composePrompt, type PassKind } from './prompts.ts'
import type { Material, ReviewDependencies } from './request.ts'

/** One pass from its prompt to its parsed, redacted and saved answer. */

type PassContext = {
  readonly question: PassQuestion
  readonly material: Material
  readonly model: string | null
  readonly root: string | null
  readonly review: EffectiveConfig['review']
  readonly route: Route
  readonly budget: AttemptBudget
  readonly passTimeoutMs: number
  readonly timeLeftMs: () => number
  readonly notice: (text: string) => void
  readonly keepThread: (thread: ThreadAfter) => void
  /** Of this review: what its passes have in common is a prefix that a service caches. */
  readonly tag: string
  /** How many passes of this review have ended without an answer in time. */
  readonly timeouts: number
  /** Each question counts, with its usage or that it failed; `malformed`: of one that was counted. */
  readonly count: (question: Usage | null | 'failed' | 'malformed', route: Route) => void
  readonly effects: ReviewDependencies
}

export async function askPass(context: PassContext): Promise<PassAnswer> {
  const { question, effects, route } = context
  const { pass, passes, does } = question
  const backend = route.name
  const times = effects.passTimes
  const startedAt = effects.now()
  const limitMs = Math.min(context.passTimeoutMs, context.timeLeftMs())
  const effortOf = (pass: PassKind): Effort =>
    chooseEffort({ ...question, does: pass, type: context.material.type, config: context.review.effort })
  const { effort, notice } = fitEffort({ effort: effortOf(does), backend, limitMs, timeouts: context.timeouts, times })
  if (notice !== null) context.notice(notice)
  const later = passesFrom(does, pass, passes).slice(1).map(effortOf)
  effects.onEvent({
    kind: 'pass',
    pass,
    passes,
    does,
    backend,
    deadlineAt: startedAt + limitMs,
    expectedMs: times?.expect(backend, effort)?.ms ?? null,
    forecast: forecast([effort, ...later], backend, times),
  })
  const { reviewed, ...prompt } = await composeQuestion(context, effort)
  const clean = cleaner(effects)
  const onProgress = (text: string): void => effects.onEvent({ kind: 'sign', text: clean(text) })
  const answer = await askWithRetry(
    async (timeoutMs) => {
      const asked = { ...prompt, timeoutMs }
      const answer = await effects.reviewers(route)(asked, { signal: effects.signal, onProgress })
      context.count(answer.kind === 'answered' ? answer.usage : 'failed', route)
      return answer
    },
    {
      ...context,
      sleep: effects.sleep,
      onProgress,
      trace: (line) => effects.onEvent({ kind: 'trace', line }),
      isCancelled: () => effects.signal.aborted,
    },
  )
  for (const text of answer.notices) context.notice(clean(text))
  // A failed turn can be resumed as well.
  if (answer.thread !== null) context.keepThread(cleanThread(answer.thread, clean))
  const read = readPass(answer, reviewed, context)
  if (read.kind === 'malformed') context.count('malformed', route)
  const asked = { ...read, thread: answer.thread, tookMs: effects.now() - startedAt }
  // A pass that was cut off took at least its time, unless there was less of it than usual.
  const isCutOff = read.kind === 'failed' && read.failure === 'timeout' && limitMs === context.passTimeoutMs
  if (does !== 'settle' && (read.kind !== 'failed' || isCutOff))
    times?.record(backend, effort, { ms: asked.tookMs, tokens: read.tokens })
  save(asked, effort, context)
  return asked
}

/** Progress goes to a terminal, a log or a file, and may contain the command of a model or an error of a server. */
const cleaner =
  ({ redact }: ReviewDependencies) =>
  (text: string): string => {
    const redaction = redact(text)
    return redaction.kind === 'redacted' ? redaction.text : 'What the reviewer said here cannot be shown.'
  }

const cleanThread = (thread: ThreadAfter, clean: (text: string) => string): ThreadAfter =>
  thread.replaced === null ? thread : { ...thread, replaced: { ...thread.replaced, why: clean(thread.replaced.why) } }

async function composeQuestion(
  context: PassContext,
  effort: Effort,
): Promise<Omit<Question, 'timeoutMs'> & { reviewed: readonly string[] }> {
  const { question, material, model, root, effects } = context
  const fitted = await fitMaterial({
    ...context,
    budgets: context.review.multipass.budgets,
    tokenizer: effects.tokenizer,
  })
  const { continues, asked = null } = question
  let drawn = false
  const random = (): string => {
    if (drawn) return effects.random()
    drawn = true
    return context.tag
  }
  const prompt = composePrompt(question.does, { ...fitted, canRead: root !== null, continues, asked }, random)
  return {
    ...prompt,
    model,
    effort,
    schema: reviewerAnswerSchema,
    thread: question.thread,
    root,
    subject: { type: material.type, content: material.content },
    reviewed: [
      ...[fitted.content, fitted.context, fitted.changes, fitted.intent, fitted.replies],
      ...[fitted.guidelines, fitted.expertise],
    ].flatMap((text) => text ?? []),
  }
}

type ParsedPass = PassAnswer extends infer A ? (A extends PassAnswer ? Omit<A, 'thread' | 'tookMs'> : never) : never

function readPass(answer: Answer, reviewed: readonly string[], context: PassContext): ParsedPass {
  const clean = context.effects.redact(answer.kind === 'failed' ? answer.why : answer.text)
  if (answer.kind === 'failed') {
    const { failure, nextStep, retryAfterMs } = answer
    const why = clean.kind === 'redacted' ? clean.text : 'The reason cannot be shown.'
    return { kind: 'failed', failure, why, nextStep, retryAfterMs, tokens: null }
  }
  const tokens = answer.usage === null ? null : answer.usage.input + answer.usage.output
  if (clean.kind === 'failed')
    return { kind: 'malformed', why: `secrets in it could not be blanked: ${clean.why}`, text: '', tokens }
  const read = readAnswer(clean.text, { reviewed })
  if (read.kind === 'malformed') {
    const { text } = withholdQuotes(clean.text, context.review.sensitive_files)
    return { kind: 'malformed', why: read.why, text, tokens }
  }
  if (read.note !== null) context.notice(read.note)
  const { answer: kept, files } = withholdFromAnswer(read.answer, context.review.sensitive_files)
  if (files.length > 0)
    context.notice(
      `The reviewer named files that hold secrets; what it quoted of them is left out: ${files.join(', ')}.`,
    )
  return { kind: 'valid', answer: kept, text: files.length === 0 ? clean.text : JSON.stringify(kept), tokens }
}

function save(pass: PassAnswer, effort: Effort, { question, route, effects }: PassContext): void {
  effects.savePass({
    pass: question.pass,
    does: question.does,
    backend: route.name,
    outcome: pass.kind === 'failed' ? pass.failure : pass.kind,
    why: pass.kind === 'valid' ? null : pass.why,
    duration_ms: Math.round(pass.tookMs),
    effort,
    tokens: pass.tokens,
    answer: pass.kind === 'failed' ? null : pass.text,
  })
}
