import type { Failure, FailureClass } from '../schemas/review.ts'

export const failureOf = (
  failure: FailureClass,
  why: string,
  more: { readonly nextStep?: string; readonly retryAfterMs?: number | null } = {},
): Failure => ({
  failure,
  why,
  nextStep: more.nextStep ?? nextSteps[failure],
  retryAfterMs: more.retryAfterMs ?? null,
})

const nextSteps: { readonly [failure in FailureClass]: string } = {
  'not-installed': 'Use another reviewer.',
  auth: 'Check OPENAI_API_KEY: whether it is still valid, and for the right organisation or project.',
  quota: 'Add credit or raise the limit in the account of OPENAI_API_KEY, or use another reviewer.',
  'rate-limited': 'Wait a little and save the plan again, or use another reviewer.',
  timeout: 'Try again, raise review.timeout_seconds, or use a faster model (review.models).',
  transport: 'Check the network, the proxy and OPENAI_BASE_URL, then try again.',
  server: 'Try again in a few minutes, or use another reviewer.',
  malformed: 'Try again, or use another model (review.models).',
  refused: 'Look at what the reviewer objects to in the text, or use another reviewer.',
  rejected: 'Check the model under review.models, and whether it takes a text of this length.',
  crashed: 'Try again; if it happens again, use another reviewer and report it.',
  cancelled: 'Start the review again when you are ready.',
}

/** What an error body says; '' for what it does not. Gateways wrap OpenAI's form in several ways. */
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

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const asRecord = (value: unknown): { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null ? (value as { [key: string]: unknown }) : {}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  return Array.isArray(value) && value.length > 0 ? JSON.stringify(value) : ''
}

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
