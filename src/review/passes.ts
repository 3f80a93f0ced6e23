import type { EffectiveConfig } from '../config/schema.ts'
import { withholdFromAnswer, withholdQuotes } from '../redact/sensitive-files.ts'
import { type AttemptBudget, askWithRetry } from '../reviewers/retry.ts'
import type { Route } from '../reviewers/route-table.ts'
import {
  type Answer,
  type AnsweredFinding,
  type Complexity,
  type Effort,
  type Failure,
  type Question,
  type ReviewerAnswer,
  reviewerAnswerSchema,
  type Thread,
  type ThreadAfter,
  type Usage,
} from '../schemas/review.ts'
import { readAnswer } from './answer.ts'
import { classifyComplexity, type Measure, modelSignal } from './complexity.ts'
import { chooseEffort, fitEffort, forecast, passesFrom } from './effort.ts'
import { fitMaterial } from './fit.ts'
import { uniteFindings } from './number-findings.ts'
import { type Asked, composePrompt, type PassKind } from './prompts.ts'
import type { Material, ReviewDependencies } from './request.ts'

/** What differs between the prompts of the passes. */
export type PassQuestion = {
  readonly pass: number
  readonly passes: number
  readonly does: PassKind
  /** A complex review gets the larger budgets. */
  readonly large: boolean
  readonly handedOn: string | null
  readonly thread: Thread
  /** The thread has been told in this review what the review is about. */
  readonly continues: boolean
  /** For `settle` and `arbitrate`. */
  readonly asked?: Asked
}

export type PassAnswer = {
  readonly thread: ThreadAfter | null
  readonly tokens: number | null
  readonly tookMs: number
} & (
  | { readonly kind: 'valid'; readonly answer: ReviewerAnswer; readonly text: string }
  /** An answer without a valid verdict. */
  | { readonly kind: 'malformed'; readonly why: string; readonly text: string }
  | ({ readonly kind: 'failed' } & Failure)
)

export type PassesOutcome =
  | {
      readonly kind: 'answered'
      readonly answer: ReviewerAnswer
      readonly verification: 'passed' | 'skipped' | null
      readonly complexity: Complexity | null
      /** Tokens of each pass that counted, in the order of the passes. */
      readonly tokens: readonly (number | null)[]
      readonly mode: 'multi-pass' | 'single-pass'
    }
  | ({ readonly kind: 'failed' } & Failure)

export type PassRules = {
  readonly multipass: EffectiveConfig['review']['multipass']
  readonly measure: Measure
  /** The reason for a single pass; null: several passes. */
  readonly single: string | null
  readonly thread: Thread
  /** The thread knows the content from the rounds before. */
  readonly isUnderstood: boolean
  /** What the first round misses comes late, so a fresh reader looks as well. */
  readonly hasSecondReader: boolean
  /** Findings of this kind are verified twice. */
  readonly isDoubtful: (finding: AnsweredFinding) => boolean
  readonly passTimeoutMs: number
}

type PassEffects = {
  readonly ask: (question: PassQuestion) => Promise<PassAnswer>
  readonly countTokens: (text: string, near: readonly number[]) => Promise<number>
  readonly timeLeftMs: () => number
  readonly notice: (text: string) => void
}

/**
 * One pass where that is enough, otherwise three: understand, find, verify; on a thread that has understood the content
 * in an earlier round, two. A pass that fails reduces the depth; the outcome is always a verdict that a reviewer gave, or
 * a failure.
 */
export async function runPasses(rules: PassRules, effects: PassEffects): Promise<PassesOutcome> {
  const { notice } = effects
  if (rules.single !== null || isTimeShort(rules, effects, 0)) {
    if (rules.single === null) notice('There is not enough time for several passes, so there is a single one.')
    return onlyPass(rules, rules.thread, effects)
  }
  return rules.isUnderstood ? findAndVerify(rules, effects) : understandFirst(rules, effects)
}

