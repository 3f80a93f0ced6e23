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
  nextStep: more.nextStep ?? nextStepFor(failure, names),
  retryAfterMs: more.retryAfterMs ?? null,
})

function nextStepFor(failure: FailureClass, { baseUrl, key, model }: SettingNames): string {
  if (key === null && failure === 'auth')
    return 'The server needs a key: name the variable that has it as api_key_env of the row.'
  return fill(nextSteps[failure], { baseUrl, model, key: key ?? 'the server' })
}

const nextSteps: { readonly [failure in FailureClass]: string } = {
  'not-installed': 'Use another reviewer.',
  auth: 'Check {key}: whether it is still valid, and for the right organisation or project.',
  quota: 'Add credit or raise the limit in the account of {key}, or use another reviewer.',
  'rate-limited': 'Wait a little and save the plan again, or use another reviewer.',
  timeout: timeoutRemedy,
  transport: 'Check the network, the proxy and {baseUrl}, then try again.',
  server: 'Try again in a few minutes, or use another reviewer.',
  malformed: 'Try again, or use another model ({model}).',
  refused: 'Look at what the reviewer objects to in the text, or use another reviewer.',
  rejected: 'Check {model}: whether the model is there, and takes a text of this length.',
  crashed: 'Try again; if it happens again, use another reviewer and report it.',
  cancelled: 'Start the review again when you are ready.',
}

const fill = (template: string, values: { readonly [name: string]: string | number }): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))

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
    code: wordsOf(error.code),
    type: wordsOf(error.type),
    param: wordsOf(error.param),
    message: [error.message, inner, outer.message, outer.detail].map(wordsOf).find((text) => text !== '') ?? '',
  }
}

function wordsOf(value: unknown): string {
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

/** The failure that an error status means: the first row that holds. */
export function classifyStatus(reply: ErrorStatus): Failure {
  const { host, status, model, names } = reply
  const [, failure, why, nextStep] = rows.find(([holds]) => holds(reply)) ?? otherwise
  const keyProblem = names.key === null ? 'needs a key, and none is sent' : 'does not accept the key'
  const quote = reply.quote === '' ? '' : ` It says: ${reply.quote}`
  return openaiFailure(failure, `${fill(why, { host, status, model, keyProblem })}${quote}`, names, {
    ...(nextStep === undefined ? {} : { nextStep: fill(nextStep, { baseUrl: names.baseUrl, model: names.model }) }),
    retryAfterMs: failure === 'rate-limited' || failure === 'server' ? reply.retryAfterMs : null,
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

/** In `why` {model} is the model, in `nextStep` the setting that names it. */
type FailureRow = readonly [
  holds: (reply: ErrorStatus) => boolean,
  failure: FailureClass,
  why: string,
  nextStep?: string,
]

/** Codes come first, being more exact than a status. */
const rows: readonly FailureRow[] = [
  [
    named(/^(?:insufficient_quota|quota_exceeded|billing_\w+|\w+_(?:spend|usage)_limit_exceeded)$/),
    'quota',
    'The account at {host} has no quota left ({status}).',
  ],
  [
    named(/^(?:content_policy_violation|content_filter|invalid_prompt)$/),
    'refused',
    '{host} did not let the text through to the model.',
  ],
  [
    named(/^context_length_exceeded$/),
    'rejected',
    'The text is longer than what {model} can read.',
    'Shorten what is reviewed, or use a model that reads more ({model}).',
  ],
  [
    (reply) => reply.status < 500 && isUnknownModel(reply.error),
    'rejected',
    '{host} does not have the model {model} ({status}).',
    'Set {model} to one that this server has, and this account can use.',
  ],
  [
    (reply) => reply.status === 407 || (reply.status === 403 && reply.isHtml),
    'transport',
    'Something on the way to {host} turned the request away ({status}), probably a proxy.',
  ],
  [status(401, 403), 'auth', '{host} {keyProblem} ({status}).'],
  [status(402), 'quota', 'The account at {host} has to be paid for first ({status}).'],
  [
    (reply) => reply.status === 429 || named(/^rate_limit_exceeded$/)(reply),
    'rate-limited',
    '{host} asks for fewer requests ({status}).',
  ],
  [
    (reply) => status(408, 409)(reply) || reply.status >= 500 || named(/^server_error$/)(reply),
    'server',
    '{host} failed ({status}).',
  ],
  [
    status(404, 405),
    'rejected',
    '{host} does not know the model {model} or the address ({status}).',
    'Check {baseUrl} (it usually ends in /v1) and {model}.',
  ],
  [status(413), 'rejected', 'The text is longer than what {host} takes ({status}).', 'Shorten what is reviewed.'],
]

const otherwise: FailureRow = [() => true, 'rejected', '{host} did not accept the request ({status}).']
