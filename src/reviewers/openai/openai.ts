import type { AskContext, AskReviewer, Effort, Question } from '../../schemas/review.ts'
import { parseJson } from '../../text/json.ts'
import { failedAnswer, withoutSecrets } from '../failure.ts'
import type { Endpoint } from '../route-table.ts'
import { schemaInWords, strictSchema } from '../strict-schema.ts'
import { type ApiError, openaiFailure, parseApiError } from './failures.ts'
import { postJson, withDeadline } from './http.ts'
import { readReply } from './reply.ts'

export type OpenaiSetup = {
  /** OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID and OPENAI_PROJECT_ID are read from it. */
  readonly env: NodeJS.ProcessEnv
  /** Of the row; absent or null: by the environment. */
  readonly endpoint?: Endpoint | null
  /** For a question that names no model. */
  readonly defaultModel: string
  readonly maxReplyBytes?: number
}

/** OpenAI's HTTPS API (backend `curl`). It asks once; the caller retries. */
export const openaiReviewer =
  (setup: OpenaiSetup): AskReviewer =>
  async (question, context) => {
    const key = readApiKey(setup.env.OPENAI_API_KEY)
    if (key.kind === 'unusable') return failedAnswer(openaiFailure('auth', key.why, { nextStep: key.nextStep }))
    const base = readBaseUrl(setup.env.OPENAI_BASE_URL)
    if (base.kind === 'refused') return failedAnswer(openaiFailure('rejected', base.why, { nextStep: base.nextStep }))
    const answer = await ask(question, context, setup, base.url, key.key)
    if (answer.kind === 'failed') return answer
    // Some gateways repeat the headers of the request in what they say.
    const [text, model] = [answer.text, answer.model ?? ''].map((part) => withoutSecrets(part, [key.key]))
    return { ...answer, text: text ?? '', model: model || null }
  }

type ApiKey =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'unusable'; readonly why: string; readonly nextStep: string }

/** No part of a key is quoted. */
function readApiKey(value: string | undefined): ApiKey {
  if (value === undefined || value.trim() === '')
    return {
      kind: 'unusable',
      why: 'OPENAI_API_KEY is not set.',
      nextStep: 'Set OPENAI_API_KEY in the environment that Claude Code is started from, or use another reviewer.',
    }
  const flaw = keyFlaws.find(({ pattern }) => pattern.test(value))
  if (flaw === undefined) return { kind: 'key', key: value }
  return {
    kind: 'unusable',
    why: `OPENAI_API_KEY cannot be sent: it contains ${flaw.name}.`,
    nextStep: 'Copy the key again, as one line and without quotation marks, and set OPENAI_API_KEY to it.',
  }
}

const keyFlaws = [
  { pattern: /[\r\n]/, name: 'a line break' },
  { pattern: /[\t ]/, name: 'a space' },
  { pattern: /[^\x21-\x7e]/, name: 'a character that is not plain ASCII' },
] as const

type BaseUrl =
  | { readonly kind: 'base'; readonly url: URL }
  | { readonly kind: 'refused'; readonly why: string; readonly nextStep: string }

