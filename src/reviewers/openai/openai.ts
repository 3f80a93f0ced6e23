import type { Answer, AskContext, AskReviewer, Effort, Failure, Question } from '../../schemas/review.ts'
import { embedded } from '../../schemas/schema.ts'
import { asRecord, parseJson } from '../../text/json.ts'
import { failedAnswer, withoutSecrets } from '../failure.ts'
import { schemaInWords } from '../program.ts'
import type { Route } from '../route-table.ts'
import { isAzure, isOpenai, isReadableOnTheWay, keyHeaders, readBaseUrl } from './base-url.ts'
import { type HttpReply, postJson, withDeadline } from './http.ts'
import { isUnknownModel, openaiFailure, parseApiError, readReply, type SettingNames } from './reply.ts'

export type OpenaiSetup = {
  /** OPENAI_API_KEY, OPENAI_BASE_URL and the key of the row are read from it. */
  readonly env: NodeJS.ProcessEnv
  /** Absent or null: by the environment. */
  readonly row?: Pick<Route, 'name' | 'model' | 'endpoint'> | null
  readonly defaultModel: string
  readonly maxReplyBytes?: number
}

/** OpenAI's HTTPS API (backend `curl`), of OpenAI or of any server that speaks it. It asks once; the caller retries. */
export function openaiReviewer(setup: OpenaiSetup): AskReviewer {
  const accepted: Accepted = new Map()
  return async (question, context) => {
    const server = readServer(setup)
    if ('failure' in server) return failedAnswer(server.failure)
    const answer = await ask(question, context, setup, server, accepted)
    if (answer.kind === 'failed') return answer
    // Some gateways repeat the headers of the request in what they say.
    const [text, model] = [answer.text, answer.model ?? ''].map((part) => withoutSecrets(part, server.secrets))
    return { ...answer, text: text ?? '', model: model || null }
  }
}

type Server = {
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly secrets: readonly string[]
  readonly api: 'auto' | 'chat' | 'responses'
  /** Named by the row, and not OpenAI's: what it can do is found out by asking. */
  readonly isForeign: boolean
  readonly names: SettingNames
  readonly notices: readonly string[]
}

function readServer({ env, row }: OpenaiSetup): Server | { readonly failure: Failure } {
  const endpoint = row?.endpoint ?? null
  const variable = endpoint === null ? 'OPENAI_API_KEY' : endpoint.apiKeyEnv
  const ofRow = (setting: string): string => `${setting} of the row "${row?.name}"`
  const hasOwnUrl = typeof endpoint?.baseUrl === 'string'
  const names = {
    baseUrl: hasOwnUrl ? ofRow('base_url') : 'OPENAI_BASE_URL',
    key: variable,
    model: typeof row?.model === 'string' ? ofRow('model') : 'review.models',
  }
  const key = variable === null ? null : (env[variable] ?? '')
  const flaw = variable === null || key === null ? null : keyFlaw(variable, key)
  if (flaw !== null) return { failure: openaiFailure('auth', flaw.why, names, flaw.nextStep) }
  const base = readBaseUrl(endpoint?.baseUrl ?? env.OPENAI_BASE_URL, endpoint?.allowHttp)
  if (base.kind === 'refused') {
    const why = `${hasOwnUrl ? `The ${names.baseUrl}` : names.baseUrl} ${base.flaw}.`
    const nextStep = `Set ${names.baseUrl} to an address such as https://gateway.example/v1 (http only for localhost), or unset it.`
    return { failure: openaiFailure('rejected', why, names, nextStep) }
  }
  const { url } = base
  const isForeign = hasOwnUrl && !isOpenai(url)
  return {
    url,
    headers: keyHeaders(url, key),
    secrets: key === null ? [] : [key],
    api: endpoint?.api ?? 'auto',
    isForeign,
    names,
    // Of a row with an address the table says it.
    notices:
      variable !== null && !hasOwnUrl && isReadableOnTheWay(url)
        ? [`The key in ${variable} goes unencrypted to ${url.host}, and others on the way can read it.`]
        : [],
  }
}

/** No part of a key is quoted. */
function keyFlaw(name: string, key: string): { readonly why: string; readonly nextStep: string } | null {
  const where = `Set ${name} in the environment that Claude Code is started from, or use another reviewer.`
  if (key.trim() === '') return { why: `${name} is not set.`, nextStep: where }
  const flaw = keyFlaws.find(([pattern]) => pattern.test(key))
  if (flaw === undefined) return null
  const nextStep = `Copy the key again, as one line and without quotation marks, and set ${name} to it.`
  return { why: `${name} cannot be sent: it contains ${flaw[1]}.`, nextStep }
}

const keyFlaws = [
  [/[\r\n]/, 'a line break'],
  [/[\t ]/, 'a space'],
  [/[^\x21-\x7e]/, 'a character that is not plain ASCII'],
] as const

/** By the first choice of API and the model: what the server has taken in this run, so that it is asked for at once. */
type Accepted = Map<string, Pick<ApiRequest, 'api'> & { readonly schema: boolean }>

