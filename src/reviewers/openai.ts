import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Answer, AskContext, AskReviewer, Effort, Failure, Question } from '../schemas/review.ts'
import type { Schema } from '../schemas/schema.ts'
import { readChat, readResponses } from './openai-answers.ts'
import { type ApiError, classifyStatus, failureOf, parseApiError, parseJson } from './openai-failures.ts'
import { quoteForeign, withoutSecrets } from './process.ts'

export type OpenaiSetup = {
  /** OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID and OPENAI_PROJECT_ID are what it reads. */
  readonly env: NodeJS.ProcessEnv
  /** For a question that names no model. */
  readonly defaultModel: string
  readonly maxReplyBytes?: number
}

/** OpenAI's HTTPS API. It asks once; trying again is the router's business. */
export const openaiReviewer =
  (setup: OpenaiSetup): AskReviewer =>
  async (question, context) => {
    const key = readApiKey(setup.env.OPENAI_API_KEY)
    if (key.kind === 'unusable') return failed(failureOf('auth', key.why, { nextStep: key.nextStep }))
    const base = readBaseUrl(setup.env.OPENAI_BASE_URL)
    if (base.kind === 'refused') return failed(failureOf('rejected', base.why, { nextStep: base.nextStep }))
    const answer = await ask(question, context, {
      base: base.url,
      key: key.key,
      headers: headersFrom(setup.env),
      maxBytes: setup.maxReplyBytes ?? 20 * 1024 * 1024,
      defaultModel: setup.defaultModel,
    })
    return withoutKey(answer, key.key)
  }

type Door = {
  readonly base: URL
  readonly key: string
  readonly headers: { readonly [name: string]: string }
  readonly maxBytes: number
  readonly defaultModel: string
}

const headersFrom = (env: NodeJS.ProcessEnv): { [name: string]: string } =>
  Object.fromEntries(
    [
      ['openai-organization', env.OPENAI_ORG_ID],
      ['openai-project', env.OPENAI_PROJECT_ID],
    ].filter((header): header is [string, string] => /^[\x21-\x7e]+$/.test(header[1] ?? '')),
  )

const ask = (question: Question, { signal: cancelled, onProgress }: AskContext, door: Door): Promise<Answer> =>
  withDeadline(question.timeoutMs, cancelled, async (signal, stoppedBy) => {
    const { system, user, schema, effort } = question
    const model = question.model ?? door.defaultModel
    const notices: string[] = []
    let current: Ask = { api: apiFor(question.subject.type, model), model, system, user, schema, effort }
    let hasBegun = false
    for (;;) {
      onProgress(`waiting for ${model}`)
      const reply = await postJson({
        url: endpointOf(door.base, current.api),
        headers: { ...door.headers, authorization: `Bearer ${door.key}` },
        body: requestBody(current),
        maxBytes: door.maxBytes,
        signal,
        onHeaders: (status) => {
          hasBegun = true
          if (status === 200) onProgress('answering')
        },
      })
      const less =
        reply.kind === 'replied' ? askLess(current, reply.status, parseApiError(parseJson(reply.body))) : null
      if (less === null) {
        const { host } = door.base
        const stop = { by: stoppedBy(), timeoutMs: question.timeoutMs, hasBegun }
        return { ...readReply(reply, { api: current.api, model, host, secrets: [door.key], stop }), notices }
      }
      notices.push(less.notice)
      current = less.ask
      hasBegun = false
    }
  })

/** Some gateways repeat the headers of the request in what they say. */
const withoutKey = (answer: Answer, key: string): Answer =>
  answer.kind === 'answered'
    ? {
        ...answer,
        text: withoutSecrets(answer.text, [key]),
        model: answer.model && withoutSecrets(answer.model, [key]),
      }
    : answer

const failed = (failure: Failure): Answer => ({ kind: 'failed', ...failure, thread: null, notices: [] })

type Less = { readonly ask: Ask; readonly notice: string }

/**
 * The same question without the one setting that the server will not have; null when its complaint is another one.
 * `param` is exact where it is there, and the message has to do where it is not.
 */
function askLess(ask: Ask, status: number, { param, code, message }: ApiError): Less | null {
  if (status !== 400 && status !== 422) return null
  const about = param === '' ? message : param
  if (ask.schema !== null && (code === 'invalid_json_schema' || schemaNames.test(about)))
    return {
      ask: { ...ask, schema: null },
      notice: `The answer's form was only described in words: ${ask.model} there takes no schema.`,
    }
  if (ask.effort !== null && effortNames.test(about))
    return {
      ask: { ...ask, effort: null },
      notice: `Reasoning effort ${ask.effort} was left out: ${ask.model} there does not take it.`,
    }
  return null
}

const schemaNames = /response_format|json_schema|text\.format|^text\b|structured.outputs?|\bschema\b/i

const effortNames = /reasoning|effort/i

