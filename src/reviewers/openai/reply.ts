import type { IncomingHttpHeaders } from 'node:http'
import type { Answer, Failure, FailureClass, Usage } from '../../schemas/review.ts'
import { asList, asRecord, countOf, type JsonRecord, parseJson, parseRecord, textOf } from '../../text/json.ts'
import {
  cancelledFailure,
  classifyBy,
  type FailureRow,
  failedAnswer,
  failureClasses,
  failureOf,
  quoteForeign,
  withQuote,
} from '../failure.ts'
import type { HttpReply, StopCause } from './http.ts'

/** What a reply of the OpenAI API means: the text of its answer, or the class of its failure. */

type RequestContext = {
  readonly api: 'chat/completions' | 'responses'
  readonly model: string
  readonly host: string
  readonly secrets: readonly string[]
  readonly names: SettingNames
  readonly stop: { readonly by: StopCause | null; readonly timeoutMs: number; readonly hasBegun: boolean }
}

export function readReply(reply: HttpReply, context: RequestContext): Answer {
  const { host, secrets, names, stop } = context
  const fail = failWith(names)
  switch (reply.kind) {
    case 'aborted': {
      if (stop.by !== 'deadline') return failedAnswer(cancelledFailure)
      const how = stop.hasBegun ? 'began to answer but did not finish' : 'did not answer'
      const limit = stop.timeoutMs < 1_000 ? `${stop.timeoutMs} ms` : `${Math.round(stop.timeoutMs / 1_000)} s`
      return fail('timeout', `${host} ${how} within ${limit}.`)
    }
    case 'unreachable': {
      const isCertificate = /CERT|SIGNATURE|ISSUER|^ERR_TLS/.test(reply.code)
      const why = `No connection to ${host}: ${quoteForeign(reply.code, secrets)}.`
      return fail('transport', why, isCertificate ? extraCertificates : undefined)
    }
    case 'cut':
      return fail('transport', brokenOff(host))
    case 'too-big':
      return fail('malformed', `The reply of ${host} is larger than any review.`)
    case 'replied':
      return reply.status >= 200 && reply.status < 300
        ? readAnswer(reply, context)
        : failedAnswer(errorStatusFailure(reply, parseApiError(parseJson(reply.body)), context))
  }
}

const failWith =
  (names: SettingNames) =>
  (failure: FailureClass, why: string, nextStep?: string): Answer =>
    failedAnswer(openaiFailure(failure, why, names, nextStep))

const extraCertificates = 'If a proxy of your company reads TLS, set NODE_EXTRA_CA_CERTS to its certificate.'
const brokenOff = (host: string): string => `The connection to ${host} broke off in the middle of the answer.`

type Replied = Extract<HttpReply, { kind: 'replied' }>

