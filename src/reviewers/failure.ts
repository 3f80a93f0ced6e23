/** A failed answer: its class, what a person can do about it, and foreign text that is fit to be quoted in it. */
import type { Answer, Failure, FailureClass } from '../schemas/review.ts'
import { asRecord, parseRecord } from '../text/json.ts'
import type { GroupOutcome } from './process.ts'

export type FailedAnswer = Extract<Answer, { kind: 'failed' }>

export const failedAnswer = (failure: Failure): FailedAnswer => ({
  kind: 'failed',
  ...failure,
  thread: null,
  notices: [],
})

type Meaning = {
  /** Of `plan-gate review`. 1: the service failed; 2: no reviewer; 3: no time; 4: no credentials; 5: no verdict. */
  readonly exitCode: 1 | 2 | 3 | 4 | 5
  /** `wait`: with the waits for a rate limit; `retry`: as often as the row allows. */
  readonly retry: 'wait' | 'retry' | 'none'
  /** Not for an account, a limit, or a request that was not accepted. */
  readonly isWorthAnotherPass: boolean
  /** Where nothing better is known. */
  readonly nextStep: string
}

const means = (
  exitCode: Meaning['exitCode'],
  retry: Meaning['retry'],
  isWorthAnotherPass: boolean,
  nextStep: string,
): Meaning => ({ exitCode, retry, isWorthAnotherPass, nextStep })

export const failureClasses: { readonly [failure in FailureClass]: Meaning } = {
  'not-installed': means(2, 'none', false, 'Install it, or use another reviewer (review.routes in plan-gate.yaml).'),
  auth: means(4, 'none', false, 'Log in to it, or set its key; or use another reviewer.'),
  quota: means(1, 'none', false, 'Wait until the limit is reset, add credit, or use another reviewer.'),
  'rate-limited': means(1, 'wait', false, 'Wait a little and try again, or use another reviewer.'),
  timeout: means(
    3,
    'retry',
    true,
    'Try again; if it happens often, raise review.timeout_seconds, review.policy.max_total_seconds and plan.deadline_seconds, or lower review.effort.',
  ),
  transport: means(1, 'retry', true, 'Check the network and the proxy, then try again.'),
  server: means(1, 'retry', true, 'Try again in a few minutes, or use another reviewer.'),
  malformed: means(5, 'none', true, 'Try again, or use another model or another reviewer.'),
  refused: means(1, 'none', true, 'Look at what it objects to in the text, or use another reviewer.'),
  rejected: means(1, 'none', false, 'Check the model and its settings in plan-gate.yaml, or use another reviewer.'),
  crashed: means(1, 'retry', true, 'Try again; if it happens again, use another reviewer.'),
  cancelled: means(1, 'none', false, 'Start it again when you want it.'),
}

export const failureOf = (
  failure: FailureClass,
  why: string,
  nextStep: string | null = null,
  retryAfterMs: number | null = null,
): Failure => ({ failure, why, nextStep: nextStep ?? failureClasses[failure].nextStep, retryAfterMs })

export const cancelledFailure = failureOf('cancelled', 'The review was cancelled.')

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

export const secretsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && /(?:KEY|TOKEN|SECRET|PASSWORD)(?:_?\d+)?$/i.test(name) ? [value] : [],
  )

export type ReviewProgram = {
  readonly name: string
  /** The command, or what has to be so. */
  readonly install: string
  readonly update: string
  /** What a person runs to see it work or fail. */
  readonly probe: string
  /** It counts the tokens of the whole thread, and not those of a turn. */
  readonly countsThread: boolean
}

export type Classified = { readonly failure: Failure; readonly fallback: Fallback | null }

type Fallback = 'new-thread' | 'no-effort' | 'no-schema'

export const unclassified = (...failure: Parameters<typeof failureOf>): Classified => ({
  failure: failureOf(...failure),
  fallback: null,
})

type Reason = readonly [failure: FailureClass, why: string, nextStep?: string | null, fallback?: Fallback]

/** A pattern of a message of the program, or of the service behind it; the message follows `why` after a colon. */
export type FailureRow = readonly [when: RegExp, ...Reason]

/** Why any of the programs fails; `model` is the setting that names its model. */
export const commonReasons = ({ name, update }: ReviewProgram, model: string) =>
  ({
    schema: ['rejected', 'The form of the answer was not accepted', `Use another model (${model}).`, 'no-schema'],
    effort: ['rejected', 'The model does not take this reasoning effort', `Use another model (${model}).`, 'no-effort'],
    fullThread: [
      'rejected',
      'What is to be reviewed, with what the thread holds already, is too long for the model',
      `Review it in parts, or use a model with a larger context (${model}).`,
      'new-thread',
    ],
    quota: ['quota', `The ${name} account has no quota left`],
    rateLimit: ['rate-limited', 'The service asks for fewer requests'],
    refused: ['refused', 'The service refuses what is to be reviewed'],
    brokenOff: ['malformed', 'The answer breaks off', 'Review less at once, or use another reviewer.'],
    server: ['server', 'The service failed'],
    tooOld: ['not-installed', `This ${name} does not know what it is asked for`, updateIt(update)],
  }) as const satisfies { readonly [name: string]: Reason }

const updateIt = (update: string): string => `Update it: ${update}; or use another reviewer.`

/** The first row that fits counts, so the more specific ones come first. null: the message fits none. */
export function classifyBy(
  rows: readonly FailureRow[],
  message: string,
  secrets: readonly string[],
  quote = message,
): Classified | null {
  const row = rows.find(([when]) => when.test(message))
  if (row === undefined) return null
  const [, failure, why, nextStep = null, fallback = null] = row
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

export const tooOld = ({ name, update }: ReviewProgram, missing: readonly string[]): { readonly failure: Failure } => ({
  failure: failureOf(
    'not-installed',
    `This ${name} is too old for reviews: it lacks ${missing.join(', ')}.`,
    updateIt(update),
  ),
})

export function failureOfOutcome(
  { name, install, probe }: Pick<ReviewProgram, 'name' | 'install' | 'probe'>,
  outcome: Exclude<GroupOutcome, { kind: 'ended' }>,
  secrets: readonly string[],
): Failure {
  switch (outcome.kind) {
    case 'timed-out':
      return failureOf('timeout', `${name} did not finish within ${Math.round(outcome.afterMs / 1_000)} s.`)
    case 'silent':
      return failureOf('timeout', `${name} has said nothing for too long.`)
    case 'stopped':
      return failureOf('crashed', `${name} was ended.`)
    case 'cancelled':
      return cancelledFailure
    case 'killed-by':
      return failureOf('crashed', `${name} was ended from outside (${outcome.signal}).`)
    case 'not-found':
    case 'not-started': {
      const why = outcome.kind === 'not-found' ? 'there is no such program' : quoteForeign(outcome.why, secrets)
      const nextStep = `Try \`${probe}\` yourself; install it (${install}), or use another reviewer.`
      return failureOf('not-installed', `${name} could not be started: ${why}.`, nextStep)
    }
  }
}
