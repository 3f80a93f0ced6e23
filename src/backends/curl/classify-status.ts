import type { Failure, FailureClass } from '../../schemas/backend.ts'
import { failureOf } from './failure-of.ts'
import type { ApiError } from './parse-api-error.ts'

type Refusal = {
  readonly status: number
  readonly error: ApiError
  readonly isHtml: boolean
  /** Who answered, for the message. */
  readonly host: string
  /** What it said, fit to be quoted; '' for nothing. */
  readonly said: string
  readonly retryAfterMs: number | null
}

type Row = {
  readonly holds: (refusal: Refusal) => boolean
  readonly failure: FailureClass
  readonly why: (refusal: Refusal) => string
  readonly nextStep?: string
}

/** What a reply that is no answer means: the first row that holds. Codes come first, being more exact than a status. */
export function classifyStatus(refusal: Refusal): Failure {
  const row = rows.find(({ holds }) => holds(refusal)) ?? otherwise
  const said = refusal.said === '' ? '' : ` It says: ${refusal.said}`
  return failureOf(row.failure, `${row.why(refusal)}${said}`, {
    ...(row.nextStep === undefined ? {} : { nextStep: row.nextStep }),
    retryAfterMs: row.failure === 'rate-limited' || row.failure === 'server' ? refusal.retryAfterMs : null,
  })
}

const named =
  (pattern: RegExp) =>
  ({ error }: Refusal): boolean =>
    pattern.test(error.code) || pattern.test(error.type)

const status =
  (...expected: readonly number[]) =>
  (refusal: Refusal): boolean =>
    expected.includes(refusal.status)

const rows: readonly Row[] = [
  {
    holds: named(/^(?:insufficient_quota|quota_exceeded|billing_\w+|\w+_(?:spend|usage)_limit_exceeded)$/),
    failure: 'quota',
    why: ({ host, status }) => `The account at ${host} has no quota left (${status}).`,
  },
  {
    holds: named(/^(?:content_policy_violation|content_filter|invalid_prompt)$/),
    failure: 'refused',
    why: ({ host }) => `${host} did not let the text through to the model.`,
  },
  {
    holds: named(/^context_length_exceeded$/),
    failure: 'rejected',
    why: () => 'The text is longer than what the model can read.',
    nextStep: 'Shorten what is reviewed, or use a model that reads more (review.models).',
  },
  {
    holds: named(/^model_not_found$/),
    failure: 'rejected',
    why: ({ host, status }) => `${host} does not have the model (${status}).`,
    nextStep: 'Set review.models to models that this account can use.',
  },
  {
    holds: (refusal) => refusal.status === 407 || (refusal.status === 403 && refusal.isHtml),
    failure: 'transport',
    why: ({ host, status }) => `Something on the way to ${host} turned the request away (${status}), probably a proxy.`,
  },
  {
    holds: status(401, 403),
    failure: 'auth',
    why: ({ host, status }) => `${host} does not accept the key (${status}).`,
  },
  {
    holds: status(402),
    failure: 'quota',
    why: ({ host, status }) => `The account at ${host} has to be paid for first (${status}).`,
  },
  {
    holds: (refusal) => refusal.status === 429 || named(/^rate_limit_exceeded$/)(refusal),
    failure: 'rate-limited',
    why: ({ host, status }) => `${host} asks for fewer requests (${status}).`,
  },
  {
    holds: (refusal) =>
      refusal.status === 408 || refusal.status === 409 || refusal.status >= 500 || named(/^server_error$/)(refusal),
    failure: 'server',
    why: ({ host, status }) => `${host} has trouble of its own (${status}).`,
  },
  {
    holds: status(404, 405),
    failure: 'rejected',
    why: ({ host, status }) => `${host} does not know the model or the address (${status}).`,
    nextStep: 'Check OPENAI_BASE_URL (it usually ends in /v1) and the model under review.models.',
  },
  {
    holds: status(413),
    failure: 'rejected',
    why: ({ host, status }) => `The text is longer than what ${host} takes (${status}).`,
    nextStep: 'Shorten what is reviewed.',
  },
]

const otherwise: Row = {
  holds: () => true,
  failure: 'rejected',
  why: ({ host, status }) => `${host} did not accept the request (${status}).`,
}