/** Anything but JSON, or a stream of it, was not written by the API: a page of a proxy, or half a reply. */
function readAnswer(reply: Replied, context: RequestContext): Answer {
  const { api, host, secrets, names } = context
  const fail = failWith(names)
  const type = reply.headers['content-type']?.trim() ?? 'application/json'
  const isStream = /^text\/event-stream\b/i.test(type)
  if (!isStream && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
    return fail(
      'transport',
      `${host} answered with ${quoteForeign(type, secrets)}, not with JSON: is a proxy in between?`,
    )
  const body = isStream ? joinEvents(reply.body) : parseJson(reply.body)
  if (isStream && body === null) return fail('transport', brokenOff(host))
  if (typeof body !== 'object' || body === null)
    return fail('transport', `The reply of ${host} is not JSON: it was cut or changed on the way.`)
  const result = api === 'responses' ? readResponses(body) : readChat(body)
  if ('error' in result) return failedAnswer(errorStatusFailure(reply, result.error, context))
  if ('failure' in result) {
    return fail(
      result.failure,
      withQuote(quoteForeign(result.why, secrets).replace(/\.$/, ''), result.quote ?? '', secrets),
    )
  }
  const text = withoutThoughts(result.text)
  if (text === null || text.trim() === '')
    return fail('malformed', `The answer of ${context.model} is nothing but its thoughts.`)
  const { usage, model } = result
  return { kind: 'answered', text, usage, model: model || context.model, thread: null, notices: [] }
}

type ReplyContent =
  | { readonly text: string; readonly model: string; readonly usage: Usage | null }
  | { readonly failure: FailureClass; readonly why: string; readonly quote?: string }
  /** Some gateways send errors with status 200. */
  | { readonly error: ApiError }

const malformed = (why: string): ReplyContent => ({ failure: 'malformed', why })
const declined = (quote: string): ReplyContent => ({
  failure: 'refused',
  why: 'The model declined to review this',
  quote,
})
const filtered: ReplyContent = { failure: 'refused', why: 'The answer was held back by a content filter' }

function readChat(body: unknown): ReplyContent {
  const reply = asRecord(body)
  const choice = asRecord(asList(reply.choices)[0])
  const message = asRecord(choice.message)
  if (!Array.isArray(reply.choices))
    return reply.error ? { error: parseApiError(body) } : malformed('The reply has no choices.')
  const refusal = textOf(message.refusal)
  if (refusal !== '') return declined(refusal)
  if (choice.finish_reason === 'content_filter') return filtered
  if (choice.finish_reason === 'length')
    return malformed('The answer is not complete: it reached the limit of its length.')
  return answerOf(reply, contentText(message.content), 'prompt', 'completion')
}

/** The text of the messages, which stand among notes on the reasoning. */
function readResponses(body: unknown): ReplyContent {
  const reply = asRecord(body)
  if (reply.error || reply.status === 'failed') return { error: parseApiError(body) }
  if (!Array.isArray(reply.output)) return malformed('The reply has no output.')
  const parts = reply.output
    .map(asRecord)
    .filter(({ type }) => type === 'message')
    .map((message) => asList(message.content).map(asRecord))
  const refusal = parts.flat().find(({ type }) => type === 'refusal')
  if (refusal !== undefined) return declined(textOf(refusal.refusal))
  if (reply.status === 'incomplete') {
    const reason = textOf(asRecord(reply.incomplete_details).reason)
    return reason === 'content_filter'
      ? filtered
      : malformed(`The answer is not complete${reason === '' ? '' : ` (${reason})`}.`)
  }
  if (reply.status !== undefined && reply.status !== 'completed')
    return malformed(`The answer is not complete: its state is "${textOf(reply.status)}".`)
  const text = parts.map((message) => message.map((part) => textOf(part.text)).join('')).join('\n\n')
  return answerOf(reply, text, 'input', 'output')
}

/** Chat Completions count `prompt_tokens` and `completion_tokens`, Responses `input_tokens` and `output_tokens`. */
function answerOf(reply: JsonRecord, text: string, input: string, output: string): ReplyContent {
  if (text.trim() === '') return malformed('The answer is empty.')
  const used = asRecord(reply.usage)
  const count = (name: string): number => countOf(used[`${name}_tokens`]) ?? 0
  const detail = (name: string, of: string): number => countOf(asRecord(used[`${name}_tokens_details`])[of]) ?? 0
  const usage = {
    input: count(input),
    cached: detail(input, 'cached_tokens'),
    output: count(output),
    reasoning: detail(output, 'reasoning_tokens'),
  }
  const isCounted = typeof used[`${input}_tokens`] === 'number'
  return { text, model: textOf(reply.model), usage: isCounted ? usage : null }
}

/** Usually a string; some servers send it in parts, and the thoughts among them. */
const contentText = (content: unknown): string =>
  Array.isArray(content)
    ? content
        .map(asRecord)
        .filter(({ type = 'text' }) => type === 'text')
        .map((part) => textOf(part.text))
        .join('')
    : textOf(content)

/** The body of a server that streams unasked, as it would be without streaming; null: the stream has no end. */
function joinEvents(stream: string): object | null {
  const chat = { content: '', refusal: '', finish_reason: '', model: '', usage: null as unknown }
  let text = ''
  let isDone = false
  for (const data of eventsOf(stream)) {
    isDone ||= data.trim() === '[DONE]'
    const event = asRecord(parseJson(data))
    const type = textOf(event.type)
    if (event.error || type === 'error') return { error: event.error || event }
    if (/^response\.(?:completed|incomplete|failed)$/.test(type)) return withText(asRecord(event.response), text)
    if (type === 'response.output_text.delta') text += textOf(event.delta)
    const choice = asRecord(asList(event.choices)[0])
    const delta = asRecord(choice.delta ?? choice.message)
    chat.content += contentText(delta.content)
    chat.refusal += textOf(delta.refusal)
    chat.finish_reason = textOf(choice.finish_reason) || chat.finish_reason
    chat.model = textOf(event.model) || chat.model
    chat.usage = event.usage ?? chat.usage
  }
  if (!isDone && chat.finish_reason === '') return null
  const { model, usage, finish_reason, ...message } = chat
  return text === '' ? { model, usage, choices: [{ finish_reason, message }] } : withText({}, text)
}

/** Some servers leave the output out of the last event. */
const withText = (response: { readonly [key: string]: unknown }, text: string): object =>
  asList(response.output).length > 0 || text === ''
    ? response
    : { ...response, output: [{ type: 'message', content: [{ type: 'output_text', text }] }] }

function* eventsOf(stream: string): Generator<string> {
  let data: string[] = []
  for (const line of stream.split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) data.push(line.slice(5))
    else if (line === '' && data.length > 0) {
      yield data.join('\n')
      data = []
    }
  }
  if (data.length > 0) yield data.join('\n')
}