/** OPENAI_BASE_URL as OpenAI's own clients read it: a path is taken as it is, and a bare host means its /v1. */
export function readBaseUrl(configured: string | undefined): BaseUrl {
  const text = configured?.trim() || 'https://api.openai.com/v1'
  const url = URL.canParse(text) ? new URL(text) : null
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

/** The URL parser has normalised every spelling of an IPv4 address. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

const refused = (flaw: string): BaseUrl => ({
  kind: 'refused',
  why: `OPENAI_BASE_URL ${flaw}.`,
  nextStep:
    'Set OPENAI_BASE_URL to an address such as https://gateway.example/v1 (http only for localhost), or unset it.',
})

const ask = (
  question: Question,
  { signal: cancelled, onProgress }: AskContext,
  { env, defaultModel, maxReplyBytes = 20 * 1024 * 1024 }: OpenaiSetup,
  base: URL,
  key: string,
) =>
  withDeadline(question.timeoutMs, cancelled, async (signal, stoppedBy) => {
    const { system, user, schema, effort, timeoutMs } = question
    const model = question.model ?? defaultModel
    const notices: string[] = []
    let request: ApiRequest = { api: apiFor(question.subject.type, model), model, system, user, schema, effort }
    for (;;) {
      let hasBegun = false
      onProgress(`waiting for ${model}`)
      const reply = await postJson({
        url: endpointOf(base, request.api),
        env,
        headers: { ...accountHeaders(env), authorization: `Bearer ${key}` },
        body: requestBodies[request.api](request),
        maxBytes: maxReplyBytes,
        signal,
        onHeaders: (status) => {
          hasBegun = true
          if (status === 200) onProgress('answering')
        },
      })
      const reduced =
        reply.kind === 'replied'
          ? dropRefusedSetting(request, reply.status, parseApiError(parseJson(reply.body)))
          : null
      if (reduced === null) {
        const stop = { by: stoppedBy(), timeoutMs, hasBegun }
        return { ...readReply(reply, { api: request.api, model, host: base.host, secrets: [key], stop }), notices }
      }
      notices.push(reduced.notice)
      request = reduced.request
    }
  })

/** A query, such as the api-version of some gateways, stays. */
function endpointOf(base: URL, path: Api): URL {
  const url = new URL(base)
  url.pathname = `${base.pathname}/${path}`
  return url
}

const accountHeaders = (env: NodeJS.ProcessEnv): { [name: string]: string } =>
  Object.fromEntries(
    [
      ['openai-organization', env.OPENAI_ORG_ID],
      ['openai-project', env.OPENAI_PROJECT_ID],
    ].filter((header): header is [string, string] => /^[\x21-\x7e]+$/.test(header[1] ?? '')),
  )

/**
 * The same request without the one setting that the server refuses; null when it complains about something else.
 * `param` is exact; the message is the fallback.
 */
function dropRefusedSetting(
  request: ApiRequest,
  status: number,
  { param, code, message }: ApiError,
): { readonly request: ApiRequest; readonly notice: string } | null {
  if (status !== 400 && status !== 422) return null
  const about = param === '' ? message : param
  if (request.schema !== null && (code === 'invalid_json_schema' || schemaNames.test(about)))
    return {
      request: { ...request, schema: null, user: `${request.user}\n\n${schemaInWords(request.schema)}` },
      notice: `The answer's form was only described in words: ${request.model} there takes no schema.`,
    }
  if (request.effort !== null && effortNames.test(about))
    return {
      request: { ...request, effort: null },
      notice: `Reasoning effort ${request.effort} was left out: ${request.model} there does not take it.`,
    }
  return null
}

const schemaNames = /response_format|json_schema|text\.format|^text\b|structured.outputs?|\bschema\b/i
const effortNames = /reasoning|effort/i

type Api = 'chat/completions' | 'responses'

type ApiRequest = Pick<Question, 'system' | 'user' | 'schema'> & {
  readonly api: Api
  readonly model: string
  readonly effort: Effort | null
}

/** Documents go to Chat Completions; code and the models that OpenAI serves only there go to Responses. */
const apiFor = (type: Question['subject']['type'], model: string): Api =>
  type === 'code' || /codex|-pro\b/.test(model) ? 'responses' : 'chat/completions'

const requestBodies = {
  'chat/completions': ({ model, system, user, effort, schema }: ApiRequest): object => ({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    ...(effort === null ? {} : { reasoning_effort: effort }),
    ...(schema === null ? {} : { response_format: { type: 'json_schema', json_schema: strictFormat(schema) } }),
  }),
  responses: ({ model, system, user, effort, schema }: ApiRequest): object => ({
    model,
    instructions: system,
    input: user,
    // Kept for thirty days otherwise.
    store: false,
    ...(effort === null ? {} : { reasoning: { effort } }),
    ...(schema === null ? {} : { text: { format: { type: 'json_schema', ...strictFormat(schema) } } }),
  }),
} as const satisfies { [api in Api]: (request: ApiRequest) => object }

const strictFormat = (schema: NonNullable<ApiRequest['schema']>): object => ({
  name: schema.$id.replace(/[^\w-]/g, '_').slice(0, 64),
  strict: true,
  schema: strictSchema(schema),
})
