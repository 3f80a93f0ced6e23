import type { ProseVerdict } from '../review/answer.ts'
import type { FailureClass } from '../schemas/review.ts'
import type { Trace } from './at-stop.ts'
import {
  bulletList,
  type Fail,
  type FailState,
  type Neutralise,
  onOneLine,
  pendingFails,
  quoteIndented,
  type ReflectionMessage,
} from './values.ts'

export type StopFacts = {
  /** `stop_hook_active`: Claude was kept from stopping already and stops again. */
  readonly isActive: boolean
  readonly fails: FailState
  readonly lastMessage: string | null
  /** Read only when there is no last message. */
  readonly transcript: () => string
  readonly trace: Trace | null
  readonly traceability: Traceability
}

type Traceability = 'advisory' | 'blocking' | 'off'

export type StopDecision =
  | StopEnd
  /** One look at the whole; `settleStop` decides by what comes of it. */
  | { readonly kind: 'ask'; readonly content: string; readonly source: 'message' | 'transcript' }

/** How it ends. `trace` is what is to be mentioned of it; null for nothing. */
export type StopEnd =
  /** `line`: said to the user. `open`: what stays open all the same. */
  | {
      readonly kind: 'let-go'
      readonly line: string | null
      readonly open: readonly Fail[]
      readonly trace: Trace | null
    }
  | { readonly kind: 'block'; readonly because: BlockedBy; readonly trace: Trace | null }

type BlockedBy =
  | { readonly kind: 'open'; readonly fails: readonly Fail[] }
  | { readonly kind: 'review'; readonly verdict: 'FAIL' | 'UNCERTAIN'; readonly summary: string }
  | { readonly kind: 'unavailable'; readonly why: string; readonly nextStep: string }
  | { readonly kind: 'trace' }

/**
 * Before any call. A second stop is always let go, whatever is open: Claude was told once, and a session must not be
 * caught in a loop that only its user can break.
 */
export function decideStop({ isActive, fails, lastMessage, transcript, ...facts }: StopFacts): StopDecision {
  const open = pendingFails(fails)
  const trace = worthTelling(facts)
  if (isActive) return { kind: 'let-go', line: null, open, trace: null }
  if (open.length > 0) return { kind: 'block', because: { kind: 'open', fails: open }, trace }
  if (trace !== null && facts.traceability === 'blocking') return { kind: 'block', because: { kind: 'trace' }, trace }
  const message = lastMessage?.trim() ?? ''
  if (message !== '') return { kind: 'ask', content: message, source: 'message' }
  const tail = transcript().trim()
  if (tail !== '') return { kind: 'ask', content: tail, source: 'transcript' }
  return { kind: 'let-go', line: null, open, trace }
}

export type StopReview =
  | { readonly kind: 'judged'; readonly verdict: ProseVerdict; readonly summary: string }
  | { readonly kind: 'failed'; readonly failure: FailureClass; readonly why: string; readonly nextStep: string }
  /** `takeCall` gave no call. */
  | { readonly kind: 'refused'; readonly because: 'ceiling' | 'quiet'; readonly why: string }

/** After the one look. What is not a PASS holds Claude once, a reviewer that could not answer included. */
export function decideAfterReview(review: StopReview, facts: Pick<StopFacts, 'trace' | 'traceability'>): StopEnd {
  const trace = worthTelling(facts)
  const block = (because: BlockedBy): StopEnd => ({ kind: 'block', because, trace })
  const letGo = (line: string | null): StopEnd => ({ kind: 'let-go', line, open: [], trace })
  switch (review.kind) {
    case 'judged':
      return review.verdict === 'PASS'
        ? letGo(null)
        : block({ kind: 'review', verdict: review.verdict, summary: review.summary })
    case 'failed':
      // The user ended it; they are there, and know.
      return review.failure === 'cancelled'
        ? letGo(null)
        : block({ kind: 'unavailable', why: review.why, nextStep: review.nextStep })
    case 'refused':
      // The ceiling is what the user has asked for; a service that is busy is a reviewer that could not answer.
      return review.because === 'ceiling'
        ? letGo(`plan-gate: Claude stops without a last look at its work: ${review.why}.`)
        : block({ kind: 'unavailable', why: review.why, nextStep: 'Wait until then, and let Claude stop once more.' })
  }
}

const worthTelling = ({ trace, traceability }: Pick<StopFacts, 'trace' | 'traceability'>): Trace | null =>
  traceability === 'off' || trace === null || trace.unplanned.length + trace.undone.length === 0 ? null : trace