type HttpReply =
  | { readonly kind: 'replied'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  | { readonly kind: 'too-big' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'unreachable'; readonly code: string }
  /** By the signal. */
  | { readonly kind: 'stopped' }

type Post = {
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly body: object
  readonly maxBytes: number
  readonly signal: AbortSignal
  readonly onHeaders: (status: number) => void
}

/**
 * One request, one reply, no redirects. By node:https and not by `fetch`: without streaming the headers come when the
 * model has finished, and `fetch` gives up on headers after 300 s, which only a dispatcher from a package could change.
 * Here the caller's signal is the only deadline.
 */
function postJson({ url, headers, body, maxBytes, signal, onHeaders }: Post): Promise<HttpReply> {
  const bytes = Buffer.from(JSON.stringify(body))
  return new Promise((resolve) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    // A connection of its own: one that was idle between two passes may be dead without anybody knowing.
    const request = send(url, { method: 'POST', agent: false, signal, headers: headersFor(headers, bytes.length) })
    // Minutes of silence are normal, and routers forget about a connection that says nothing.
    request.on('socket', (socket) => socket.setKeepAlive(true, 30_000))
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(signal.aborted ? { kind: 'stopped' } : { kind: 'unreachable', code: error.code ?? error.message }),
    )
    request.on('response', (response) => {
      onHeaders(response.statusCode ?? 0)
      collect(response, maxBytes, signal, (reply) => {
        resolve(reply)
        request.destroy()
      })
    })
    request.end(bytes)
  })
}

const headersFor = (headers: Post['headers'], length: number): Post['headers'] => ({
  ...headers,
  accept: 'application/json',
  'accept-encoding': 'identity',
  'content-type': 'application/json',
  'content-length': String(length),
})

function collect(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
  settle: (reply: HttpReply) => void,
): void {
  const pieces: Buffer[] = []
  let length = 0
  const end = (): void => {
    if (signal.aborted) settle({ kind: 'stopped' })
    else if (!response.complete) settle({ kind: 'cut' })
    else settle({ kind: 'replied', status: response.statusCode ?? 0, headers: response.headers, body: text() })
  }
  const text = (): string => Buffer.concat(pieces).toString('utf8')
  response.on('data', (piece: Buffer) => {
    length += piece.length
    if (length > maxBytes) settle({ kind: 'too-big' })
    else pieces.push(piece)
  })
  response.on('error', end)
  response.on('close', end)
}

type ApiKey =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'unusable'; readonly why: string; readonly nextStep: string }

/** What is wrong with a key is said without quoting any of it. */
function readApiKey(value: string | undefined): ApiKey {
  if (value === undefined || value.trim() === '')
    return {
      kind: 'unusable',
      why: 'OPENAI_API_KEY is not set.',
      nextStep: 'Set OPENAI_API_KEY in the environment that Claude Code is started from, or use another reviewer.',
    }
  const flaw = flaws.find(({ pattern }) => pattern.test(value))
  if (flaw === undefined) return { kind: 'key', key: value }
  return {
    kind: 'unusable',
    why: `OPENAI_API_KEY cannot be sent: it contains ${flaw.name}.`,
    nextStep: 'Copy the key again, as one line and without quotation marks, and set OPENAI_API_KEY to it.',
  }
}

const flaws = [
  { pattern: /[\r\n]/, name: 'a line break' },
  { pattern: /[\t ]/, name: 'a space' },
  { pattern: /[^\x21-\x7e]/, name: 'a character that is not plain ASCII' },
] as const

type BaseUrl =
  | { readonly kind: 'base'; readonly url: URL }
  | { readonly kind: 'refused'; readonly why: string; readonly nextStep: string }

const openAi = 'https://api.openai.com/v1'