async function understandFirst(rules: PassRules, effects: PassEffects): Promise<PassesOutcome> {
  const { ask, notice } = effects
  const first = await ask({ ...firstQuestion(rules), passes: 3, does: 'plan' })
  const thread = threadAfter(rules.thread, first)
  if (first.kind === 'failed') {
    if (!isWorthAnotherPass(first) || !isTimeForAnother(rules, effects)) return first
    notice(`The first pass failed (${first.why}), so there is a single combined one.`)
    return onlyPass(rules, thread, effects)
  }
  const complexity = await complexityAfter(first, rules, effects)
  const isEnough = complexity === 'low' && rules.multipass.adaptive
  if (isEnough && first.kind === 'valid') return unverified(first.answer, [first], complexity, null)

  const large = isLarge(complexity) || isLarge(rules.measure.level)
  const continues = thread.kind === 'resume'
  const question = { pass: 2, passes: 3, does: 'review', large, handedOn: notesOf(first), thread, continues } as const
  const [looked, other] = await Promise.all([
    askTwice(question, rules, effects),
    // As if they ran one after the other: a service may queue what it is asked.
    rules.hasSecondReader && effects.timeLeftMs() > 4 * first.tookMs
      ? ask({ ...question, handedOn: null, thread: { kind: 'none' }, continues: false })
      : null,
  ])
  const hasFailed = looked.kind === 'failed' && looked.failure !== 'cancelled'
  const second = hasFailed && other?.kind === 'valid' ? other : looked
  if (second.kind === 'valid') {
    const found = other?.kind === 'valid' ? withFindings(second, other.answer.findings) : second
    // What the second look did not repeat is verified too: it may have been right.
    const findings = first.kind === 'valid' ? uniteFindings(found.answer.findings, first.answer.findings) : undefined
    return verify({ findings, passes: [first, found], complexity, pass: 3 }, rules, effects)
  }
  if (second.failure === 'cancelled' || first.kind !== 'valid' || first.answer.verdict !== 'CHANGES_REQUIRED')
    return second
  notice(`The second pass failed (${second.why}), so what the first one found is not verified.`)
  return unverified(first.answer, [first], complexity, 'skipped')
}

type ValidPass = PassAnswer & { readonly kind: 'valid' }

const withFindings = (pass: ValidPass, more: readonly AnsweredFinding[]): ValidPass => ({
  ...pass,
  answer: { ...pass.answer, findings: uniteFindings(pass.answer.findings, more) },
})

async function findAndVerify(rules: PassRules, effects: PassEffects): Promise<PassesOutcome> {
  const found = await askTwice({ ...firstQuestion(rules), passes: 2, does: 'review' }, rules, effects)
  if (found.kind === 'failed') return found
  const complexity = await complexityAfter(found, rules, effects)
  if (complexity === 'low' && rules.multipass.adaptive) return unverified(found.answer, [found], complexity, null)
  return verify({ findings: undefined, passes: [found], complexity, pass: 2 }, rules, effects)
}

const firstQuestion = ({ measure, thread }: PassRules) => ({
  pass: 1,
  large: isLarge(measure.level),
  handedOn: null,
  thread,
  continues: false,
})

type Found = {
  /** Instead of those of the last pass. */
  readonly findings: readonly AnsweredFinding[] | undefined
  readonly passes: readonly PassAnswer[]
  readonly complexity: Complexity
  readonly pass: number
}

