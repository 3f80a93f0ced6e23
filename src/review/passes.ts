import type { EffectiveConfig } from '../config/schema.ts'
import type { AnsweredFinding, Complexity, Failure, ReviewerAnswer, Thread, ThreadAfter } from '../schemas/review.ts'
import { classifyComplexity, type Measure, modelSignal } from './complexity.ts'
import { isBlocking } from './findings.ts'
import { uniteFindings } from './number-findings.ts'
import { type Asked, freshQuestion, type PassKind } from './prompts.ts'
import {
  askReaders,
  droppedBy,
  gather,
  handOn,
  type Looked,
  missingFrom,
  type Reader,
  type ReaderReport,
  uniteAnswers,
  withSource,
  withSources,
} from './readers.ts'

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
      /** Where several have read it. */
      readonly readers?: readonly ReaderReport[]
      /** The reader that took the place of the row that was to lead. */
      readonly by?: string
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
  /** Of the row that leads. */
  readonly name: string
  /** Those who read beside it, and how to end what it is asked; null: it reads alone. */
  readonly beside: { readonly readers: readonly Reader[]; readonly stopLead: () => void } | null
  /** Another row, which verifies some of the findings as well. */
  readonly second: SecondOpinion | null
}

export type SecondOpinion = {
  readonly name: string
  readonly when: 'on-disagreement' | 'on-critical'
  readonly ask: (question: PassQuestion) => Promise<PassAnswer>
}

type PassEffects = {
  readonly ask: (question: PassQuestion) => Promise<PassAnswer>
  readonly countTokens: (text: string, near: readonly number[]) => Promise<number>
  readonly timeLeftMs: () => number
  readonly notice: (text: string) => void
}

/** What the finding passes gave. `due`: it is to be verified. */
type Found = {
  readonly kind: 'found'
  readonly answer: ReviewerAnswer
  readonly passes: readonly PassAnswer[]
  readonly complexity: Complexity | null
  readonly verification: 'due' | 'skipped' | null
  readonly mode: 'multi-pass' | 'single-pass'
}
type Failed = { readonly kind: 'failed' } & Failure

/**
 * One pass where that is enough, otherwise three: understand, find, verify; on a thread that has understood the content
 * in an earlier round, two. A pass that fails reduces the depth; the outcome is always a verdict that a reviewer gave, or
 * a failure.
 */
export async function runPasses(rules: PassRules, effects: PassEffects): Promise<PassesOutcome> {
  const looking = look(rules, effects)
  if (rules.beside !== null) return readTogether(looking, rules.beside, rules, effects)
  const found = await looking
  if (found.kind === 'failed') return found
  return found.verification === 'due' ? verify(found, rules, effects) : unverified(found, found.verification)
}

async function look(rules: PassRules, effects: PassEffects): Promise<Found | Failed> {
  const { notice } = effects
  if (rules.single !== null || isTimeShort(rules, effects, 0)) {
    if (rules.single === null) notice('There is not enough time for several passes, so there is a single one.')
    return onlyPass(rules, rules.thread, effects)
  }
  return rules.isUnderstood ? findOnThread(rules, effects) : understandFirst(rules, effects)
}

const foundBy = (
  answer: ReviewerAnswer,
  passes: readonly PassAnswer[],
  complexity: Complexity,
  verification: Found['verification'],
): Found => ({ kind: 'found', answer, passes, complexity, verification, mode: 'multi-pass' })

async function understandFirst(rules: PassRules, effects: PassEffects): Promise<Found | Failed> {
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
  if (isEnough && first.kind === 'valid') return foundBy(first.answer, [first], complexity, null)

  const large = isLarge(complexity) || isLarge(rules.measure.level)
  const continues = thread.kind === 'resume'
  const question = { pass: 2, passes: 3, does: 'review', large, handedOn: notesOf(first), thread, continues } as const
  const [looked, other] = await Promise.all([
    askTwice(question, rules, effects),
    // As if they ran one after the other: a service may queue what it is asked.
    rules.hasSecondReader && effects.timeLeftMs() > 4 * first.tookMs
      ? ask({ ...freshQuestion, pass: 2, passes: 3, does: 'review', large })
      : null,
  ])
  const hasFailed = looked.kind === 'failed' && looked.failure !== 'cancelled'
  const second = hasFailed && other?.kind === 'valid' ? other : looked
  if (second.kind === 'valid') {
    // What the second look did not repeat is verified too: it may have been right.
    const more = [other, first].flatMap((pass) => (pass?.kind === 'valid' ? [pass.answer.findings] : []))
    const findings = more.reduce(uniteFindings, second.answer.findings)
    return foundBy({ ...second.answer, findings }, [first, second], complexity, 'due')
  }
  if (second.failure === 'cancelled' || first.kind !== 'valid' || first.answer.verdict !== 'CHANGES_REQUIRED')
    return second
  notice(`The second pass failed (${second.why}), so what the first one found is not verified.`)
  return foundBy(first.answer, [first], complexity, 'skipped')
}

