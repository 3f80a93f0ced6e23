import type { Failure, FailureClass } from '../../schemas/review.ts'
import { asRecord } from '../../text/json.ts'
import { timeoutRemedy } from '../failure.ts'

/** What the settings are called that a message sends people to. */
export type SettingNames = {
  readonly baseUrl: string
  /** null: no key is sent. */
  readonly key: string | null
  readonly model: string
}

export const openaiFailure = (
  failure: FailureClass,
  why: string,
  names: SettingNames,
  more: { readonly nextStep?: string; readonly retryAfterMs?: number | null } = {},
): Failure => ({
  failure,
  why,
  nextStep: more.nextStep ?? nextSteps[failure](names),
  retryAfterMs: more.retryAfterMs ?? null,
})

const nextSteps: { readonly [failure in FailureClass]: (names: SettingNames) => string } = {
  'not-installed': () => 'Use another reviewer.',
  auth: ({ key }) =>
    key === null
      ? 'The server needs a key: name the variable that has it as api_key_env of the row.'
      : `Check ${key}: whether it is still valid, and for the right organisation or project.`,
  quota: ({ key }) =>
    `Add credit or raise the limit in the account${key === null ? '' : ` of ${key}`}, or use another reviewer.`,
  'rate-limited': () => 'Wait a little and save the plan again, or use another reviewer.',
  timeout: () => timeoutRemedy,
  transport: ({ baseUrl }) => `Check the network, the proxy and ${baseUrl}, then try again.`,
  server: () => 'Try again in a few minutes, or use another reviewer.',
  malformed: ({ model }) => `Try again, or use another model (${model}).`,
  refused: () => 'Look at what the reviewer objects to in the text, or use another reviewer.',
  rejected: ({ model }) => `Check ${model}: whether the model is there, and takes a text of this length.`,
  crashed: () => 'Try again; if it happens again, use another reviewer and report it.',
  cancelled: () => 'Start the review again when you are ready.',
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

/** Servers say it with 400 and with 404, and few of them with a code. */
export const isUnknownModel = ({ code, message }: ApiError): boolean =>
  /^(?:model_not_found|DeploymentNotFound)$/.test(code) || unknownModel.test(message.slice(0, 2_000))

const unknownModel =
  /\bmodel\b.{0,200}\b(?:not found|(?:does|do) not exist|is not (?:a )?(?:valid|available))|not a valid model|unknown model|no endpoints found for/i

type ErrorStatus = {
  readonly status: number
  readonly model: string
  readonly names: SettingNames
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
  readonly nextStep?: (names: SettingNames) => string
}

/** The failure that an error status means: the first row that holds. Codes come first, being more exact than a status. */
export function classifyStatus(reply: ErrorStatus): Failure {
  const row = rows.find(({ holds }) => holds(reply)) ?? otherwise
  const quote = reply.quote === '' ? '' : ` It says: ${reply.quote}`
  return openaiFailure(row.failure, `${row.why(reply)}${quote}`, reply.names, {
    ...(row.nextStep === undefined ? {} : { nextStep: row.nextStep(reply.names) }),
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
    why: ({ model }) => `The text is longer than what ${model} can read.`,
    nextStep: ({ model }) => `Shorten what is reviewed, or use a model that reads more (${model}).`,
  },
  {
    holds: ({ status, error }) => status < 500 && isUnknownModel(error),
    failure: 'rejected',
    why: ({ host, status, model }) => `${host} does not have the model ${model} (${status}).`,
    nextStep: ({ model }) => `Set ${model} to one that this server has, and this account can use.`,
  },
  {
    holds: (reply) => reply.status === 407 || (reply.status === 403 && reply.isHtml),
    failure: 'transport',
    why: ({ host, status }) => `Something on the way to ${host} turned the request away (${status}), probably a proxy.`,
  },
  {
    holds: status(401, 403),
    failure: 'auth',
    why: ({ host, status, names }) =>
      `${host} ${names.key === null ? 'needs a key, and none is sent' : 'does not accept the key'} (${status}).`,
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
    why: ({ host, status }) => `${host} failed (${status}).`,
  },
  {
    holds: status(404, 405),
    failure: 'rejected',
    why: ({ host, status, model }) => `${host} does not know the model ${model} or the address (${status}).`,
    nextStep: ({ baseUrl, model }) => `Check ${baseUrl} (it usually ends in /v1) and ${model}.`,
  },
  {
    holds: status(413),
    failure: 'rejected',
    why: ({ host, status }) => `The text is longer than what ${host} takes (${status}).`,
    nextStep: () => 'Shorten what is reviewed.',
  },
]

const otherwise: FailureRow = {
  holds: () => true,
  failure: 'rejected',
  why: ({ host, status }) => `${host} did not accept the request (${status}).`,
}