/** By a fresh reader, so that nobody grades their own work. */
async function verify(
  { findings, passes, complexity, pass }: Found,
  rules: PassRules,
  effects: PassEffects,
): Promise<PassesOutcome> {
  const last = passes.at(-1)
  if (last?.kind !== 'valid') throw new Error('nothing was found that could be verified')
  const found = findings === undefined ? last.answer : { ...last.answer, findings }
  // What one of the readers holds against it counts until somebody has refuted it.
  const skipped = (why: string): PassesOutcome => {
    effects.notice(`The findings were not verified: ${why}`)
    return unverified(found, passes, complexity, 'skipped')
  }
  if (isTimeShort(rules, effects, Math.max(...passes.map(({ tookMs }) => tookMs))))
    return skipped('there was no time left for that.')
  const large = isLarge(complexity) || isLarge(rules.measure.level)
  const thread = { kind: 'none' } as const
  const ask = (handedOn: string) =>
    effects.ask({ pass, passes: pass, does: 'verify', large, handedOn, thread, continues: false })
  const once = await ask(JSON.stringify(found))
  if (once.kind === 'failed' && once.failure === 'cancelled') return once
  if (once.kind !== 'valid') return skipped(once.why)
  const isDoubtful = once.answer.findings.some(rules.isDoubtful)
  const twice = isDoubtful && !isTimeShort(rules, effects, once.tookMs) ? await ask(JSON.stringify(once.answer)) : once
  const { answer } = twice.kind === 'valid' ? twice : once
  const tokens = [...passes, once].map((each) => each.tokens)
  return { kind: 'answered', answer, verification: 'passed', complexity, tokens, mode: 'multi-pass' }
}

const unverified = (
  answer: ReviewerAnswer,
  passes: readonly PassAnswer[],
  complexity: Complexity,
  verification: 'skipped' | null,
): PassesOutcome => ({
  kind: 'answered',
  answer,
  verification,
  complexity,
  tokens: passes.map(({ tokens }) => tokens),
  mode: 'multi-pass',
})

async function onlyPass({ measure }: PassRules, thread: Thread, { ask }: PassEffects): Promise<PassesOutcome> {
  const large = isLarge(measure.level)
  const question = { pass: 1, passes: 1, does: 'combined', large, handedOn: null, thread, continues: false } as const
  const only = await ask(question)
  if (only.kind === 'valid')
    return {
      kind: 'answered',
      answer: only.answer,
      verification: null,
      complexity: null,
      tokens: [only.tokens],
      mode: 'single-pass',
    }
  return only.kind === 'failed' ? only : malformed(only.why)
}

/** Retries the pass that finds most problems once. */
async function askTwice(
  question: PassQuestion,
  rules: PassRules,
  effects: PassEffects,
): Promise<(PassAnswer & { kind: 'valid' }) | ({ kind: 'failed' } & Failure)> {
  const { ask, notice } = effects
  const once = await ask(question)
  if (once.kind === 'valid' || (once.kind === 'failed' && !isWorthAnotherPass(once))) return once
  if (!isTimeForAnother(rules, effects)) return once.kind === 'malformed' ? malformed(once.why) : once
  notice(`The ${question.pass === 1 ? 'first' : 'second'} pass failed (${once.why}), so it is asked once more.`)
  const again = await ask({ ...question, thread: threadAfter(question.thread, once) })
  return again.kind === 'malformed' ? malformed(again.why) : again
}

const malformed = (why: string): { kind: 'failed' } & Failure => ({
  kind: 'failed',
  failure: 'malformed',
  why: `The reviewer answered, but not with a verdict: ${why}`,
  nextStep: 'Try again; if it stays like that, choose another model or backend.',
  retryAfterMs: null,
})

/** Not for an account, a limit, or a request that was not accepted. */
function isWorthAnotherPass({ failure }: Failure): boolean {
  switch (failure) {
    case 'timeout':
    case 'transport':
    case 'server':
    case 'malformed':
    case 'refused':
    case 'crashed':
      return true
    case 'not-installed':
    case 'auth':
    case 'quota':
    case 'rate-limited':
    case 'rejected':
    case 'cancelled':
      return false
  }
}

