/** What a reply of the OpenAI API means: the text of its answer, or the class of its failure. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Answer, Failure, FailureClass, Usage } from '../../schemas/review.ts'
import { asList, asRecord, parseJson } from '../../text/json.ts'
import { cancelledFailure, failedAnswer, quoteForeign } from '../failure.ts'
import { type ApiError, classifyStatus, openaiFailure, parseApiError, type SettingNames, textOf } from './failures.ts'
import type { HttpReply, StopCause } from './http.ts'
import { contentText, joinEvents } from './stream.ts'
import { withoutThoughts } from './thoughts.ts'

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
  switch (reply.kind) {
    case 'aborted':
      return failedAnswer(stop.by === 'deadline' ? timeoutFailure(context) : cancelledFailure)
    case 'unreachable':
      return failedAnswer(
        openaiFailure(
          'transport',
          `No connection to ${host}: ${quoteForeign(reply.code, secrets)}.`,
          names,
          certificateHint(reply.code),
        ),
      )
    case 'cut':
      return failedAnswer(brokenOff(context))
    case 'too-big':
      return failedAnswer(openaiFailure('malformed', `The reply of ${host} is larger than any review.`, names))
    case 'replied':
      return reply.status >= 200 && reply.status < 300
        ? readAnswer(reply, context)
        : failedAnswer(errorStatusFailure(reply, parseApiError(parseJson(reply.body)), context))
  }
}

const brokenOff = ({ host, names }: RequestContext): Failure =>
  openaiFailure('transport', `The connection to ${host} broke off in the middle of the answer.`, names)

function timeoutFailure({ host, names, stop: { hasBegun, timeoutMs } }: RequestContext): Failure {
  const how = hasBegun ? 'began to answer but did not finish' : 'did not answer'
  const limit = timeoutMs < 1_000 ? `${timeoutMs} ms` : `${Math.round(timeoutMs / 1_000)} s`
  return openaiFailure('timeout', `${host} ${how} within ${limit}.`, names)
}

const certificateHint = (code: string): { nextStep?: string } =>
  /CERT|SIGNATURE|ISSUER|^ERR_TLS/.test(code)
    ? { nextStep: 'If a proxy of your company reads TLS, set NODE_EXTRA_CA_CERTS to its certificate.' }
    : {}

type Replied = Extract<HttpReply, { kind: 'replied' }>

/** Anything but JSON, or a stream of it, was not written by the API: a page of a proxy, or half a reply. */
function readAnswer(reply: Replied, context: RequestContext): Answer {
  const { api, host, secrets, names } = context
  const type = reply.headers['content-type']?.trim() ?? 'application/json'
  const isStream = /^text\/event-stream\b/i.test(type)
  if (!isStream && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
    return failedAnswer(
      openaiFailure(
        'transport',
        `${host} answered with ${quoteForeign(type, secrets)}, not with JSON: is a proxy in between?`,
        names,
      ),
    )
  const body = isStream ? joinEvents(reply.body) : parseJson(reply.body)
  if (isStream && body === null) return failedAnswer(brokenOff(context))
  if (typeof body !== 'object' || body === null)
    return failedAnswer(
      openaiFailure('transport', `The reply of ${host} is not JSON: it was cut or changed on the way.`, names),
    )
  const result = api === 'responses' ? readResponses(body) : readChat(body)
  switch (result.kind) {
    case 'text': {
      const { usage, model } = result
      const text = withoutThoughts(result.text)
      if (text === null || text.trim() === '') {
        const why = `The answer of ${context.model} is nothing but its thoughts.`
        return failedAnswer(openaiFailure('malformed', why, names))
      }
      return { kind: 'answered', text, usage, model: model ?? context.model, thread: null, notices: [] }
    }
    case 'unusable': {
      const [why, quote] = [quoteForeign(result.why, secrets), quoteForeign(result.quote, secrets)]
      return failedAnswer(openaiFailure(result.failure, quote === '' ? why : `${why} It says: ${quote}`, names))
    }
    case 'error':
      return failedAnswer(errorStatusFailure(reply, result.error, context))
  }
}

/** What a reply with status 200 contains. */
type ReplyContent =
  | { readonly kind: 'text'; readonly text: string; readonly model: string | null; readonly usage: Usage | null }
  | { readonly kind: 'unusable'; readonly failure: FailureClass; readonly why: string; readonly quote: string }
  /** Some gateways send errors with status 200. */
  | { readonly kind: 'error'; readonly error: ApiError }

const unusable = (failure: FailureClass, why: string, quote = ''): ReplyContent => ({
  kind: 'unusable',
  failure,
  why,
  quote,
})

function readChat(body: unknown): ReplyContent {
  const reply = asRecord(body)
  const choice = asRecord(asList(reply.choices)[0])
  const message = asRecord(choice.message)
  if (!Array.isArray(reply.choices))
    return reply.error
      ? { kind: 'error', error: parseApiError(body) }
      : unusable('malformed', 'The reply has no choices.')
  const refusal = textOf(message.refusal)
  if (refusal !== '') return unusable('refused', 'The model declined to review this.', refusal)
  if (choice.finish_reason === 'content_filter')
    return unusable('refused', 'The answer was held back by a content filter.')
  if (choice.finish_reason === 'length')
    return unusable('malformed', 'The answer is not complete: it reached the limit of its length.')
  const text = contentText(message.content)
  if (text.trim() === '') return unusable('malformed', 'The answer is empty.')
  return { kind: 'text', text, model: textOf(reply.model) || null, usage: usageOf(reply.usage, 'prompt', 'completion') }
}

/** The text of the messages, which stand among notes on the reasoning. */
function readResponses(body: unknown): ReplyContent {
  const reply = asRecord(body)
  if (reply.error || reply.status === 'failed') return { kind: 'error', error: parseApiError(body) }
  if (!Array.isArray(reply.output)) return unusable('malformed', 'The reply has no output.')
  const parts = reply.output
    .map(asRecord)
    .filter(({ type }) => type === 'message')
    .map((message) => asList(message.content).map(asRecord))
  const refusal = parts.flat().find(({ type }) => type === 'refusal')
  if (refusal !== undefined) return unusable('refused', 'The model declined to review this.', textOf(refusal.refusal))
  if (reply.status === 'incomplete') return unfinished(textOf(asRecord(reply.incomplete_details).reason))
  if (reply.status !== undefined && reply.status !== 'completed')
    return unusable('malformed', `The answer is not complete: its state is "${textOf(reply.status)}".`)
  const text = parts.map((message) => message.map((part) => textOf(part.text)).join('')).join('\n\n')
  if (text.trim() === '') return unusable('malformed', 'The answer is empty.')
  return { kind: 'text', text, model: textOf(reply.model) || null, usage: usageOf(reply.usage, 'input', 'output') }
}

const unfinished = (reason: string): ReplyContent =>
  reason === 'content_filter'
    ? unusable('refused', 'The answer was held back by a content filter.')
    : unusable('malformed', `The answer is not complete${reason === '' ? '' : ` (${reason})`}.`)

/** Chat Completions count `prompt_tokens` and `completion_tokens`, Responses `input_tokens` and `output_tokens`. */
function usageOf(value: unknown, input: string, output: string): Usage | null {
  const usage = asRecord(value)
  if (typeof usage[`${input}_tokens`] !== 'number') return null
  return {
    input: countOf(usage[`${input}_tokens`]),
    cached: countOf(asRecord(usage[`${input}_tokens_details`]).cached_tokens),
    output: countOf(usage[`${output}_tokens`]),
    reasoning: countOf(asRecord(usage[`${output}_tokens_details`]).reasoning_tokens),
  }
}

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0

function errorStatusFailure(
  { status, headers }: Replied,
  error: ApiError,
  { host, secrets, names, model }: RequestContext,
): Failure {
  if (status >= 300 && status < 400)
    return openaiFailure('transport', describeRedirect(headers.location ?? '', host, secrets), names, {
      nextStep: `Set ${names.baseUrl} to where the API really is; redirects are not followed.`,
    })
  return classifyStatus({
    status,
    model,
    names,
    error,
    isHtml: /^text\/html\b/i.test(headers['content-type'] ?? ''),
    host,
    quote: quoteForeign(error.message, secrets),
    retryAfterMs: readRetryAfter(headers, Date.now()),
  })
}

/** A redirect is not followed: the key and the text would go to an address that nobody configured. */
function describeRedirect(location: string, host: string, secrets: readonly string[]): string {
  const base = `https://${host}`
  const target = URL.canParse(location, base) ? new URL(location, base).host : host
  return target === host
    ? `${host} sends the request on to another address of its own: ${quoteForeign(location, secrets)}.`
    : `${host} sends the request on to ${quoteForeign(target, secrets)}.`
}

/** The `retry-after` header: milliseconds, seconds, or a date. */
export function readRetryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const precise = numberIn(headers['retry-after-ms'])
  if (precise !== null) return Math.round(precise)
  const header = headers['retry-after']?.trim()
  if (header === undefined) return null
  const seconds = numberIn(header)
  if (seconds !== null) return Math.round(seconds * 1000)
  const date = header.endsWith('GMT') ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

const numberIn = (header: string | string[] | undefined): number | null =>
  typeof header === 'string' && /^\d{1,12}(?:\.\d+)?$/.test(header.trim()) ? Number(header) : null
