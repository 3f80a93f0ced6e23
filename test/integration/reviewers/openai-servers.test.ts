import { describe, expect, it } from 'vitest'
import { type OpenaiSetup, openaiReviewer } from '../../../src/reviewers/openai/openai.ts'
import type { Endpoint } from '../../../src/reviewers/route-table.ts'
import { type Answer, type AskReviewer, type Question, reviewerAnswerSchema } from '../../../src/schemas/review.ts'
import {
  type Act,
  apiError,
  chatReply,
  json,
  type OpenAiHttp,
  raw,
  responsesReply,
  startOpenAiHttp,
} from '../../support/servers/openai-http.ts'

const openaiKey = ['sk', 'test', 'a1b2c3d4e5f6'].join('-')
const otherKey = ['or', 'test', 'f6e5d4c3b2a1'].join('-')
const approved = '{"verdict":"APPROVED","is_optimal":true,"summary":"Thought over.","findings":[]}'
const refused = '{"verdict":"CHANGES_REQUIRED","is_optimal":false,"summary":"Not yet.","findings":[]}'

const question: Question = {
  system: 'You review plans.',
  user: 'The plan.',
  model: 'qwen3',
  effort: null,
  schema: reviewerAnswerSchema,
  thread: { kind: 'none' },
  root: null,
  timeoutMs: 20_000,
  subject: { type: 'plan', content: '# Plan' },
}
const code: Partial<Question> = { subject: { type: 'code', content: 'diff' } }

const environment = { OPENAI_API_KEY: openaiKey, OTHER_KEY: otherKey }

const reviewerOf = (endpoint: Partial<Endpoint>, setup: Partial<OpenaiSetup> = {}): AskReviewer =>
  openaiReviewer({
    env: environment,
    row: {
      name: 'local',
      model: 'qwen3',
      endpoint: { baseUrl: null, apiKeyEnv: null, api: 'auto', allowHttp: false, ...endpoint },
    },
    defaultModel: 'gpt-default',
    ...setup,
  })

const ask = async (reviewer: AskReviewer, changes: Partial<Question> = {}): Promise<Answer> =>
  reviewer({ ...question, ...changes }, { signal: new AbortController().signal, onProgress: () => {} })

/** Chat Completions or Responses, and whether a schema was sent. */
const formsAt = ({ received }: OpenAiHttp): string[] =>
  received.map(({ path, body }) => `${path}${'response_format' in body || 'text' in body ? ' schema' : ''}`)

const chat = '/v1/chat/completions'
const responses = '/v1/responses'

describe('the key', () => {
  it('of OpenAI stays at home where a row names a server', async () => {
    const server = await startOpenAiHttp(chatReply(approved))
    expect(await ask(reviewerOf({ baseUrl: server.url }))).toMatchObject({ kind: 'answered', text: approved })
    const { headers } = server.received[0] ?? {}
    expect(Object.keys(headers ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
    ])
    expect(JSON.stringify(server.received)).not.toContain(openaiKey)
  })

  it('of the row goes to the server of the row, and no other', async () => {
    const server = await startOpenAiHttp(chatReply(approved))
    await ask(reviewerOf({ baseUrl: server.url, apiKeyEnv: 'OTHER_KEY' }))
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${otherKey}`)
    expect(JSON.stringify(server.received)).not.toContain(openaiKey)
  })

  it('of the row goes to OPENAI_BASE_URL where the row names no server', async () => {
    const server = await startOpenAiHttp(chatReply(approved))
    await ask(reviewerOf({ apiKeyEnv: 'OTHER_KEY' }, { env: { ...environment, OPENAI_BASE_URL: server.url } }))
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${otherKey}`)
  })

  it('that is named and not set ends before any request, in the words of the row', async () => {
    const server = await startOpenAiHttp(chatReply(approved))
    const answer = await ask(reviewerOf({ baseUrl: server.url, apiKeyEnv: 'NO_SUCH_KEY' }))
    expect(answer).toMatchObject({ failure: 'auth', why: 'NO_SUCH_KEY is not set.' })
    expect(server.received).toHaveLength(0)
  })

  it.each<[string, Partial<Endpoint>, string]>([
    ['none', {}, 'needs a key, and none is sent (401).'],
    ['another', { apiKeyEnv: 'OTHER_KEY' }, 'does not accept the key (401).'],
  ])('that the server wants, and gets %s', async (_, endpoint, why) => {
    const server = await startOpenAiHttp(json(401, {}))
    const answer = await ask(reviewerOf({ baseUrl: server.url, ...endpoint }))
    expect(answer).toMatchObject({ failure: 'auth', why: `${server.host} ${why}` })
    expect(answer.kind === 'failed' && answer.nextStep).toContain(endpoint.apiKeyEnv ?? 'api_key_env')
  })
})