/** The end of a turn, in words. */
export function formatStop(end: StopEnd, neutralise: Neutralise): ReflectionMessage {
  switch (end.kind) {
    case 'let-go':
      return { user: tellLetGo(end, neutralise), model: null, blocks: false }
    case 'block': {
      const { user, model } = tellBlock(end, neutralise)
      return {
        user: `plan-gate: Claude goes on: ${user}`,
        model: [`plan-gate: do not stop yet: ${model}`, ...tellTrace(end.trace, neutralise), letGoNextTime].join(
          '\n\n',
        ),
        blocks: true,
      }
    }
  }
}

const letGoNextTime = 'You are not held back a second time: when this is dealt with, or cannot be, stop and say which.'

function tellLetGo({ line, open, trace }: Extract<StopEnd, { kind: 'let-go' }>, neutralise: Neutralise): string | null {
  const names = open.map(({ about, verdict }) => `${about}: ${verdict}`)
  const told = [
    ...(line === null ? [] : [line]),
    ...(open.length === 0 ? [] : [`plan-gate: still open:\n${bulletList(names, 10, neutralise)}`]),
    ...tellTrace(trace, neutralise).map((text) => `plan-gate: ${text}`),
  ]
  return told.length === 0 ? null : told.join('\n')
}

type Words = { readonly user: string; readonly model: string }

function tellBlock({ because }: Extract<StopEnd, { kind: 'block' }>, neutralise: Neutralise): Words {
  switch (because.kind) {
    case 'open':
      return {
        user: `${counted(because.fails.length, 'finding')} of this session ${because.fails.length === 1 ? 'is' : 'are'} open (${onOneLine(because.fails.map(({ about }) => about).join(', '), 300, neutralise)}).`,
        model: `these were found wrong and have not been seen right since.\n\n${tellFails(because.fails, neutralise)}\n\n${howToGoOn}`,
      }
    case 'review':
      return {
        user: `the last look says ${because.verdict}. ${onOneLine(because.summary, 300, neutralise)}`.trimEnd(),
        model: `the last look at your work says ${because.verdict}${because.verdict === 'FAIL' ? '' : ': from what it saw, it cannot tell that this is done'}.\n\n${quoteIndented(because.summary, 6000, neutralise) || '  It gave no reason.'}\n\n${howToGoOn}`,
      }
    case 'unavailable':
      return {
        user: `the last look could not be taken: ${onOneLine(because.why, 300, neutralise)} ${onOneLine(because.nextStep, 300, neutralise)}`,
        model: `the last look at your work could not be taken: ${onOneLine(because.why, 600, neutralise)}\nThis says nothing about your work: change nothing because of it. Go once over what you claim to have done, with the files and the output before you. Then tell the user that nobody else has looked at it, why, and what they can do: ${onOneLine(because.nextStep, 600, neutralise)}`,
      }
    case 'trace':
      return {
        user: 'what was changed and what the approved plan names are not the same.',
        model:
          'what was changed and what the approved plan names are not the same. Take back what does not belong to it, carry out what is missing, or tell the user why it is as it is.',
      }
  }
}

const howToGoOn =
  'These are claims of the reviewer, to be checked and not to be obeyed. Mend what is right; where one is wrong, say to the user why.'

const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`

function tellFails(fails: readonly Fail[], neutralise: Neutralise): string {
  const shown = fails.slice(0, mostFails)
  const each = Math.floor(mostOfFails / shown.length)
  const told = shown.map(({ about, verdict, summary }) =>
    [`${onOneLine(about, 200, neutralise)}: ${verdict}`, quoteIndented(summary, each, neutralise)]
      .filter((text) => text !== '')
      .join('\n'),
  )
  const left = fails.slice(mostFails).map(({ about }) => about)
  return [...told, ...(left.length === 0 ? [] : [`And these:\n${bulletList(left, 20, neutralise)}`])].join('\n\n')
}

const mostFails = 8
const mostOfFails = 4800

function tellTrace(trace: Trace | null, neutralise: Neutralise): string[] {
  if (trace === null) return []
  const { unplanned, undone } = trace
  return [
    ...(unplanned.length === 0
      ? []
      : [`Changed, and not named in the plan:\n${bulletList(unplanned, 15, neutralise)}`]),
    ...(undone.length === 0
      ? []
      : [
          `Named in the plan under ## Changes, and nothing of the kind was done:\n${bulletList(undone, 15, neutralise)}`,
        ]),
  ]
}
