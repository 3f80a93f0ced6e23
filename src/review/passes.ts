import type { EffectiveConfig } from '../config/schema.ts'
import { failureClasses } from '../reviewers/failure.ts'
import type { AnsweredFinding, Complexity, Failure, ReviewerAnswer, Thread, ThreadAfter } from '../schemas/review.ts'
import { classifyComplexity, type Measure, modelSignal } from './complexity.ts'
import { isBlocking, uniteFindings } from './findings.ts'
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
type Answered = PassesOutcome & { readonly kind: 'answered' }
export type ValidPass = PassAnswer & { readonly kind: 'valid' }

/**
 * One pass where that is enough, otherwise three: understand, find, verify; on a thread that has understood the content
 * in an earlier round, two. A pass that fails reduces the depth; the outcome is always a verdict that a reviewer gave, or
 * a failure.
 */
export async function runPasses(rules: PassRules, effects: PassEffects): Promise<PassesOutcome> {
  const looking = look(rules, effects)
  if (rules.beside !== null) return readTogether(looking, rules.beside, rules, effects)
  const found = await looking
  return found.kind === 'failed' ? found : verifyIfDue(found, rules, effects)
}

async function look(rules: PassRules, effects: PassEffects): Promise<Found | Failed> {
  if (rules.single !== null) return onlyPass(rules, rules.thread, effects)
  if (isTimeShort(rules, effects, 0)) {
    effects.notice('There is not enough time for several passes, so there is a single one.')
    return onlyPass(rules, rules.thread, effects)
  }
  return rules.isUnderstood ? findOnThread(rules, effects) : understandFirst(rules, effects)
}