const ask = (
  question: Question,
  { signal: cancelled, onProgress }: AskContext,
  { env, defaultModel, maxReplyBytes = 20 * 1024 * 1024 }: OpenaiSetup,
  server: Server,
  accepted: Accepted,
) =>
  withDeadline(question.timeoutMs, cancelled, async (signal, stoppedBy) => {
    const { system, user, schema, effort, timeoutMs } = question
    const model = question.model ?? defaultModel
    const asked: ApiRequest = { api: apiFor(question.subject.type, model, server), model, system, user, schema, effort }
    const key = `${asked.api} ${model}`
    const known = accepted.get(key)
    let request = known === undefined ? asked : { ...withSchema(asked, known.schema), api: known.api }
    const tried = new Set<string>()
    let miss: Answer | null = null
    for (;;) {
      let hasBegun = false
      tried.add(formOf(request))
      onProgress(`waiting for ${model}`)
      const reply = await postJson({
        url: endpointOf(server.url, request.api),
        env,
        headers: server.headers,
        body: requestBodies[request.api](request),
        maxBytes: maxReplyBytes,
        signal,
        onHeaders: (status) => {
          hasBegun = true
          if (status === 200) onProgress('answering')
        },
      })
      const stop = { by: stoppedBy(), timeoutMs, hasBegun }
      const { names, secrets } = server
      const answer = readReply(reply, { api: request.api, model, host: server.url.host, secrets, names, stop })
      const isMiss = reply.kind === 'replied' && [404, 405, 501].includes(reply.status)
      if (isMiss) miss ??= answer
      const next = nextRequest(reply, request, asked, server, tried)
      if (next !== null) {
        request = next
        continue
      }
      // The first of several says most: what was tried after it was a guess.
      if (isMiss && miss !== null) return miss
      if (answer.kind === 'answered' && schema !== null)
        accepted.set(key, { api: request.api, schema: request.schema !== null })
      return { ...answer, notices: [...server.notices, ...noticesOf(asked, request)] }
    }
  })

/** A query, such as the api-version of some gateways, stays. */
function endpointOf(base: URL, path: Api): URL {
  const url = new URL(base)
  url.pathname = `${base.pathname}/${path}`
  return url
}

const withSchema = (asked: ApiRequest, isTaken: boolean): ApiRequest =>
  isTaken || asked.schema === null
    ? asked
    : { ...asked, schema: null, user: `${asked.user}\n\n${schemaInWords(asked.schema)}` }

const formOf = ({ api, schema }: ApiRequest): string => `${api} ${schema === null}`

const noticesOf = (asked: ApiRequest, { effort, schema }: ApiRequest): string[] => [
  ...(effort === asked.effort
    ? []
    : [`Reasoning effort ${asked.effort} was left out: ${asked.model} there does not take it.`]),
  ...(schema === asked.schema
    ? []
    : [`The answer's form was only described in words: ${asked.model} there takes no schema.`]),
]

/**
 * The next form of the request after one that the server does not take: without the effort where it is named, with the
 * schema in words, by its other API; null where it complains about something else, or everything was tried. A 404 may mean
 * the path, the model or a setting, and small servers fail with 500 on a setting that they do not know.
 */
function nextRequest(
  reply: HttpReply,
  sent: ApiRequest,
  asked: ApiRequest,
  { api, isForeign }: Server,
  tried: ReadonlySet<string>,
): ApiRequest | null {
  if (reply.kind !== 'replied') return null
  const body = parseJson(reply.body)
  const error = parseApiError(body)
  // LM Studio answers unknown paths so.
  const status = reply.status === 200 && typeof asRecord(body).error === 'string' ? 404 : reply.status
  if (status < 400 || isUnknownModel(error)) return null
  const about = (error.param === '' ? error.message : error.param).slice(0, 2_000)
  if (sent.effort !== null && effortNames.test(about) && [400, 422].includes(status)) return { ...sent, effort: null }
  const isNamed = error.code === 'invalid_json_schema' || schemaNames.test(about)
  const mayBePath = [404, 405, 501].includes(status)
  const mayBeSchema = mayBePath || (isNamed && [400, 422, 500].includes(status)) || (status === 500 && isForeign)
  const { effort } = sent
  const [other, bare] = [{ ...asked, api: otherApi[asked.api], effort }, withSchema(asked, false)]
  const forms = [
    ...(mayBeSchema ? [{ ...bare, api: sent.api, effort }] : []),
    ...(mayBePath && api === 'auto' ? [other, { ...bare, api: other.api, effort }] : []),
  ]
  return forms.find((form) => !tried.has(formOf(form))) ?? null
}

const schemaNames =
  /response_?format|json.?schema|text\.format|^text\b|structured.outputs?|\bschema\b|\bgrammar\b|guided|requested parameters/i
const effortNames = /reasoning|effort|\bthink/i

type Api = 'chat/completions' | 'responses'

type ApiRequest = Pick<Question, 'system' | 'user' | 'schema'> & {
  readonly api: Api
  readonly model: string
  readonly effort: Effort | null
}

const otherApi = { 'chat/completions': 'responses', responses: 'chat/completions' } as const

/**
 * Documents go to Chat Completions; code and the models that OpenAI serves only there go to Responses. Chat is what
 * nearly all other servers have.
 */
function apiFor(type: Question['subject']['type'], model: string, { api, isForeign, url }: Server): Api {
  if (api !== 'auto') return api === 'chat' ? 'chat/completions' : 'responses'
  if (isForeign && !isAzure(url)) return 'chat/completions'
  return type === 'code' || /codex|-pro\b/.test(model) ? 'responses' : 'chat/completions'
}

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
  schema: embedded(schema),
})