/** OPENAI_BASE_URL as OpenAI's own clients read it: a path is taken as it is, and a bare host means its /v1. */
export function readBaseUrl(configured: string | undefined): BaseUrl {
  const text = configured?.trim() ?? ''
  const url = parseUrl(text === '' ? openAi : text)
  if (url === null) return refused('is not an address')
  if (url.username !== '' || url.password !== '') return refused('holds a user name or a password')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return refused(`is not encrypted (http://${url.host}), so the key could be read on the way`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('does not begin with https://')
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path === '' ? '/v1' : path
  url.hash = ''
  return { kind: 'base', url }
}

/** A query, such as the api-version of some gateways, stays. */
function endpointOf(base: URL, path: 'chat/completions' | 'responses'): URL {
  const url = new URL(base)
  url.pathname = `${base.pathname}/${path}`
  return url
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** The URL parser has written every spelling of an IPv4 address as four numbers. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

const refused = (flaw: string): BaseUrl => ({
  kind: 'refused',
  why: `OPENAI_BASE_URL ${flaw}.`,
  nextStep:
    'Set OPENAI_BASE_URL to an address such as https://gateway.example/v1 (http only for localhost), or unset it.',
})

type Asked = {
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
      return failedReadReply(
        asked.stop.by === 'deadline' ? tooLate(asked) : failureOf('cancelled', 'The review was stopped.'),
      )
    case 'unreachable':
      return failedReadReply(
        failureOf('transport', `No connection to ${host}: ${quoteForeign(reply.code, secrets)}.`, hintFor(reply.code)),
      )
    case 'cut':
      return failedReadReply(failureOf('transport', `The connection to ${host} broke off in the middle of the answer.`))
    case 'too-big':
      return failedReadReply(failureOf('malformed', `The reply of ${host} is larger than any review.`))
    case 'replied':
      return reply.status >= 200 && reply.status < 300
        ? readAnswer(reply, asked)
        : failedReadReply(refusalOf(reply, asked))
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
    return failedReadReply(
      failureOf(
        'transport',
        `${host} answered with ${quoteForeign(type, secrets)}, not with JSON: is a proxy in between?`,
      ),
    )
  const body = parseJson(reply.body)
  if (typeof body !== 'object' || body === null)
    return failedReadReply(
      failureOf('transport', `The reply of ${host} is not JSON: it was cut or changed on the way.`),
    )
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
      return failedReadReply(failureOf(reading.failure, said === '' ? why : `${why} It says: ${said}`))
    }
    case 'error':
      return failedReadReply(refusalOf(reply, asked))
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

const failedReadReply = (failure: Failure): Answer => ({ kind: 'failed', ...failure, thread: null, notices: [] })

/** How long a server asks to be left alone: milliseconds, seconds, or a date. */
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

type Api = 'chat/completions' | 'responses'

type Ask = Pick<Question, 'system' | 'user' | 'schema'> & {
  readonly api: Api
  readonly model: string
  readonly effort: Effort | null
}

/** Documents go to Chat Completions, code to Responses, and so do the models that OpenAI serves there alone. */
const apiFor = (type: Question['subject']['type'], model: string): Api =>
  type === 'code' || /codex|-pro\b/.test(model) ? 'responses' : 'chat/completions'

const requestBody = (ask: Ask): object => bodies[ask.api](ask)

const bodies = {
  'chat/completions': ({ model, system, user, effort, schema }: Ask): object => ({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    ...(effort === null ? {} : { reasoning_effort: effort }),
    ...(schema === null ? {} : { response_format: { type: 'json_schema', json_schema: strictFormat(schema) } }),
  }),
  responses: ({ model, system, user, effort, schema }: Ask): object => ({
    model,
    instructions: system,
    input: user,
    // Kept for thirty days otherwise.
    store: false,
    ...(effort === null ? {} : { reasoning: { effort } }),
    ...(schema === null ? {} : { text: { format: { type: 'json_schema', ...strictFormat(schema) } } }),
  }),
} as const satisfies { [api in Api]: (ask: Ask) => object }

const strictFormat = (schema: NonNullable<Ask['schema']>): object => ({
  name: schema.$id.replace(/[^\w-]/g, '_').slice(0, 64),
  strict: true,
  schema: strictSchema(schema),
})

/**
 * A schema as the strict mode of OpenAI's structured outputs takes it: without `$id`, and with a `type` beside each
 * `enum` and `const` ("schema must have a 'type' key").
 */
export function strictSchema({ $id: _, ...schema }: Schema): Schema {
  const type = schema.type ?? typesOf(schema.enum ?? ('const' in schema ? [schema.const] : []))
  return {
    ...schema,
    ...(type === undefined ? {} : { type }),
    ...(schema.items === undefined ? {} : { items: strictSchema(schema.items) }),
    ...(schema.properties === undefined ? {} : { properties: mapValues(schema.properties, strictSchema) }),
  }
}

type TypeName = 'string' | 'number' | 'boolean' | 'null'

function typesOf(values: readonly unknown[]): TypeName | TypeName[] | undefined {
  const types = [...new Set(values.flatMap(typeOf))]
  return types.length > 1 ? types : types[0]
}

function typeOf(value: unknown): TypeName[] {
  if (value === null) return ['null']
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? [type] : []
}

const mapValues = <A, B>(record: { readonly [key: string]: A }, change: (value: A) => B): { [key: string]: B } =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))

type Stop = 'deadline' | 'cancelled'

/**
 * One signal for everything that an act does: the caller's own, and the deadline. Not `AbortSignal.any`, whose result
 * could be collected before it fired.
 */
async function withDeadline<T>(
  timeoutMs: number,
  cancelled: AbortSignal,
  act: (signal: AbortSignal, stoppedBy: () => Stop | null) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  let stoppedBy: Stop | null = null
  const stop = (by: Stop): void => {
    stoppedBy ??= by
    controller.abort()
  }
  const cancel = (): void => stop('cancelled')
  const timer = setTimeout(() => stop('deadline'), timeoutMs)
  cancelled.addEventListener('abort', cancel, { once: true })
  if (cancelled.aborted) cancel()
  try {
    return await act(controller.signal, () => stoppedBy)
  } finally {
    clearTimeout(timer)
    cancelled.removeEventListener('abort', cancel)
  }
}
