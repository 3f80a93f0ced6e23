import type { Answer, Failure, FailureClass } from '../schemas/review.ts'
import { asRecord, parseRecord } from '../text/json.ts'
import type { GroupOutcome } from './process.ts'

/** What a program that reviews says when it fails, and how its process ends, as classes of failure. */

export type ReviewProgram = {
  readonly name: string
  /** A whole sentence, as the next one is. */
  readonly install: string
  readonly update: string
  /** What a person runs to see it work or fail. */
  readonly probe: string
  readonly reinstall: string
  /** The setting that names its model. */
  readonly model: string
  /** It counts the tokens of the whole thread, and not those of a turn. */
  readonly countsThread: boolean
}

export type Classified = { readonly failure: Failure; readonly fallback: Fallback | null }

/** What to leave out when asking again. */
type Fallback = 'new-thread' | 'no-effort' | 'no-schema'

export const unclassified = (failure: FailureClass, why: string, nextStep: string): Classified => ({
  failure: failureOf(failure, why, nextStep),
  fallback: null,
})

/** `why`: the message follows after a colon. */
type Reason = {
  readonly failure: FailureClass
  readonly why: string
  readonly nextStep: string
  readonly fallback: Fallback | null
}

export const reason = (
  failure: FailureClass,
  why: string,
  nextStep: string,
  fallback: Fallback | null = null,
): Reason => ({ failure, why, nextStep, fallback })

export const otherReviewer = 'or use another reviewer'

/** Why any of the programs fails. */
export const commonReasons = ({ name, model, update }: ReviewProgram) => ({
  schema: reason(
    'rejected',
    'The form of the answer was not accepted',
    `Use another model (${model}), ${otherReviewer}.`,
    'no-schema',
  ),
  effort: reason(
    'rejected',
    'The model does not take this reasoning effort',
    `Use another model (${model}).`,
    'no-effort',
  ),
  fullThread: reason(
    'rejected',
    'What is to be reviewed, with what the thread holds already, is too long for the model',
    `Review it in parts, or use a model with a larger context (${model}).`,
    'new-thread',
  ),
  quota: reason(
    'quota',
    `The ${name} account has no quota left`,
    `Wait until the limit is reset, add credit, ${otherReviewer}.`,
  ),
  rateLimit: reason(
    'rate-limited',
    'The service asks for fewer requests',
    `Wait a little and try again, ${otherReviewer}.`,
  ),
  refused: reason(
    'refused',
    'The service refuses what is to be reviewed',
    `Look at what it objects to in the text, ${otherReviewer}.`,
  ),
  brokenOff: reason('malformed', 'The answer breaks off', `Review less at once, ${otherReviewer}.`),
  server: reason('server', 'The service failed', `Try again in a few minutes, ${otherReviewer}.`),
  tooOld: reason('not-installed', `This ${name} does not know what it is asked for`, `${update}; ${otherReviewer}.`),
})

/** A pattern of a message of the program, or of the service behind it. */
export type FailureRow = readonly [when: RegExp, reason: Reason]

/** The first row that fits counts, so the more specific ones come first. null: the message fits none. */
export function classifyBy(
  rows: readonly FailureRow[],
  message: string,
  secrets: readonly string[],
  quote = message,
): Classified | null {
  const [, known] = rows.find(([when]) => when.test(message)) ?? []
  if (known === undefined) return null
  const { failure, why, nextStep, fallback } = known
  const retryAfterMs = failure === 'rate-limited' ? retryAfterIn(message) : null
  return { failure: failureOf(failure, withQuote(why, quote, secrets), nextStep, retryAfterMs), fallback }
}

export function withQuote(why: string, message: string, secrets: readonly string[]): string {
  // Some errors of a server arrive as its whole body.
  const inner = message.startsWith('{') ? asRecord(parseRecord(message)?.error).message : undefined
  const quote = quoteForeign(typeof inner === 'string' ? inner : message, secrets)
  return quote === '' ? `${why}.` : `${why}: ${quote}`
}

function retryAfterIn(message: string): number | null {
  const [, amount, unit = ''] = /(?:try again|retry)(?: after| in)? (\d+(?:\.\d+)?) ?(ms|s|m)\w*/i.exec(message) ?? []
  return amount === undefined ? null : Math.round(Number(amount) * (units[unit.toLowerCase()] ?? 1))
}

const units: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000 }

export const retryHint = 'Try again; if it happens again, use another reviewer.'

type Named = Pick<ReviewProgram, 'name' | 'install' | 'probe' | 'reinstall'>

export function failureOfOutcome(
  { name, install, probe, reinstall }: Named,
  outcome: Exclude<GroupOutcome, { kind: 'ended' }>,
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
      return failureOf('not-installed', `${name} could not be started: there is no such program.`, install)
    case 'not-started': {
      const why = `${name} could not be started: ${quoteForeign(outcome.why, secrets)}.`
      return failureOf('not-installed', why, `Try \`${probe}\` yourself; ${reinstall}.`)
    }
  }
}

/** A failed answer, and foreign text that is fit to be quoted in it. */

export type FailedAnswer = Extract<Answer, { kind: 'failed' }>

export const failedAnswer = (failure: Failure): FailedAnswer => ({
  kind: 'failed',
  ...failure,
  thread: null,
  notices: [],
})

export const failureOf = (
  failure: FailureClass,
  why: string,
  nextStep: string,
  retryAfterMs: number | null = null,
): Failure => ({ failure, why, nextStep, retryAfterMs })

/** The keys that give a pass, and with it the review, more time, or let it need less. */
export const timeoutRemedy =
  'Try again; if it happens often, raise review.timeout_seconds, review.policy.max_total_seconds and plan.deadline_seconds, or lower review.effort.'

export const cancelledFailure = failureOf('cancelled', 'The review was cancelled.', 'Start it again when you want it.')
const maxQuoteLength = 300

/** Text of a server or a program as one printable line, without known secrets. */
export function quoteForeign(text: string, secrets: readonly string[]): string {
  const line = withoutSecrets(text.slice(0, 4_000), secrets)
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return line.length > maxQuoteLength ? `${line.slice(0, maxQuoteLength - 1).trimEnd()}…` : line
}

/** A shorter one is a dummy for a local server, such as `ollama` or `none`; replacing it would garble the text. */
const minSecretLength = 12

export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret.length >= minSecretLength)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)

/** The values that must not be repeated in a message. */
export const secretsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && /(?:KEY|TOKEN|SECRET|PASSWORD)(?:_?\d+)?$/i.test(name) ? [value] : [],
  )