describe('the address', () => {
  it.each([
    [
      'http://192.0.2.1:8000/v1',
      'is not encrypted (http://192.0.2.1:8000), so the text and the key could be read on the way',
    ],
    ['https://ada:secret@a.example/v1', 'holds a user name or a password'],
  ])('%s is refused, and no connection is made', async (baseUrl, flaw) => {
    const startedAt = performance.now()
    const answer = await ask(reviewerOf({ baseUrl }))
    expect(answer).toMatchObject({ failure: 'rejected', why: `The base_url of the row "local" ${flaw}.` })
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })

  it('may be http beyond this machine with allow_http', async () => {
    // Reserved for documentation: there is nobody.
    const answer = await ask(reviewerOf({ baseUrl: 'http://192.0.2.1:8000/v1', allowHttp: true }), { timeoutMs: 200 })
    expect(answer).toMatchObject({ failure: expect.stringMatching(/^(?:timeout|transport)$/), notices: [] })
    const env = { ...environment, OPENAI_BASE_URL: 'http://192.0.2.1:8000/v1' }
    const byEnvironment = reviewerOf({ apiKeyEnv: 'OTHER_KEY', allowHttp: true }, { env })
    expect(await ask(byEnvironment, { timeoutMs: 200 })).toMatchObject({
      notices: ['The key in OTHER_KEY goes unencrypted to 192.0.2.1:8000, and others on the way can read it.'],
    })
  })

  it('of a redirect is not asked', async () => {
    const elsewhere = await startOpenAiHttp(chatReply(approved))
    const server = await startOpenAiHttp(raw(307, '', { location: `${elsewhere.url}${chat}` }))
    const answer = await ask(reviewerOf({ baseUrl: server.url, apiKeyEnv: 'OTHER_KEY' }))
    expect(answer).toMatchObject({
      failure: 'transport',
      nextStep: 'Set base_url of the row "local" to where the API really is; redirects are not followed.',
    })
    expect(elsewhere.received).toHaveLength(0)
  })
})

/** Acts by the path, and by whether there is a schema. */
const server =
  (act: (path: string, hasSchema: boolean) => Act): Act =>
  (response, received) => {
    const { path, body } = received
    act(path, 'response_format' in body || 'text' in body)(response, received)
  }

const answerOn = (path: string): Act => (path === responses ? responsesReply(approved) : chatReply(approved))
const onlyChat = (missing: Act): Act => server((path) => (path === chat ? answerOn(path) : missing))
const onlyResponses = (missing: Act): Act => server((path) => (path === responses ? answerOn(path) : missing))
const noSchema = (missing: Act): Act => server((path, hasSchema) => (hasSchema ? missing : answerOn(path)))
const onlyChatNoSchema = (missing: Act): Act =>
  server((path, hasSchema) => (path === chat && !hasSchema ? answerOn(path) : missing))

const text404 = raw(404, '404 page not found', { 'content-type': 'text/plain' })
const detail404 = json(404, { detail: 'Not Found' })
const llama404 = json(404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } })
const studio200 = json(200, { error: 'Unexpected endpoint or method. (POST /v1/responses)' })
const router404 = json(404, {
  error: { message: 'No endpoints found that can handle the requested parameters.', code: 404 },
})
const empty404 = raw(404, '')
const schemaNotice = "The answer's form was only described in words: qwen3 there takes no schema."