const foundBy = (
  answer: ReviewerAnswer,
  passes: readonly PassAnswer[],
  complexity: Complexity | null,
  verification: Found['verification'],
  mode: Found['mode'] = 'multi-pass',
): Found => ({ kind: 'found', answer, passes, complexity, verification, mode })

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
  if (complexity === 'low' && rules.multipass.adaptive && first.kind === 'valid')
    return foundBy(first.answer, [first], complexity, null)

  const large = isLarge(complexity, rules)
  const question = { ...freshQuestion, pass: 2, passes: 3, does: 'review', large } as const
  const [looked, other] = await Promise.all([
    askTwice({ ...question, handedOn: notesOf(first), thread, continues: thread.kind === 'resume' }, rules, effects),
    // As if they ran one after the other: a service may queue what it is asked.
    rules.hasSecondReader && effects.timeLeftMs() > 4 * first.tookMs ? ask(question) : null,
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

async function findOnThread(rules: PassRules, effects: PassEffects): Promise<Found | Failed> {
  const found = await askTwice({ ...firstQuestion(rules), passes: 2, does: 'review' }, rules, effects)
  if (found.kind === 'failed') return found
  const complexity = await complexityAfter(found, rules, effects)
  const isEnough = complexity === 'low' && rules.multipass.adaptive
  return foundBy(found.answer, [found], complexity, isEnough ? null : 'due')
}

const firstQuestion = (rules: PassRules) => ({ ...freshQuestion, large: isLarge(null, rules), thread: rules.thread })

async function verifyIfDue(found: Found, rules: PassRules, effects: PassEffects): Promise<Answered | Failed> {
  const { answer, passes, complexity, verification, mode } = found
  const tokens = passes.map((pass) => pass.tokens)
  if (verification !== 'due') return { kind: 'answered', answer, verification, complexity, tokens, mode }
  // What one of the readers holds against it counts until somebody has refuted it.
  const skipped = (why: string): Answered => {
    effects.notice(`The findings were not verified: ${why}`)
    return { kind: 'answered', answer, verification: 'skipped', complexity, tokens, mode }
  }
  if (isTimeShort(rules, effects, Math.max(...passes.map(({ tookMs }) => tookMs))))
    return skipped('there was no time left for that.')
  const pass = passes.length + 1
  const large = isLarge(complexity, rules)
  // By a fresh reader, so that nobody grades their own work.
  const question = (of: ReviewerAnswer): PassQuestion => ({
    ...freshQuestion,
    ...{ pass, passes: pass, does: 'verify', large, handedOn: handOn(of) },
  })
  const once = await effects.ask(question(answer))
  if (once.kind === 'failed' && once.failure === 'cancelled') return once
  if (once.kind !== 'valid') return skipped(once.why)
  const isAskedTwice = once.answer.findings.some(rules.isDoubtful) && !isTimeShort(rules, effects, once.tookMs)
  const twice = isAskedTwice ? await effects.ask(question(once.answer)) : once
  const verified = (twice.kind === 'valid' ? twice : once).answer
  return {
    kind: 'answered',
    answer: await withSecond(answer, verified, question, rules, effects),
    verification: 'passed',
    complexity,
    tokens: [...tokens, once.tokens],
    mode: 'multi-pass',
  }
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
  const large = isLarge(null, rules)
  const question: PassQuestion = isSingle
    ? { ...freshQuestion, does: 'combined', large }
    : { ...freshQuestion, passes: 3, does: 'review', large }
  const [lead, ...read] = await gather<Found | PassAnswer | Failed>(
    [
      { answer: looking, stop: stopLead, expectedMs: null },
      ...readers.map(({ ask, stop, expectedMs }) => ({ answer: ask(question), stop, expectedMs })),
    ],
    ({ kind }) => kind === 'found' || kind === 'valid',
  )
  if (lead?.kind === 'failed' && lead.failure === 'cancelled') return lead
  const [first, ...rest] = readers.flatMap((reader, index): Looked[] => {
    const pass = read[index]
    return pass?.kind === 'valid' ? [{ reader, pass }] : []
  })
  const silent = [rules, ...readers].flatMap(({ name }, index) => {
    const given = [lead, ...read][index]
    return given?.kind === 'found' || given?.kind === 'valid'
      ? []
      : [{ name, verdict: null, why: given?.why ?? notAwaited }]
  })
  if (lead?.kind !== 'found' && first === undefined)
    return lead?.kind === 'failed' ? lead : malformed('nobody answered')
  for (const { name, why } of silent) effects.notice(`The reader ${name} has not answered: ${why}`)
  const isLed = lead?.kind === 'found'
  const outcome = isLed
    ? await together(lead, rules.name, first === undefined ? [] : [first, ...rest], rules, effects)
    : await ledBy(first as Looked, rest, rules, effects)
  if (outcome.kind === 'failed') return outcome
  const all = { ...outcome, readers: [...(outcome.readers ?? []), ...silent] }
  return isLed || first === undefined ? all : { ...all, by: first.reader.name }
}

const notAwaited = 'it was not waited for any longer, since most of the readers had answered.'

/** Where the row that was to lead has failed. */
const ledBy = ({ reader, pass }: Looked, rest: readonly Looked[], rules: PassRules, effects: PassEffects) => {
  const found =
    rules.single === null
      ? foundBy(pass.answer, [pass], 'medium', 'due')
      : foundBy(pass.answer, [pass], 'medium', null, 'single-pass')
  return together(found, reader.name, rest, rules, { ...effects, ask: reader.ask })
}

async function together(
  lead: Found,
  name: string,
  others: readonly Looked[],
  rules: PassRules,
  effects: PassEffects,
): Promise<Answered | Failed> {
  const all = uniteAnswers(
    withSource(lead.answer, name),
    others.map(({ reader, pass }) => withSource(pass.answer, reader.name)),
  )
  const isAgreed = others.every(({ pass }) => pass.answer.verdict === 'APPROVED') && !all.findings.some(isBlocking)
  const isDue = lead.verification === null && lead.mode === 'multi-pass' && !isAgreed
  const outcome = await verifyIfDue({ ...lead, answer: all, ...(isDue ? { verification: 'due' } : {}) }, rules, effects)
  if (outcome.kind === 'failed') return outcome
  const isVerified = outcome.verification === 'passed'
  const findings = withSources(outcome.answer.findings, all.findings, name)
  const { answer, reports } = await askReaders(
    { ...outcome.answer, findings },
    all.findings,
    others,
    async (reader, own) =>
      isVerified
        ? reader.ask({ ...freshQuestion, does: 'verify', large: lead.complexity === 'high', handedOn: handOn(own) })
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

async function onlyPass(rules: PassRules, thread: Thread, { ask }: PassEffects): Promise<Found | Failed> {
  const only = await ask({ ...firstQuestion(rules), does: 'combined', thread })
  if (only.kind === 'valid') return foundBy(only.answer, [only], null, null, 'single-pass')
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

const malformed = (why: string): Failed => ({
  kind: 'failed',
  failure: 'malformed',
  why: `The reviewer answered, but not with a verdict: ${why}`,
  nextStep: 'Try again; if it stays like that, choose another model or backend.',
  retryAfterMs: null,
})

const isWorthAnotherPass = ({ failure }: Failure): boolean => failureClasses[failure].isWorthAnotherPass

async function complexityAfter(
  first: PassAnswer & { kind: 'valid' | 'malformed' },
  { measure, multipass: { thresholds } }: PassRules,
  { countTokens }: PassEffects,
): Promise<Complexity> {
  if (first.kind === 'malformed') return classifyComplexity(measure, 'medium')
  const scope = await countTokens(first.text, [thresholds.low_scope_tokens, thresholds.high_scope_tokens])
  return classifyComplexity(measure, modelSignal(first.answer.complexity, scope, thresholds))
}

const isLarge = (complexity: Complexity | null, { measure }: PassRules): boolean =>
  complexity === 'high' || measure.level === 'high'

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
