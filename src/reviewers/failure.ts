/** A failed answer, and foreign text that is fit to be quoted in it. */
import type { Answer, Failure, FailureClass } from '../schemas/review.ts'

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