function errorStatusFailure(
  { status, headers }: Replied,
  error: ApiError,
  { host, secrets, names, model }: RequestContext,
): Failure {
  if (status >= 300 && status < 400) {
    const nextStep = `Set ${names.baseUrl} to where the API really is; redirects are not followed.`
    return openaiFailure('transport', describeRedirect(headers.location ?? '', host, secrets), names, nextStep)
  }
  const form = /^text\/html\b/i.test(headers['content-type'] ?? '') ? 'html' : 'json'
  const words = [status, error.code, error.type, form, isUnknownModel(error) ? 'unknown-model' : '']
  const said = words.map((word) => String(word).replace(/\s+/g, '_') || '-').join(' ')
  const known = classifyBy(failureTable({ host, status, model, names }), said, secrets, error.message)
  const failure = known?.failure ?? openaiFailure('rejected', `${host} did not accept it.`, names)
  const waits = failure.failure === 'rate-limited' || failure.failure === 'server'
  return { ...failure, retryAfterMs: waits ? readRetryAfter(headers, Date.now()) : null }
}

/** A redirect is not followed: the key and the text would go to an address that nobody configured. */
function describeRedirect(location: string, host: string, secrets: readonly string[]): string {
  const target = URL.canParse(location) ? new URL(location).host : location
  return `${host} sends the request on to ${quoteForeign(target, secrets)}.`
}

/** The `retry-after` header: seconds, or a date. */
export function readRetryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const header = headers['retry-after']?.trim() ?? ''
  const seconds = numberIn(header)
  if (seconds !== null) return Math.round(seconds * 1000)
  const date = header.endsWith('GMT') ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

const numberIn = (header: string): number | null => (/^\d{1,12}(?:\.\d+)?$/.test(header) ? Number(header) : null)

/** What the settings are called that a message sends people to. */
export type SettingNames = { readonly baseUrl: string; readonly key: string | null; readonly model: string }

export const openaiFailure = (failure: FailureClass, why: string, names: SettingNames, nextStep?: string): Failure =>
  failureOf(failure, why, nextStep ?? nextStepFor(failure, names))

/** Of those that name a setting; the others say what any reviewer's does. */
function nextStepFor(failure: FailureClass, { baseUrl, key, model }: SettingNames): string {
  switch (failure) {
    case 'auth':
      return key === null
        ? 'The server needs a key: name the variable that has it as api_key_env of the row.'
        : `Check ${key}: whether it is still valid, and for the right organisation or project.`
    case 'transport':
      return `Check the network, the proxy and ${baseUrl}, then try again.`
    case 'malformed':
      return `Try again, or use another model (${model}).`
    case 'rejected':
      return `Check ${model}: whether the model is there, and takes a text of this length.`
    default:
      return failureClasses[failure].nextStep
  }
}