export type ValidPass = PassAnswer & { readonly kind: 'valid' }

async function findOnThread(rules: PassRules, effects: PassEffects): Promise<Found | Failed> {
  const found = await askTwice({ ...firstQuestion(rules), passes: 2, does: 'review' }, rules, effects)
  if (found.kind === 'failed') return found
  const complexity = await complexityAfter(found, rules, effects)
  const isEnough = complexity === 'low' && rules.multipass.adaptive
  return foundBy(found.answer, [found], complexity, isEnough ? null : 'due')
}

const firstQuestion = ({ measure, thread }: PassRules) => ({ ...freshQuestion, large: isLarge(measure.level), thread })

/** By a fresh reader, so that nobody grades their own work. */
async function verify(
  found: Found,
  rules: PassRules,
  effects: PassEffects,
): Promise<PassesOutcome & { readonly kind: 'answered' | 'failed' }> {
  const { passes, complexity } = found
  // What one of the readers holds against it counts until somebody has refuted it.
  const skipped = (why: string): PassesOutcome => {
    effects.notice(`The findings were not verified: ${why}`)
    return unverified(found, 'skipped')
  }
  if (isTimeShort(rules, effects, Math.max(...passes.map(({ tookMs }) => tookMs))))
    return skipped('there was no time left for that.')
  const large = isLarge(complexity ?? 'medium') || isLarge(rules.measure.level)
  const pass = passes.length + 1
  const question = (answer: ReviewerAnswer): PassQuestion => ({
    ...freshQuestion,
    ...{ pass, passes: pass, does: 'verify', large, handedOn: handOn(answer) },
  })
  const once = await effects.ask(question(found.answer))
  if (once.kind === 'failed' && once.failure === 'cancelled') return once
  if (once.kind !== 'valid') return skipped(once.why)
  const isDoubtful = once.answer.findings.some(rules.isDoubtful)
  const twice =
    isDoubtful && !isTimeShort(rules, effects, once.tookMs) ? await effects.ask(question(once.answer)) : once
  const verified = (twice.kind === 'valid' ? twice : once).answer
  const answer = await withSecond(found.answer, verified, question, rules, effects)
  const tokens = [...passes, once].map((each) => each.tokens)
  return { kind: 'answered', answer, verification: 'passed', complexity, tokens, mode: 'multi-pass' }
}

/** Another row verifies some of it as well. It can bring back what was dropped, and takes nothing away. */
async function withSecond(
  found: ReviewerAnswer,
  verified: ReviewerAnswer,
  question: (answer: ReviewerAnswer) => PassQuestion,
  { second }: PassRules,
  { notice }: PassEffects,
): Promise<ReviewerAnswer> {
  if (second === null) return verified
  const dropped = droppedBy(verified.findings, found.findings)
  const asked =
    second.when === 'on-critical'
      ? [...verified.findings, ...dropped].filter(({ severity }) => severity === 'critical')
      : dropped
  if (asked.length === 0) return verified
  const given = await second.ask(question({ ...verified, verdict: 'CHANGES_REQUIRED', findings: asked }))
  if (given.kind !== 'valid') {
    notice(`There is no second opinion: ${second.name} did not give one (${given.why})`)
    return verified
  }
  const refuted = missingFrom(asked, given.answer.findings.filter(isBlocking))
  notice(
    `Second opinion of ${second.name}: of ${asked.length} findings that it verified, ${asked.length - refuted.length} hold. ${given.answer.summary}`,
  )
  const held = missingFrom(dropped, refuted).filter((finding) => asked.includes(finding))
  if (held.length === 0) return verified
  const findings = uniteFindings(verified.findings, held)
  return { ...verified, findings, verdict: verified.verdict === 'APPROVED' ? 'CHANGES_REQUIRED' : verified.verdict }
}