async function complexityAfter(
  first: PassAnswer & { kind: 'valid' | 'malformed' },
  { measure, multipass: { thresholds } }: PassRules,
  { countTokens }: PassEffects,
): Promise<Complexity> {
  if (first.kind === 'malformed') return classifyComplexity(measure, 'medium')
  const scope = await countTokens(first.text, [thresholds.low_scope_tokens, thresholds.high_scope_tokens])
  return classifyComplexity(measure, modelSignal(first.answer.complexity, scope, thresholds))
}

const isLarge = (complexity: Complexity): boolean => complexity === 'high'

/** For the second pass: the summary and the findings of the first one, or its whole text. */
const notesOf = (first: PassAnswer & { kind: 'valid' | 'malformed' }): string =>
  first.kind === 'malformed'
    ? first.text.trim() || 'The first pass left no notes.'
    : JSON.stringify({ context_summary: first.answer.context_summary, findings: first.answer.findings })

function threadAfter(before: Thread, { thread }: PassAnswer): Thread {
  if (before.kind === 'none' || thread === null) return before
  return { kind: 'resume', id: thread.id, used: thread.used }
}

/** `longestMs`: of the longest pass so far; before the first one a pass is expected to take its whole timeout. */
function isTimeShort({ passTimeoutMs }: PassRules, { timeLeftMs }: PassEffects, longestMs: number): boolean {
  const onePass = longestMs === 0 ? passTimeoutMs - startMs : Math.min(passTimeoutMs, longestMs * 1.25)
  return timeLeftMs() < onePass
}

/** Tolerance for the start where a pass may take all of the time. */
const startMs = 2_000

/** With less time a reviewer would be cut off, which would hide the first failure. */
const minUsefulMs = 20_000

const isTimeForAnother = ({ passTimeoutMs }: PassRules, { timeLeftMs }: PassEffects): boolean =>
  timeLeftMs() >= Math.min(passTimeoutMs, minUsefulMs)

type PassContext = {
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
  /** Each question counts, with its usage or that it failed; `malformed`: of one that was counted. */
  readonly effort: EffectiveConfig['review']['effort']
  /** Of this review: what its passes have in common is a prefix that a service caches. */
  readonly tag: string
  /** How many passes of this review have ended without an answer in time. */
  readonly timeouts: number
  readonly count: (question: Usage | null | 'failed' | 'malformed') => void
  readonly effects: ReviewDependencies
}

/** One pass from its prompt to its parsed, redacted and saved answer. */
export async function askPass(context: PassContext): Promise<PassAnswer> {
  const { question, effects, route } = context
  const { pass, passes, does } = question
  const backend = route.name
  const times = effects.passTimes
  const startedAt = effects.now()
  const limitMs = Math.min(context.passTimeoutMs, context.timeLeftMs())
  const effortOf = (pass: PassKind): Effort =>
    chooseEffort({ ...question, does: pass, type: context.material.type, config: context.effort })
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
    forecast: forecast([effort, ...later], backend, times),
  })
  const { reviewed, ...prompt } = await composeQuestion(context, effort)
  const clean = cleaner(effects)
  const onProgress = (text: string): void => effects.onEvent({ kind: 'sign', text: clean(text) })
  const answer = await askWithRetry(
    async (timeoutMs) => {
      const asked = { ...prompt, timeoutMs }
      const answer = await effects.reviewers(route)(asked, { signal: effects.signal, onProgress })
      context.count(answer.kind === 'answered' ? answer.usage : 'failed')
      return answer
    },
    { ...context, sleep: effects.sleep, onProgress, isCancelled: () => effects.signal.aborted },
  )
  for (const text of answer.notices) context.notice(clean(text))
  // A failed turn can be resumed as well.
  if (answer.thread !== null) context.keepThread(cleanThread(answer.thread, clean))
  const read = readPass(answer, reviewed, context)
  if (read.kind === 'malformed') context.count('malformed')
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
  const fitted = await fitMaterial({ ...context, tokenizer: effects.tokenizer })
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
