import type { Answer, Failure } from '../../schemas/backend.ts'
import { quoteForeign } from '../quote-foreign.ts'
import { classifyStatus } from './classify-status.ts'
import { failureOf } from './failure-of.ts'
import { parseApiError, parseJson } from './parse-api-error.ts'
import type { HttpReply } from './post-json.ts'
import { readChat } from './read-chat.ts'
import { readResponses } from './read-responses.ts'
import { readRetryAfter } from './read-retry-after.ts'
import type { Api } from './request-body.ts'
import type { Stop } from './with-deadline.ts'

export type Asked = {
  readonly api: Api
  readonly model: string
  readonly host: string
  readonly secrets: readonly string[]
  readonly stop: { readonly by: Stop | null; readonly timeoutMs: number; readonly hasBegun: boolean }
}

export function readReply(reply: HttpReply, asked: Asked): Answer {
  const { host, secrets } = asked
  switch (reply.kind) {
    case 'stopped':
      return failed(asked.stop.by === 'deadline' ? tooLate(asked) : failureOf('cancelled', 'The review was stopped.'))
    case 'unreachable':
      return failed(
        failureOf('transport', `No connection to ${host}: ${quoteForeign(reply.code, secrets)}.`, hintFor(reply.code)),
      )
    case 'cut':
      return failed(failureOf('transport', `The connection to ${host} broke off in the middle of the answer.`))
    case 'too-big':
      return failed(failureOf('malformed', `The reply of ${host} is larger than any review.`))
    case 'replied':
      return reply.status >= 200 && reply.status < 300 ? readAnswer(reply, asked) : failed(refusalOf(reply, asked))
  }
}

function tooLate({ host, stop }: Asked): Failure {
  const how = stop.hasBegun ? 'began to answer but did not finish' : 'did not answer'
  return failureOf('timeout', `${host} ${how} within ${seconds(stop.timeoutMs)}.`)
}

const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 1_000)} s`)

const hintFor = (code: string): { nextStep?: string } =>
  /CERT|SIGNATURE|ISSUER|^ERR_TLS/.test(code)
    ? { nextStep: 'If a proxy of your company reads TLS, set NODE_EXTRA_CA_CERTS to its certificate.' }
    : {}

type Replied = Extract<HttpReply, { kind: 'replied' }>

/** What is not JSON was not written by the API: a page of a proxy, or half a reply. */
function readAnswer(reply: Replied, asked: Asked): Answer {
  const { api, host, secrets } = asked
  const type = reply.headers['content-type']
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type.trim()))
    return failed(
      failureOf(
        'transport',
        `${host} answered with ${quoteForeign(type, secrets)}, not with JSON: is a proxy in between?`,
      ),
    )
  const body = parseJson(reply.body)
  if (typeof body !== 'object' || body === null)
    return failed(failureOf('transport', `The reply of ${host} is not JSON: it was cut or changed on the way.`))
  const reading = api === 'responses' ? readResponses(body) : readChat(body)
  switch (reading.kind) {
    case 'text':
      return {
        kind: 'answered',
        text: reading.text,
        usage: reading.usage,
        model: reading.model ?? asked.model,
        thread: null,
        notices: [],
      }
    case 'unusable': {
      // Of a reason that the reply gives, a part is foreign.
      const [why, said] = [quoteForeign(reading.why, secrets), quoteForeign(reading.said, secrets)]
      return failed(failureOf(reading.failure, said === '' ? why : `${why} It says: ${said}`))
    }
    case 'error':
      return failed(refusalOf(reply, asked))
  }
}

function refusalOf({ status, headers, body }: Replied, { host, secrets }: Asked): Failure {
  if (status >= 300 && status < 400)
    return failureOf('transport', redirection(headers.location ?? '', host, secrets), redirectionHint)
  const error = parseApiError(parseJson(body))
  return classifyStatus({
    status,
    error,
    isHtml: /^text\/html\b/i.test(headers['content-type'] ?? ''),
    host,
    said: quoteForeign(error.message, secrets),
    retryAfterMs: readRetryAfter(headers, Date.now()),
  })
}

/** A redirect is not followed: the key and the text would go where nobody has sent them. */
function redirection(location: string, host: string, secrets: readonly string[]): string {
  const base = `https://${host}`
  const target = URL.canParse(location, base) ? new URL(location, base).host : host
  return target === host
    ? `${host} sends the request on to another address of its own: ${quoteForeign(location, secrets)}.`
    : `${host} sends the request on to ${quoteForeign(target, secrets)}.`
}

const redirectionHint = { nextStep: 'Set OPENAI_BASE_URL to where the API really is; redirects are not followed.' }

const failed = (failure: Failure): Answer => ({ kind: 'failed', ...failure, thread: null, notices: [] })