async function readTogether(
  looking: Promise<Found | Failed>,
  { readers, stopLead }: NonNullable<PassRules['beside']>,
  rules: PassRules,
  effects: PassEffects,
): Promise<PassesOutcome> {
  const isSingle = rules.single !== null
  const large = isLarge(rules.measure.level)
  const question: PassQuestion = isSingle
    ? { ...freshQuestion, does: 'combined', large }
    : { ...freshQuestion, passes: 3, does: 'review', large }
  const reading = readers.map(({ ask, stop, expectedMs }) => ({ answer: ask(question), stop, expectedMs }))
  const [lead, ...read] = await gather<Found | PassAnswer | Failed>(
    [{ answer: looking, stop: stopLead, expectedMs: null }, ...reading],
    ({ kind }) => kind === 'found' || kind === 'valid',
  )
  if (lead?.kind === 'failed' && lead.failure === 'cancelled') return lead
  const answers = readers.flatMap((reader, index) => {
    const pass = read[index]
    return pass?.kind === 'valid' ? [{ reader, pass }] : []
  })
  const [first, ...rest] = answers
  const silent = [{ name: rules.name }, ...readers].flatMap(({ name }, index) => {
    const given = [lead, ...read][index]
    if (given?.kind === 'found' || given?.kind === 'valid') return []
    return [{ name, verdict: null, why: given === null || given === undefined ? notAwaited : given.why }]
  })
  const isLed = lead?.kind === 'found'
  if (!isLed && first === undefined) return lead?.kind === 'failed' ? lead : malformed('nobody answered')
  for (const { name, why } of silent) effects.notice(`The reader ${name} has not answered: ${why}`)
  const outcome =
    isLed || first === undefined
      ? await together(lead as Found, rules.name, answers, rules, effects)
      : await together(asFound(first.pass, isSingle), first.reader.name, rest, rules, {
          ...effects,
          ask: first.reader.ask,
        })
  if (outcome.kind === 'failed') return outcome
  const by = isLed ? {} : { by: first?.reader.name ?? rules.name }
  return { ...outcome, readers: [...(outcome.readers ?? []), ...silent], ...by }
}

const notAwaited = 'it was not waited for any longer, since most of the readers had answered.'

const asFound = (pass: ValidPass, isSingle: boolean): Found => ({
  ...foundBy(pass.answer, [pass], 'medium', isSingle ? null : 'due'),
  ...(isSingle ? { mode: 'single-pass' } : {}),
})

/** One outcome of all who have read it. */
async function together(
  lead: Found,
  name: string,
  others: readonly Looked[],
  rules: PassRules,
  effects: PassEffects,
): Promise<PassesOutcome> {
  const all = uniteAnswers(
    withSource(lead.answer, name),
    others.map(({ reader, pass }) => withSource(pass.answer, reader.name)),
  )
  const isAgreed = others.every(({ pass }) => pass.answer.verdict === 'APPROVED') && !all.findings.some(isBlocking)
  const isDue = lead.verification === 'due' || (lead.verification === null && lead.mode === 'multi-pass' && !isAgreed)
  const outcome = isDue
    ? await verify({ ...lead, answer: all }, rules, effects)
    : unverified({ ...lead, answer: all }, lead.verification)
  if (outcome.kind === 'failed') return outcome
  const isVerified = outcome.verification === 'passed'
  const findings = withSources(outcome.answer.findings, all.findings, name)
  const { answer, reports } = await askReaders(
    { ...outcome.answer, findings },
    all.findings,
    others,
    async (reader, own) =>
      isVerified
        ? reader.ask({
            ...freshQuestion,
            ...{ does: 'verify', large: isLarge(lead.complexity ?? 'medium'), handedOn: handOn(own) },
          })
        : { kind: 'valid', answer: own, text: '', thread: null, tokens: null, tookMs: 0 },
  )
  // Whoever has to change it first is asked nothing yet, but may know.
  if (answer.verdict !== 'DECISION_NEEDED')
    for (const { name, verdict } of reports) {
      const asks = others.find(({ reader }) => reader.name === name)?.pass.answer.question
      if (verdict === 'DECISION_NEEDED' && asks) effects.notice(`The reader ${name} asks the user: ${asks}`)
    }
  return { ...outcome, answer, readers: [{ name, verdict: outcome.answer.verdict, why: null }, ...reports] }
}

const unverified = (
  { answer, passes, complexity, mode }: Found,
  verification: 'skipped' | 'due' | null,
): PassesOutcome & { readonly kind: 'answered' } => ({
  kind: 'answered',
  answer,
  verification: verification === 'due' ? 'skipped' : verification,
  complexity,
  tokens: passes.map(({ tokens }) => tokens),
  mode,
})

async function onlyPass(rules: PassRules, thread: Thread, { ask }: PassEffects): Promise<Found | Failed> {
  const only = await ask({ ...firstQuestion(rules), does: 'combined', thread })
  if (only.kind === 'valid')
    return {
      ...{ kind: 'found', answer: only.answer, passes: [only] },
      ...{ complexity: null, verification: null, mode: 'single-pass' },
    }
  return only.kind === 'failed' ? only : malformed(only.why)
}

/** Retries the pass that finds most problems once. */
async function askTwice(question: PassQuestion, rules: PassRules, effects: PassEffects): Promise<ValidPass | Failed> {
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