/** The fields of an error body, '' where one is missing. Gateways wrap OpenAI's form in several ways. */
type ApiError = { readonly code: string; readonly type: string; readonly param: string; readonly message: string }

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

type Asked = Pick<RequestContext, 'host' | 'model' | 'names'> & { readonly status: number }

/** Matched with status, code, type, form and what is unknown, in this order. Codes come first, being more exact. */
function failureTable({ host, status, model, names }: Asked): FailureRow[] {
  const { baseUrl, key, model: setting } = names
  const rows: FailureRow[] = [
    [
      /^\d+ (?:\S+ )?(?:insufficient_quota|quota_exceeded|billing_\w+|\w+_(?:spend|usage)_limit_exceeded) /,
      'quota',
      `The account at ${host} has no quota left (${status})`,
    ],
    [
      /^\d+ (?:\S+ )?(?:content_policy_violation|content_filter|invalid_prompt) /,
      'refused',
      `${host} did not let the text through to the model`,
    ],
    [
      /^\d+ (?:\S+ )?context_length_exceeded /,
      'rejected',
      `The text is longer than what ${model} can read`,
      `Shorten what is reviewed, or use a model that reads more (${setting}).`,
    ],
    [
      /^[1-4].* unknown-model$/,
      'rejected',
      `${host} does not have the model ${model} (${status})`,
      `Set ${setting} to one that this server has, and this account can use.`,
    ],
    [
      /^407 |^403 .* html /,
      'transport',
      `Something on the way to ${host} turned the request away (${status}), probably a proxy`,
    ],
    [
      /^40[13] /,
      'auth',
      `${host} ${key === null ? 'needs a key, and none is sent' : 'does not accept the key'} (${status})`,
    ],
    [/^402 /, 'quota', `The account at ${host} has to be paid for first (${status})`],
    [/^429 |^\d+ (?:\S+ )?rate_limit_exceeded /, 'rate-limited', `${host} asks for fewer requests (${status})`],
    [/^40[89] |^5\d\d |^\d+ (?:\S+ )?server_error /, 'server', `${host} failed (${status})`],
    [
      /^40[45] /,
      'rejected',
      `${host} does not know the model ${model} or the address (${status})`,
      `Check ${baseUrl} (it usually ends in /v1) and ${setting}.`,
    ],
    [/^413 /, 'rejected', `The text is longer than what ${host} takes (${status})`, 'Shorten what is reviewed.'],
    [/^/, 'rejected', `${host} did not accept the request (${status})`],
  ]
  return rows.map(([when, failure, why, nextStep]) => [when, failure, why, nextStep ?? nextStepFor(failure, names)])
}

/**
 * An answer without the thoughts that some servers leave in it; null: it ends in them. What a model has considered must
 * never count as its verdict, so that where a text has several closing tags all up to the last one goes, unless what
 * follows the first is one whole JSON object, which may quote them. DeepSeek's templates leave out the opening tag.
 */
export function withoutThoughts(text: string): string | null {
  if (isObject(text)) return text
  const ends = [...text.matchAll(closingTag)].map(({ index, 0: tag }) => index + tag.length)
  const [first, last] = [ends[0], ends.at(-1)]
  if (first === undefined || last === undefined) return openingTag.test(text) ? null : text
  const afterFirst = text.slice(first)
  if (isObject(afterFirst)) return afterFirst
  const rest = text.slice(last)
  return openingTag.test(rest) ? null : rest
}

/** One in backticks is spoken of. */
const closingTag = /(?<!`)(?:<\/think(?:ing)?>|\[\/think\])/gi
const openingTag = /^[ \t]*(?:<think(?:ing)?>|\[think\])/im

function isObject(text: string): boolean {
  const whole = text.trim()
  return parseRecord(/^```\w*\n([\s\S]*)\n```$/.exec(whole)?.[1] ?? whole) !== null
}
