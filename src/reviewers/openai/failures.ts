import type { Failure, FailureClass } from '../../schemas/review.ts'
import { asRecord } from '../../text/json.ts'
import { timeoutRemedy } from '../failure.ts'

export const openaiFailure = (
  failure: FailureClass,
  why: string,
  more: { readonly nextStep?: string; readonly retryAfterMs?: number | null } = {},
): Failure => ({ failure, why, nextStep: more.nextStep ?? nextSteps[failure], retryAfterMs: more.retryAfterMs ?? null })

const nextSteps: { readonly [failure in FailureClass]: string } = {
  'not-installed': 'Use another reviewer.',
  auth: 'Check OPENAI_API_KEY: whether it is still valid, and for the right organisation or project.',
  quota: 'Add credit or raise the limit in the account of OPENAI_API_KEY, or use another reviewer.',
  'rate-limited': 'Wait a little and save the plan again, or use another reviewer.',
  timeout: timeoutRemedy,
  transport: 'Check the network, the proxy and OPENAI_BASE_URL, then try again.',
  server: 'Try again in a few minutes, or use another reviewer.',
  malformed: 'Try again, or use another model (review.models).',
  refused: 'Look at what the reviewer objects to in the text, or use another reviewer.',
  rejected: 'Check the model under review.models, and whether it takes a text of this length.',
  crashed: 'Try again; if it happens again, use another reviewer and report it.',
  cancelled: 'Start the review again when you are ready.',
}

/** The fields of an error body, '' where one is missing. Gateways wrap OpenAI's form in several ways. */
export type ApiError = {
  readonly code: string
  readonly type: string
  readonly param: string
  readonly message: string
}

export function parseApiError(body: unknown): ApiError {
  const outer = asRecord(body)
  const inner = Array.isArray(outer.error) ? outer.error[0] : outer.error
  const error = typeof inner === 'object' && inner !== null ? asRecord(inner) : outer
  return {
    code: textOf(error.code),
    type: textOf(error.type),
    param: textOf(error.param),
    message: [error.message, inner, outer.message, outer.detail].map(textOf).find((text) => text !== '') ?? '',
  }
}

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  return Array.isArray(value) && value.length > 0 ? JSON.stringify(value) : ''
}

type ErrorStatus = {
  readonly status: number
  readonly error: ApiError
  readonly isHtml: boolean
  readonly host: string
  /** The server's message, fit to be quoted; '' for none. */
  readonly quote: string
  readonly retryAfterMs: number | null
}

type FailureRow = {
  readonly holds: (reply: ErrorStatus) => boolean
  readonly failure: FailureClass
  readonly why: (reply: ErrorStatus) => string
  readonly nextStep?: string
}

/** The failure that an error status means: the first row that holds. Codes come first, being more exact than a status. */
export function classifyStatus(reply: ErrorStatus): Failure {
  const row = rows.find(({ holds }) => holds(reply)) ?? otherwise
  const quote = reply.quote === '' ? '' : ` It says: ${reply.quote}`
  return openaiFailure(row.failure, `${row.why(reply)}${quote}`, {
    ...(row.nextStep === undefined ? {} : { nextStep: row.nextStep }),
    retryAfterMs: row.failure === 'rate-limited' || row.failure === 'server' ? reply.retryAfterMs : null,
  })
}

const named =
  (pattern: RegExp) =>
  ({ error }: ErrorStatus): boolean =>
    pattern.test(error.code) || pattern.test(error.type)

const status =
  (...expected: readonly number[]) =>
  (reply: ErrorStatus): boolean =>
    expected.includes(reply.status)

const rows: readonly FailureRow[] = [
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
    holds: (reply) => reply.status === 407 || (reply.status === 403 && reply.isHtml),
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
    holds: (reply) => reply.status === 429 || named(/^rate_limit_exceeded$/)(reply),
    failure: 'rate-limited',
    why: ({ host, status }) => `${host} asks for fewer requests (${status}).`,
  },
  {
    holds: (reply) =>
      reply.status === 408 || reply.status === 409 || reply.status >= 500 || named(/^server_error$/)(reply),
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

const otherwise: FailureRow = {
  holds: () => true,
  failure: 'rejected',
  why: ({ host, status }) => `${host} did not accept the request (${status}).`,
}
