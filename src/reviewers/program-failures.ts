/** What a program that reviews says when it fails, and how its process ends, as classes of failure. */
import type { Failure, FailureClass } from '../schemas/review.ts'
import { asRecord, parseRecord } from '../text/json.ts'
import { cancelledFailure, failureOf, quoteForeign, timeoutRemedy } from './failure.ts'
import type { GroupOutcome } from './process.ts'

export type Classified = { readonly failure: Failure; readonly fallback: Fallback | null }

/** What to leave out when asking again. */
export type Fallback = 'new-thread' | 'no-effort' | 'no-schema'

export type FailureRow = {
  /** Matches a message of the program or of the service behind it. */
  readonly when: RegExp
  readonly failure: FailureClass
  /** The message follows after a colon. */
  readonly why: string
  readonly nextStep: string
  readonly fallback?: Fallback
}

/** The first row that fits counts, so the more specific ones come first. null: the message fits none. */
export function classifyBy(
  rows: readonly FailureRow[],
  message: string,
  secrets: readonly string[],
  quote = message,
): Classified | null {
  const row = rows.find(({ when }) => when.test(message))
  if (row === undefined) return null
  return {
    failure: failureOf(row.failure, withQuote(row.why, quote, secrets), row.nextStep, retryAfterIn(row, message)),
    fallback: row.fallback ?? null,
  }
}

export function withQuote(why: string, message: string, secrets: readonly string[]): string {
  // Some errors of a server arrive as its whole body.
  const inner = message.startsWith('{') ? asRecord(parseRecord(message)?.error).message : undefined
  const quote = quoteForeign(typeof inner === 'string' ? inner : message, secrets)
  return quote === '' ? `${why}.` : `${why}: ${quote}`
}

function retryAfterIn({ failure }: FailureRow, message: string): number | null {
  if (failure !== 'rate-limited') return null
  const [, amount, unit] = /(?:try again|retry)(?: after| in)? (\d+(?:\.\d+)?) ?(ms|s|m)\w*/i.exec(message) ?? []
  if (amount === undefined || unit === undefined) return null
  return Math.round(Number(amount) * (units[unit.toLowerCase()] ?? 1))
}

const units: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000 }

export type ReviewProgram = {
  readonly name: string
  /** A whole sentence. */
  readonly install: string
  /** What a person runs to see it work or fail. */
  readonly probe: string
  readonly reinstall: string
}

export const retryHint = 'Try again; if it happens again, use another reviewer.'

type NotEnded = Exclude<GroupOutcome, { kind: 'ended' }>

export function failureOfOutcome(
  { name, install, probe, reinstall }: ReviewProgram,
  outcome: NotEnded,
  secrets: readonly string[],
): Failure {
  switch (outcome.kind) {
    case 'timed-out':
      return failureOf(
        'timeout',
        `${name} did not finish within ${Math.round(outcome.afterMs / 1_000)} s.`,
        timeoutRemedy,
      )
    case 'silent':
      return failureOf('timeout', `${name} has said nothing for too long.`, timeoutRemedy)
    case 'stopped':
      return failureOf('crashed', `${name} was ended.`, retryHint)
    case 'cancelled':
      return cancelledFailure
    case 'killed-by':
      return failureOf('crashed', `${name} was ended from outside (${outcome.signal}).`, retryHint)
    case 'not-found':
      return failureOf('not-installed', `There is no ${name} where it was.`, install)
    case 'not-started':
      return failureOf(
        'not-installed',
        `${name} could not be started: ${quoteForeign(outcome.why, secrets)}.`,
        `Try \`${probe}\` yourself; ${reinstall}.`,
      )
  }
}

/** The failure of a program that did not even show its help. */
export function failureOfHelp(program: ReviewProgram, outcome: GroupOutcome): Failure {
  const { name, probe, reinstall } = program
  switch (outcome.kind) {
    case 'cancelled':
      return cancelledFailure
    case 'timed-out':
    case 'silent':
      return failureOf(
        'timeout',
        `${name} did not even show its help in time.`,
        `Try \`${probe}\` yourself; or use another reviewer.`,
      )
    default:
      return failureOf('not-installed', `${name} does not run.`, `Try \`${probe}\` yourself; ${reinstall}.`)
  }
}