describe('what a server does not have', () => {
  it.each<[string, Act, Partial<Endpoint>, Partial<Question>, readonly string[], readonly string[]]>([
    ['a chat-only server', onlyChat(text404), {}, {}, [`${chat} schema`], []],
    ['the same, asked about code', onlyChat(text404), {}, code, [`${chat} schema`], []],
    [
      'a server with Responses alone',
      onlyResponses(text404),
      {},
      {},
      [`${chat} schema`, chat, `${responses} schema`],
      [],
    ],
    [
      'the same, in vLLM’s words',
      onlyResponses(detail404),
      {},
      {},
      [`${chat} schema`, chat, `${responses} schema`],
      [],
    ],
    [
      'the same, in llama.cpp’s words',
      onlyResponses(llama404),
      {},
      {},
      [`${chat} schema`, chat, `${responses} schema`],
      [],
    ],
    [
      'the same, in LM Studio’s words',
      onlyResponses(studio200),
      {},
      {},
      [`${chat} schema`, chat, `${responses} schema`],
      [],
    ],
    ['the same with 405', onlyResponses(raw(405, '')), {}, {}, [`${chat} schema`, chat, `${responses} schema`], []],
    ['the same with 501', onlyResponses(raw(501, '')), {}, {}, [`${chat} schema`, chat, `${responses} schema`], []],
    [
      'a model that only Responses have',
      onlyResponses(
        apiError(404, { message: 'This model is only supported in v1/responses and not in v1/chat/completions.' }),
      ),
      {},
      {},
      [`${chat} schema`, chat, `${responses} schema`],
      [],
    ],
    ['a schema, with 404', noSchema(router404), {}, {}, [`${chat} schema`, chat], [schemaNotice]],
    ['a schema, with an empty 404', noSchema(empty404), {}, {}, [`${chat} schema`, chat], [schemaNotice]],
    ['a schema, with a 404 of the path', noSchema(detail404), {}, {}, [`${chat} schema`, chat], [schemaNotice]],
    [
      'a schema, with 500',
      noSchema(json(500, { error: 'Failed to parse grammar' })),
      {},
      {},
      [`${chat} schema`, chat],
      [schemaNotice],
    ],
    [
      'a schema, with a mute 500',
      noSchema(raw(500, 'Internal Server Error')),
      {},
      {},
      [`${chat} schema`, chat],
      [schemaNotice],
    ],
    ['neither Responses nor a schema', onlyChatNoSchema(detail404), {}, {}, [`${chat} schema`, chat], [schemaNotice]],
    [
      'a schema, where the row names the API',
      noSchema(detail404),
      { api: 'responses' },
      {},
      [`${responses} schema`, responses],
      [schemaNotice],
    ],
    [
      'nothing, where the row names the API',
      onlyResponses(text404),
      { api: 'responses' },
      {},
      [`${responses} schema`],
      [],
    ],
  ])('%s', async (_, act, endpoint, changes, forms, notices) => {
    const started = await startOpenAiHttp(act)
    const reviewer = reviewerOf({ baseUrl: started.url, ...endpoint })
    expect(await ask(reviewer, changes)).toMatchObject({ kind: 'answered', text: approved, notices })
    expect(formsAt(started)).toEqual(forms)
    // The next question of the run is asked as the last one was, and says as much.
    expect(await ask(reviewer, changes)).toMatchObject({ kind: 'answered', text: approved, notices })
    expect(formsAt(started).slice(forms.length)).toEqual(forms.slice(-1))
  })

  it('is asked for where OPENAI_BASE_URL leads elsewhere, too', async () => {
    const started = await startOpenAiHttp(onlyChat(studio200))
    const env = { ...environment, OPENAI_BASE_URL: started.url }
    expect(await ask(openaiReviewer({ env, defaultModel: 'm' }), code)).toMatchObject({ kind: 'answered' })
    expect(formsAt(started)).toEqual([`${responses} schema`, responses, `${chat} schema`])
  })

  it('a server that has none of it is asked in each form once, and its first answer counts', async () => {
    const started = await startOpenAiHttp(json(404, { error: 'first' }), detail404)
    const answer = await ask(reviewerOf({ baseUrl: `${started.url}/wrong` }))
    expect(answer).toMatchObject({
      failure: 'rejected',
      why: `${started.host} does not know the model qwen3 or the address (404): first`,
      nextStep: 'Check base_url of the row "local" (it usually ends in /v1) and model of the row "local".',
      notices: [],
    })
    expect(new Set(formsAt(started)).size).toBe(4)
    expect(started.received).toHaveLength(4)
  })

  it.each<[string, Act]>([
    [
      'Ollama',
      json(404, { error: { message: 'model "qwen3" not found, try pulling it first', type: 'not_found_error' } }),
    ],
    [
      'vLLM',
      json(404, { object: 'error', message: 'The model `qwen3` does not exist.', type: 'NotFoundError', code: 404 }),
    ],
    ['OpenRouter', json(400, { error: { message: 'qwen3 is not a valid model ID', code: 400 } })],
    ['Azure', json(404, { error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } })],
  ])('an unknown model is no unknown path: %s', async (_, act) => {
    const started = await startOpenAiHttp(act)
    const answer = await ask(reviewerOf({ baseUrl: started.url }))
    expect(answer).toMatchObject({ failure: 'rejected', why: expect.stringContaining('does not have the model qwen3') })
    expect(answer.kind === 'failed' && answer.nextStep).toContain('model of the row "local"')
    expect(started.received).toHaveLength(1)
  })

  it.each([502, 503, 429, 401, 413])('%i is no matter of form', async (status) => {
    const started = await startOpenAiHttp(raw(status, ''))
    expect((await ask(reviewerOf({ baseUrl: started.url }))).kind).toBe('failed')
    expect(started.received).toHaveLength(1)
  })
})

