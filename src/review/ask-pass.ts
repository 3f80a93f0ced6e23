import { askWithRetry } from '../routes/ask-again.ts'
import type { AttemptBudget } from '../routes/attempt-budget.ts'
import type { Route } from '../routes/route.ts'
import { withholdQuotes } from '../safety/sensitive-files.ts'
import type { Answer, Effort, Question, ThreadAfter } from '../schemas/backend.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { firstPassSchema, reviewerAnswerSchema } from '../schemas/review-result.ts'
import { readAnswer } from './contract/read-answer.ts'
import { fitMaterial } from './fit-material.ts'
import type { Material } from './prepare-material.ts'
import { composePrompt } from './prompts/compose-prompt.ts'
import type { PassKind } from './prompts/pass-instructions.ts'
import type { ReviewDependencies } from './review-request.ts'
import type { PassAnswer, PassQuestion } from './run-passes.ts'
import { withholdFromAnswer } from './withhold-from-answer.ts'

export type PassContext = {
  readonly question: PassQuestion
  readonly material: Material
  readonly model: string | null
  readonly root: string | null
  readonly budgets: EffectiveConfig['review']['multipass']['budgets']
  readonly sensitiveFiles: readonly string[]
  readonly route: Route
  readonly budget: AttemptBudget
  readonly passTimeoutMs: number
  readonly timeLeftMs: () => number
  readonly notice: (text: string) => void
  readonly keepThread: (thread: ThreadAfter) => void
  readonly effects: ReviewDependencies
}

/** Deep where everything is taken in and where it is verified, quicker where it is gone through. */
const efforts: { readonly [pass in PassKind]: Effort } = {
  plan: 'xhigh',
  review: 'high',
  verify: 'xhigh',
  combined: 'high',
}

/** One pass from its prompt to what its answer says. What comes out of here holds no secret, and is kept. */
export async function askPass(context: PassContext): Promise<PassAnswer> {
  const { question, effects, route } = context
  const startedAt = effects.now()
  effects.tell({
    kind: 'pass',
    pass: question.pass,
    passes: question.passes,
    does: question.does,
    backend: route.backend,
    deadlineAt: startedAt + Math.min(context.passTimeoutMs, context.timeLeftMs()),
  })
  const { reviewed, ...asked } = await formQuestion(context)
  const clean = cleaner(effects)
  const tell = (text: string): void => effects.tell({ kind: 'sign', text: clean(text) })
  const answer = await askWithRetry(
    (timeoutMs) => effects.backends[route.backend]({ ...asked, timeoutMs }, { signal: effects.signal, tell }),
    { ...context, sleep: effects.sleep, tell, isCancelled: () => effects.signal.aborted },
  )
  for (const text of answer.notices) context.notice(clean(text))
  // Also of a turn that failed: it can be resumed, and another one would be a second thread.
  if (answer.thread !== null) context.keepThread(cleanThread(answer.thread, clean))
  const read = readPass(answer, reviewed, context)
  const pass = { ...read, thread: answer.thread, tookMs: effects.now() - startedAt }
  keep(pass, context)
  return pass
}

/** Also what a backend says by the way goes to a terminal, a log or a file: the command that a model runs, an error of a server. */
const cleaner =
  ({ redact }: ReviewDependencies) =>
  (text: string): string => {
    const redaction = redact(text)
    return redaction.kind === 'redacted' ? redaction.text : 'What the reviewer said here cannot be shown.'
  }

const cleanThread = (thread: ThreadAfter, clean: (text: string) => string): ThreadAfter =>
  thread.replaced === null ? thread : { ...thread, replaced: { ...thread.replaced, why: clean(thread.replaced.why) } }

async function formQuestion(
  context: PassContext,
): Promise<Omit<Question, 'timeoutMs'> & { reviewed: readonly string[] }> {
  const { question, material, model, root, effects } = context
  const fitted = await fitMaterial({ ...context, tokenizer: effects.tokenizer })
  const prompt = composePrompt(question.does, { ...fitted, canRead: root !== null }, effects.random)
  return {
    ...prompt,
    model,
    effort: efforts[question.does],
    schema: question.does === 'plan' ? firstPassSchema : reviewerAnswerSchema,
    thread: question.thread,
    root,
    subject: { type: material.type, content: material.content },
    reviewed: [fitted.content, fitted.context, fitted.changes].flatMap((text) => text ?? []),
  }
}

type Read = PassAnswer extends infer A ? (A extends PassAnswer ? Omit<A, 'thread' | 'tookMs'> : never) : never

function readPass(answer: Answer, reviewed: readonly string[], context: PassContext): Read {
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
    const { text } = withholdQuotes(clean.text, context.sensitiveFiles)
    return { kind: 'malformed', why: read.why, text, tokens }
  }
  if (read.note !== null) context.notice(read.note)
  const { answer: kept, files } = withholdFromAnswer(read.answer, context.sensitiveFiles)
  if (files.length > 0)
    context.notice(
      `The reviewer named files that hold secrets; what it quoted of them is left out: ${files.join(', ')}.`,
    )
  return { kind: 'valid', answer: kept, text: files.length === 0 ? clean.text : JSON.stringify(kept), tokens }
}

function keep(pass: PassAnswer, { question, route, effects }: PassContext): void {
  effects.keepPass({
    pass: question.pass,
    does: question.does,
    backend: route.backend,
    outcome: pass.kind === 'failed' ? pass.failure : pass.kind,
    why: pass.kind === 'valid' ? null : pass.why,
    duration_ms: Math.round(pass.tookMs),
    tokens: pass.tokens,
    answer: pass.kind === 'failed' ? null : pass.text,
  })
}