const events = (...datas: readonly unknown[]): Act =>
  raw(
    200,
    `: PROCESSING\n\n${datas.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('')}`,
    { 'content-type': 'text/event-stream; charset=utf-8' },
  )
const delta = (content: string, finish_reason: string | null = null): object => ({
  model: 'qwen3:8b',
  choices: [{ index: 0, delta: { content }, finish_reason }],
})
const usage = { prompt_tokens: 5, completion_tokens: 7 }

describe('thoughts and streams', () => {
  it.each<[string, Act, string | RegExp]>([
    ['thoughts with a verdict before the answer', chatReply(`<think>${approved}</think>\n${refused}`), refused],
    ['the same without the opening tag', chatReply(`${approved}</think>\n\n${refused}`), refused],
    ['thoughts that do not end', chatReply(`<think>\n${approved}`), /nothing but its thoughts/],
    ['thoughts alone', chatReply(`<think>${approved}</think>`), /nothing but its thoughts/],
    [
      'thoughts in a field of their own',
      chatReply(null, { message: { content: refused, reasoning_content: approved } }),
      refused,
    ],
    [
      'thoughts alone, in a field of their own',
      chatReply(null, { message: { content: '', reasoning_content: approved } }),
      /is empty/,
    ],
    [
      'thoughts in a part of their own',
      chatReply([
        { type: 'thinking', text: approved, thinking: [{ type: 'text', text: approved }] },
        { type: 'text', text: refused },
      ]),
      refused,
    ],
    [
      'a stream of thoughts and an answer',
      events(
        delta('<thi'),
        delta(`nk>${approved}`),
        delta('</think>'),
        delta(refused.slice(0, 30)),
        delta(refused.slice(30), 'stop'),
        '[DONE]',
      ),
      refused,
    ],
    [
      'a stream of nothing but thoughts',
      events(delta(`<think>${approved}`), delta('', 'stop'), '[DONE]'),
      /nothing but its thoughts/,
    ],
    ['a stream that breaks off', events(delta(approved)), /broke off/],
    [
      'a stream that reaches its limit',
      events(delta(approved.slice(0, 20), 'length'), '[DONE]'),
      /limit of its length/,
    ],
    [
      'a stream with an error',
      events(delta('{'), { error: { message: 'Out of memory', code: 'server_error' } }),
      /failed .*Out of memory/,
    ],
    [
      'an endless line',
      raw(200, `data: ${'x'.repeat(3_000)}`, { 'content-type': 'text/event-stream' }),
      /larger than any review/,
    ],
  ])('%s', async (_, act, expected) => {
    const started = await startOpenAiHttp(act)
    const answer = await ask(reviewerOf({ baseUrl: started.url }, { maxReplyBytes: 2_000 }))
    if (typeof expected === 'string') expect(answer.kind === 'answered' && answer.text.trim()).toBe(expected)
    else expect(answer.kind === 'failed' && answer.why).toMatch(expected)
    expect(started.received).toHaveLength(1)
  })

  it('a stream has a model and a usage', async () => {
    const started = await startOpenAiHttp(
      events(delta(refused, 'stop'), { model: 'qwen3:8b', choices: [], usage }, '[DONE]'),
    )
    expect(await ask(reviewerOf({ baseUrl: started.url }))).toMatchObject({
      text: refused,
      model: 'qwen3:8b',
      usage: { input: 5, cached: 0, output: 7, reasoning: 0 },
    })
  })

  const completed = (output: unknown): object => ({
    type: 'response.completed',
    response: { status: 'completed', model: 'qwen3:8b', output, usage: { input_tokens: 5, output_tokens: 7 } },
  })
  it.each<[string, Act]>([
    [
      'with the whole of it at the end',
      events(
        { type: 'response.created' },
        completed([{ type: 'message', content: [{ type: 'output_text', text: refused }] }]),
      ),
    ],
    [
      'in pieces alone',
      events(
        { type: 'response.reasoning_text.delta', delta: approved },
        { type: 'response.output_text.delta', delta: refused.slice(0, 9) },
        { type: 'response.output_text.delta', delta: refused.slice(9) },
        completed([]),
      ),
    ],
  ])('a stream of Responses, %s', async (_, act) => {
    const started = await startOpenAiHttp(act)
    const answer = await ask(reviewerOf({ baseUrl: started.url, api: 'responses' }))
    expect(answer).toMatchObject({ text: refused, model: 'qwen3:8b', usage: { input: 5, output: 7 } })
  })
})
