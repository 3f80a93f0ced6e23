import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type OpenaiSetup, openaiReviewer } from '../../../src/reviewers/openai/openai.ts'
import { type Answer, type Question, reviewerAnswerSchema } from '../../../src/schemas/review.ts'
import { project } from '../../support/project.ts'
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

const key = ['sk', 'test', 'a1b2c3d4e5f6'].join('-')
const answerText = '{"verdict":"APPROVED","is_optimal":true}'

const question: Question = {
  system: 'You review plans.',
  user: 'The plan: “Größe”.',
  model: 'gpt-5.2',
  effort: 'high',
  schema: reviewerAnswerSchema,
  thread: { kind: 'none' },
  root: null,
  timeoutMs: 20_000,
  subject: { type: 'plan', content: '# Plan' },
}
const codeQuestion: Question = { ...question, model: 'gpt-5.2-codex', subject: { type: 'code', content: 'diff' } }

type Run = { answer: Answer; signs: string[] }

async function ask(
  base: string | undefined,
  changes: Partial<Question> = {},
  { env, signal, ...setup }: Partial<OpenaiSetup> & { signal?: AbortSignal } = {},
): Promise<Run> {
  const signs: string[] = []
  const reviewer = openaiReviewer({
    env: { OPENAI_API_KEY: key, ...(base === undefined ? {} : { OPENAI_BASE_URL: base }), ...env },
    defaultModel: 'gpt-default',
    ...setup,
  })
  const context = { signal: signal ?? new AbortController().signal, onProgress: (sign: string) => signs.push(sign) }
  return { answer: await reviewer({ ...question, ...changes }, context), signs }
}

/** All that people get to see of a failure, and its class. */
const failureIn = (answer: Answer): unknown =>
  answer.kind === 'failed'
    ? { failure: answer.failure, why: answer.why, retryAfterMs: answer.retryAfterMs, notices: answer.notices }
    : answer

describe('the two APIs', () => {
  it('asks Chat Completions about a plan', async () => {
    const server = await startOpenAiHttp(chatReply(answerText))
    const { answer, signs } = await ask(server.url)
    expect(answer).toEqual({
      kind: 'answered',
      text: answerText,
      usage: { input: 120, cached: 100, output: 40, reasoning: 30 },
      model: 'gpt-5.2-2026-01-01',
      thread: null,
      notices: [],
    })
    expect(signs).toEqual(['waiting for gpt-5.2', 'answering'])
    const [sent] = server.received
    expect(server.received).toHaveLength(1)
    expect(sent?.path).toBe('/v1/chat/completions')
    expect(sent?.headers).toMatchObject({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })
    expect(sent?.body).toMatchObject({
      model: 'gpt-5.2',
      messages: [
        { role: 'system', content: 'You review plans.' },
        { role: 'user', content: 'The plan: “Größe”.' },
      ],
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'reviewer-answer', strict: true } },
    })
  })

  it('asks Responses about code, and has nothing stored there', async () => {
    const server = await startOpenAiHttp(responsesReply(answerText))
    const { answer, signs } = await ask(server.url, codeQuestion)
    expect(answer).toEqual({
      kind: 'answered',
      text: answerText,
      usage: { input: 220, cached: 200, output: 60, reasoning: 50 },
      model: 'gpt-5.2-codex-2026-01-01',
      thread: null,
      notices: [],
    })
    expect(signs).toEqual(['waiting for gpt-5.2-codex', 'answering'])
    expect(server.received[0]?.path).toBe('/v1/responses')
    expect(server.received[0]?.body).toMatchObject({
      model: 'gpt-5.2-codex',
      instructions: 'You review plans.',
      input: 'The plan: “Größe”.',
      store: false,
      reasoning: { effort: 'high' },
      text: { format: { type: 'json_schema', name: 'reviewer-answer', strict: true } },
    })
  })

  it.each<[Question['subject']['type'], string, string]>([
    ['plan', 'gpt-5.2', '/v1/chat/completions'],
    ['prd', 'gpt-5.2', '/v1/chat/completions'],
    ['sdd', 'gpt-5.2', '/v1/chat/completions'],
    ['sprint', 'gpt-5.2', '/v1/chat/completions'],
    ['code', 'gpt-5.2', '/v1/responses'],
    ['plan', 'gpt-5.2-codex', '/v1/responses'],
    ['sdd', 'gpt-5.2-pro', '/v1/responses'],
  ])('sends a %s for %s to %s', async (type, model, path) => {
    const server = await startOpenAiHttp(path.endsWith('responses') ? responsesReply('ok') : chatReply('ok'))
    const { answer } = await ask(server.url, { model, subject: { type, content: '' } })
    expect([answer.kind, server.received[0]?.path]).toEqual(['answered', path])
  })

  it('leaves out what was not asked for, and falls back to its own model', async () => {
    const server = await startOpenAiHttp(chatReply('ok'))
    await ask(server.url, { model: null, effort: null, schema: null })
    expect(Object.keys(server.received[0]?.body)).toEqual(['model', 'messages'])
    expect(server.received[0]?.body.model).toBe('gpt-default')
  })

  it('sends a schema that the strict mode takes: no $id, and a type everywhere', async () => {
    const server = await startOpenAiHttp(chatReply('ok'))
    await ask(server.url)
    const schema = server.received[0]?.body.response_format.json_schema.schema
    expect(schema.$id).toBeUndefined()
    expect(schema.properties.verdict).toEqual({
      enum: ['APPROVED', 'CHANGES_REQUIRED', 'DECISION_NEEDED'],
      type: 'string',
    })
    expect(schema.properties.findings.items.properties.severity.type).toBe('string')
    const nodes: { type?: unknown }[] = [schema]
    for (const node of nodes) {
      const { properties = {}, items } = node as { properties?: object; items?: object }
      nodes.push(...Object.values(properties), ...(items === undefined ? [] : [items]))
    }
    expect(nodes.filter(({ type }) => type === undefined)).toEqual([])
  })

  it.each<[string, Act, string]>([
    [
      'content in parts',
      chatReply([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
      'ab',
    ],
    ['no usage and no model', json(200, { choices: [{ finish_reason: 'stop', message: { content: 'x' } }] }), 'x'],
  ])('reads %s from Chat Completions', async (_, act, text) => {
    const server = await startOpenAiHttp(act)
    const { answer } = await ask(server.url)
    expect(answer).toMatchObject({ kind: 'answered', text })
  })

  it('joins the messages and the parts of Responses', async () => {
    const message = (...texts: string[]) => ({
      type: 'message',
      content: texts.map((text) => ({ type: 'output_text', text })),
    })
    const server = await startOpenAiHttp(responsesReply('', { output: [message('a', 'b'), message('c')], usage: null }))
    const { answer } = await ask(server.url, codeQuestion)
    expect(answer).toMatchObject({ kind: 'answered', text: 'ab\n\nc', usage: null })
  })
})

describe('what a server will not have', () => {
  const schemaError = apiError(400, {
    message: "Invalid schema for response_format 'reviewer-answer'",
    param: 'response_format',
  })
  const textFormatError = apiError(400, { param: 'text.format.schema', code: 'invalid_json_schema' })
  const effortError = apiError(400, {
    message: "Unsupported value: 'reasoning_effort' does not support 'high' with this model.",
    param: 'reasoning_effort',
    code: 'unsupported_value',
  })
  const schemaNotice = (model: string) =>
    `The answer's form was only described in words: ${model} there takes no schema.`
  const effortNotice = (model: string) => `Reasoning effort high was left out: ${model} there does not take it.`

  it.each<[string, readonly [Act, ...Act[]], Question, readonly string[], number]>([
    ['a schema', [schemaError, chatReply('ok')], question, [schemaNotice('gpt-5.2')], 2],
    ['an effort', [effortError, chatReply('ok')], question, [effortNotice('gpt-5.2')], 2],
    [
      'both, one after the other',
      [effortError, schemaError, chatReply('ok')],
      question,
      [effortNotice('gpt-5.2'), schemaNotice('gpt-5.2')],
      3,
    ],
    ['a schema (Responses)', [textFormatError, responsesReply('ok')], codeQuestion, [schemaNotice('gpt-5.2-codex')], 2],
    [
      'an effort (Responses)',
      [apiError(400, { param: 'reasoning.effort', code: 'unsupported_value' }), responsesReply('ok')],
      codeQuestion,
      [effortNotice('gpt-5.2-codex')],
      2,
    ],
    [
      'an effort, said in the words of another server',
      [
        json(422, { detail: [{ loc: ['body', 'reasoning_effort'], msg: 'extra fields not permitted' }] }),
        chatReply('ok'),
      ],
      question,
      [effortNotice('gpt-5.2')],
      2,
    ],
    [
      'a schema, named in the message alone',
      [json(400, { error: 'response_format json_schema is not supported' }), chatReply('ok')],
      question,
      [schemaNotice('gpt-5.2')],
      2,
    ],
  ])('leaves out %s and asks once more', async (_, acts, asked, notices, requests) => {
    const server = await startOpenAiHttp(...acts)
    const { answer } = await ask(server.url, asked)
    expect(answer).toMatchObject({ kind: 'answered', text: 'ok', notices })
    expect(server.received).toHaveLength(requests)
    const last = server.received.at(-1)?.body
    expect('response_format' in last || 'text' in last).toBe(!notices.some((notice) => notice.includes('schema')))
    expect('reasoning_effort' in last || 'reasoning' in last).toBe(!notices.some((notice) => notice.includes('effort')))
  })

  it('gives up where the complaint stays', async () => {
    const server = await startOpenAiHttp(schemaError)
    const { answer } = await ask(server.url)
    expect(failureIn(answer)).toMatchObject({ failure: 'rejected', notices: [schemaNotice('gpt-5.2')] })
    expect(server.received).toHaveLength(2)
  })

  it('asks only once about anything else', async () => {
    const server = await startOpenAiHttp(apiError(400, { message: 'Bad messages.', param: 'messages' }))
    const { answer } = await ask(server.url)
    expect(failureIn(answer)).toMatchObject({ failure: 'rejected', notices: [] })
    expect(server.received).toHaveLength(1)
  })
})

describe('failures have classes', () => {
  const inTwoMinutes = (): string => new Date(Date.now() + 120_000).toUTCString()
  const rate = { type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached.' }
  const html = { 'content-type': 'text/html; charset=utf-8' }

  it.each<[string, Act, Answer extends { failure: infer F } ? F : string, string | RegExp, number | null]>([
    [
      '401',
      apiError(401, { code: 'invalid_api_key', message: 'Incorrect API key.' }),
      'auth',
      /\(401\).*Incorrect/,
      null,
    ],
    ['403', apiError(403, { message: 'Country not supported' }), 'auth', /\(403\).*Country/, null],
    ['403 of a proxy', raw(403, '<html>Blocked</html>', html), 'transport', /probably a proxy/, null],
    ['407', raw(407, '', html), 'transport', /probably a proxy/, null],
    ['402', apiError(402, {}), 'quota', /\(402\)/, null],
    ['429 with seconds', apiError(429, rate, { 'retry-after': '7' }), 'rate-limited', /fewer requests/, 7_000],
    ['429 with half seconds', apiError(429, rate, { 'retry-after': '1.5' }), 'rate-limited', /fewer/, 1_500],
    ['429 without Retry-After', apiError(429, rate), 'rate-limited', /fewer requests/, null],
    ['429 without a code', apiError(429, { type: '', message: 'Slow down.' }), 'rate-limited', /: Slow down/, null],
    ['429 without a body', raw(429, '', { 'retry-after': '3' }), 'rate-limited', /fewer requests \(429\)\.$/, 3_000],
    ['429 of a gateway', raw(429, '<html>Too many</html>', html), 'rate-limited', /fewer requests/, null],
    ['429 with nonsense', apiError(429, rate, { 'retry-after': 'soon' }), 'rate-limited', /fewer/, null],
    [
      '429 with a date that is past',
      apiError(429, rate, { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }),
      'rate-limited',
      /fewer/,
      0,
    ],
    [
      '429 without quota',
      apiError(429, { code: 'insufficient_quota', type: 'insufficient_quota' }, { 'retry-after': '7' }),
      'quota',
      /no quota left/,
      null,
    ],
    ['429 with a billing limit', apiError(429, { code: 'billing_hard_limit_reached' }), 'quota', /no quota left/, null],
    ['429 with an inactive account', apiError(429, { code: 'billing_not_active' }), 'quota', /no quota left/, null],
    ['429 with an error in a list', json(429, { error: [{ code: 'insufficient_quota' }] }), 'quota', /no quota/, null],
    [
      '400 for the length',
      apiError(400, { code: 'context_length_exceeded', param: 'messages' }),
      'rejected',
      /longer than/,
      null,
    ],
    ['400 for the content', apiError(400, { code: 'invalid_prompt' }), 'refused', /did not let the text through/, null],
    [
      '404 for the model',
      apiError(404, { code: 'model_not_found', message: 'The model does not exist' }),
      'rejected',
      /does not have the model/,
      null,
    ],
    ['413', raw(413, ''), 'rejected', /longer than/, null],
    ['415', raw(415, ''), 'rejected', /did not accept/, null],
    ['408', raw(408, ''), 'server', /\(408\)/, null],
    ['409', raw(409, ''), 'server', /\(409\)/, null],
    [
      '500',
      apiError(500, { message: 'The server had an error', type: 'server_error' }),
      'server',
      /failed \(500\)/,
      null,
    ],
    ['502 of a proxy', raw(502, '<html>Bad gateway</html>', html), 'server', /\(502\)/, null],
    ['503 with Retry-After', apiError(503, {}, { 'retry-after': '2' }), 'server', /\(503\)/, 2_000],
    [
      'a page instead of an answer',
      raw(200, '<html>Sign in</html>', html),
      'transport',
      /answered with text\/html/,
      null,
    ],
    [
      'a stream that breaks off',
      raw(200, 'data: {}\n\n', { 'content-type': 'text/event-stream' }),
      'transport',
      /broke off in the middle/,
      null,
    ],
    [
      'JSON that is not',
      raw(200, '{"choices": [', { 'content-type': 'application/json' }),
      'transport',
      /is not JSON/,
      null,
    ],
    ['an empty body', raw(200, '', { 'content-type': 'application/json' }), 'transport', /is not JSON/, null],
    ['204', raw(204, ''), 'transport', /is not JSON/, null],
    ['an unknown form', json(200, { hello: 'there' }), 'malformed', /no choices/, null],
    ['no choice', json(200, { choices: [] }), 'malformed', /empty/, null],
    ['an empty answer', chatReply('  \n'), 'malformed', /empty/, null],
    ['no content', chatReply(null), 'malformed', /empty/, null],
    [
      'an answer cut by its length',
      chatReply('{"ver', { finish_reason: 'length' }),
      'malformed',
      /limit of its length/,
      null,
    ],
    ['a content filter', chatReply('', { finish_reason: 'content_filter' }), 'refused', /content filter/, null],
    [
      'a refusal',
      chatReply(null, { message: { content: null, refusal: "I'm sorry, I cannot." } }),
      'refused',
      "The model declined to review this: I'm sorry, I cannot.",
      null,
    ],
    ['an error with status 200', json(200, { error: { code: 'insufficient_quota' } }), 'quota', /no quota/, null],
  ])('%s', async (_, act, failure, why, retryAfterMs) => {
    const server = await startOpenAiHttp(act)
    const { answer } = await ask(server.url)
    expect(failureIn(answer)).toMatchObject({ failure, retryAfterMs, notices: [] })
    const said = answer.kind === 'failed' ? answer.why : ''
    if (typeof why === 'string') expect(said).toBe(why)
    else expect(said).toMatch(why)
    expect(server.received).toHaveLength(1)
  })

  it.each<[string, Act, string, RegExp]>([
    [
      'a refusal',
      responsesReply('', { output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'I cannot.' }] }] }),
      'refused',
      /declined to review this: I cannot\.$/,
    ],
    [
      'an incomplete answer',
      responsesReply('{"ver', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
      'malformed',
      /not complete \(max_output_tokens\)/,
    ],
    [
      'an incomplete answer with a reason that a terminal would obey',
      responsesReply('{"ver', { status: 'incomplete', incomplete_details: { reason: '\u001b[2J' } }),
      'malformed',
      /not complete \( \[2J\)\.$/,
    ],
    [
      'a filtered answer',
      responsesReply('', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }),
      'refused',
      /content filter/,
    ],
    ['a state of waiting', responsesReply('', { status: 'queued' }), 'malformed', /"queued"/],
    [
      'a failure of the server',
      responsesReply('', { status: 'failed', error: { code: 'server_error' } }),
      'server',
      /failed/,
    ],
    [
      'a rate limit',
      responsesReply('', { status: 'failed', error: { code: 'rate_limit_exceeded' } }),
      'rate-limited',
      /fewer/,
    ],
    ['an unknown form', json(200, { hello: 'there' }), 'malformed', /no output/],
    ['an empty answer', responsesReply(' '), 'malformed', /empty/],
  ])('%s (Responses)', async (_, act, failure, why) => {
    const server = await startOpenAiHttp(act)
    const { answer } = await ask(server.url, codeQuestion)
    expect(failureIn(answer)).toMatchObject({ failure })
    expect(answer.kind === 'failed' ? answer.why : '').toMatch(why)
  })

  it('understands a date in Retry-After', async () => {
    const server = await startOpenAiHttp(apiError(429, rate, { 'retry-after': inTwoMinutes() }))
    const { answer } = await ask(server.url)
    const wait = answer.kind === 'failed' ? (answer.retryAfterMs ?? 0) : 0
    expect(wait).toBeGreaterThan(60_000)
    expect(wait).toBeLessThanOrEqual(120_000)
  })
})

describe('the connection', () => {
  const partly: Act = (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"choices": [')
  }

  it('says that it broke off', async () => {
    const server = await startOpenAiHttp((response, received) => {
      partly(response, received)
      setTimeout(() => response.destroy(), 20)
    })
    const { answer } = await ask(server.url)
    expect(failureIn(answer)).toMatchObject({
      failure: 'transport',
      why: `The connection to ${server.host} broke off in the middle of the answer.`,
    })
  })

  it('says that it broke off in the middle of a chunked answer', async () => {
    const server = await startOpenAiHttp((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices": [')
      setTimeout(() => response.socket?.destroy(), 20)
    })
    const { answer } = await ask(server.url)
    expect(failureIn(answer)).toMatchObject({ failure: 'transport' })
  })

  it('says that it was closed without an answer', async () => {
    const server = await startOpenAiHttp((response) => response.socket?.destroy())
    const { answer } = await ask(server.url)
    expect(failureIn(answer)).toMatchObject({
      failure: 'transport',
      why: `No connection to ${server.host}: ECONNRESET.`,
    })
  })

  it('says that there is no server', async () => {
    const { answer } = await ask('http://127.0.0.1:1')
    expect(failureIn(answer)).toMatchObject({
      failure: 'transport',
      why: 'No connection to 127.0.0.1:1: ECONNREFUSED.',
    })
  })

  it('keeps the deadline while it waits for the headers, and hangs up', async () => {
    const server = await startOpenAiHttp(() => {})
    const { answer, signs } = await ask(server.url, { timeoutMs: 300 })
    expect(failureIn(answer)).toMatchObject({ failure: 'timeout', why: `${server.host} did not answer within 300 ms.` })
    expect(signs).toEqual(['waiting for gpt-5.2'])
    await expect.poll(server.closed).toBe(1)
  })

  it('keeps the deadline in the middle of the body, and hangs up', async () => {
    const server = await startOpenAiHttp(partly)
    const { answer, signs } = await ask(server.url, { timeoutMs: 1_500 })
    expect(failureIn(answer)).toMatchObject({
      failure: 'timeout',
      why: `${server.host} began to answer but did not finish within 2 s.`,
    })
    expect(signs).toEqual(['waiting for gpt-5.2', 'answering'])
    await expect.poll(server.closed).toBe(1)
  })

  it('keeps the deadline while bytes drip', async () => {
    const server = await startOpenAiHttp((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    })
    const { answer } = await ask(server.url, { timeoutMs: 400 })
    expect(failureIn(answer)).toMatchObject({ failure: 'timeout' })
  })

  it('is one deadline for the second question too', async () => {
    const server = await startOpenAiHttp(apiError(400, { param: 'response_format' }), () => {})
    const { answer } = await ask(server.url, { timeoutMs: 1_400 })
    expect(failureIn(answer)).toMatchObject({ failure: 'timeout', why: `${server.host} did not answer within 1 s.` })
    expect(server.received).toHaveLength(2)
  })

  it('stops reading a body that has no end', async () => {
    const server = await startOpenAiHttp((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const piece = Buffer.alloc(64 * 1024, ' ')
      const pour = (): void => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', pour)
      pour()
    })
    const { answer } = await ask(server.url, {}, { maxReplyBytes: 1024 * 1024 })
    expect(failureIn(answer)).toMatchObject({
      failure: 'malformed',
      why: `The reply of ${server.host} is larger than any review.`,
    })
    await expect.poll(server.closed).toBe(1)
  })

  it('is cancelled by the caller, before, while it waits and in the body', async () => {
    const cancelled = { failure: 'cancelled', why: 'The review was cancelled.' }
    const server = await startOpenAiHttp(() => {})
    expect(failureIn((await ask(server.url, {}, { signal: AbortSignal.abort() })).answer)).toMatchObject(cancelled)
    expect(server.received).toHaveLength(0)

    for (const act of [() => {}, partly] as const) {
      const controller = new AbortController()
      const other = await startOpenAiHttp((response, received) => {
        act(response, received)
        setTimeout(() => controller.abort(), 30)
      })
      expect(failureIn((await ask(other.url, {}, { signal: controller.signal })).answer)).toMatchObject(cancelled)
      await expect.poll(other.closed).toBe(1)
    }
  })

  it('does not follow a redirect to another host, and never speaks to it', async () => {
    const elsewhere = await startOpenAiHttp(chatReply('ok'))
    const server = await startOpenAiHttp(raw(307, '', { location: `${elsewhere.url}/v1/chat/completions?k=${key}` }))
    const { answer } = await ask(server.url)
    expect(failureIn(answer)).toMatchObject({
      failure: 'transport',
      why: `${server.host} sends the request on to ${elsewhere.host}.`,
    })
    expect(elsewhere.received).toHaveLength(0)
  })

  it.each([301, 302, 303, 307, 308])('does not follow a %i on the same host', async (status) => {
    const server = await startOpenAiHttp(raw(status, '', { location: '/elsewhere' }), chatReply('ok'))
    const { answer } = await ask(server.url)
    expect(failureIn(answer)).toMatchObject({
      failure: 'transport',
      why: `${server.host} sends the request on to /elsewhere.`,
    })
    expect(server.received).toHaveLength(1)
  })

  it('sends and reads large texts whole', async () => {
    const large = 'ä'.repeat(1_000_000)
    const server = await startOpenAiHttp((response, { body }) =>
      chatReply(body.messages[1].content)(response, { path: '', headers: {}, body }),
    )
    const { answer } = await ask(server.url, { user: large })
    expect(answer.kind === 'answered' && answer.text === large).toBe(true)
  })
})

describe('the key', () => {
  it.each<[string, string | undefined, string]>([
    ['missing', undefined, 'OPENAI_API_KEY is not set.'],
    ['empty', '', 'OPENAI_API_KEY is not set.'],
    ['blank', '  \n', 'OPENAI_API_KEY is not set.'],
    ['followed by a line break', `${key}\n`, 'OPENAI_API_KEY cannot be sent: it contains a line break.'],
    ['with a header in it', `${key}\r\nx-evil: 1`, 'OPENAI_API_KEY cannot be sent: it contains a line break.'],
    ['with a space', `${key} `, 'OPENAI_API_KEY cannot be sent: it contains a space.'],
    ['not ASCII', `${key}é`, 'OPENAI_API_KEY cannot be sent: it contains a character that is not plain ASCII.'],
  ])('that is %s ends before any request', async (_, value, why) => {
    const server = await startOpenAiHttp(chatReply('ok'))
    const { answer, signs } = await ask(server.url, {}, { env: { OPENAI_API_KEY: value } })
    expect(failureIn(answer)).toEqual({ failure: 'auth', why, retryAfterMs: null, notices: [] })
    expect({ requests: server.received.length, signs }).toEqual({ requests: 0, signs: [] })
  })

  const echo: Act = (response, { headers }) =>
    apiError(401, { message: `${'x'.repeat(270)} You sent ${headers.authorization} \u001b[31m\nand that is wrong.` })(
      response,
      { path: '', headers: {}, body: null },
    )

  it.each<[string, Act]>([
    ['an error', echo],
    ['a redirect', raw(302, '', { location: `/back?key=${key}` })],
    ['a content type', raw(200, 'x', { 'content-type': `text/${key}` })],
    ['a refusal', chatReply(null, { message: { content: null, refusal: key } })],
    ['an answer', chatReply(`You sent ${key}.`)],
    ['a model', json(200, { model: key, choices: [{ message: { content: 'x' } }] })],
  ])('is not in what comes back with %s', async (_, act) => {
    const server = await startOpenAiHttp(act)
    const run = await ask(server.url)
    expect(JSON.stringify(run)).not.toContain(key)
    expect(JSON.stringify(run)).not.toContain(key.slice(0, 12))
    expect(JSON.stringify(run)).not.toContain('\\u001b')
  })

  it('of a local server that wants any word leaves the answer whole', async () => {
    const server = await startOpenAiHttp(chatReply('{"verdict":"APPROVED"}'))
    const { answer } = await ask(server.url, {}, { env: { OPENAI_API_KEY: 'e' } })
    expect(answer).toMatchObject({ text: '{"verdict":"APPROVED"}' })
  })

  it('is in no process: the reviewer starts none', () => {
    const folder = join(project, 'src/reviewers/openai')
    const sources = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    expect(sources.length).toBeGreaterThan(2)
    expect(sources.join('\n')).not.toMatch(/child_process|execa/)
  })
})

describe('OPENAI_BASE_URL', () => {
  it.each<[string, string]>([
    ['', '/v1/chat/completions'],
    ['/', '/v1/chat/completions'],
    ['/v1', '/v1/chat/completions'],
    ['/v1/', '/v1/chat/completions'],
    ['/openai/v1', '/openai/v1/chat/completions'],
    ['/v1beta/openai/', '/v1beta/openai/chat/completions'],
    ['/openai/v1?api-version=preview', '/openai/v1/chat/completions?api-version=preview'],
  ])('ending in %j leads to %s', async (ending, path) => {
    const server = await startOpenAiHttp(chatReply('ok'))
    const { answer } = await ask(`${server.url}${ending}`)
    expect([answer.kind, server.received[0]?.path]).toEqual(['answered', path])
  })

  it.each<[string, (server: OpenAiHttp) => string]>([
    ['localhost', ({ host }) => `http://localhost:${host.split(':')[1]}/v1`],
    ['an address of 127.0.0.0/8', ({ host }) => `http://127.0.0.1:${host.split(':')[1]}`],
    ['spaces around it', ({ url }) => `  ${url}/v1 `],
  ])('may be http for %s', async (_, base) => {
    const server = await startOpenAiHttp(chatReply('ok'))
    const { answer } = await ask(base(server))
    expect(answer.kind).toBe('answered')
  })

  it.each<[string, RegExp]>([
    ['http://api.example.com/v1', /not encrypted \(http:\/\/api\.example\.com\)/],
    ['http://10.0.0.1', /not encrypted/],
    ['http://127.0.0.1.example.com', /not encrypted/],
    ['http://localhost.example.com', /not encrypted/],
    ['http://[::ffff:10.0.0.1]', /not encrypted/],
    ['https://ada:secret@api.example.com/v1', /user name or a password/],
    ['https://ada@api.example.com/v1', /user name or a password/],
    ['https://api.example.com/v1?key=secret', /has a query that is not api-version/],
    ['https://api.example.com/v1?api-version=secret', /has a query that is not api-version/],
    ['https://api.example.com/v1#secret', /has a query that is not api-version/],
    ['ftp://example.com', /does not begin with https/],
    ['localhost:8080/v1', /does not begin with https/],
    ['file:///etc/passwd', /does not begin with https/],
    ['api.example.com', /is not an address/],
  ])('%s is refused before any request', async (base, why) => {
    const { answer, signs } = await ask(base)
    expect(failureIn(answer)).toMatchObject({ failure: 'rejected', why: expect.stringMatching(why) })
    expect(JSON.stringify(answer)).not.toContain('secret')
    expect(signs).toEqual([])
  })

  it('takes https for what it is', async () => {
    const server = await startOpenAiHttp(chatReply('ok'))
    const { answer } = await ask(`https://${server.host}/v1`)
    expect(failureIn(answer)).toMatchObject({ failure: 'transport' })
    expect(server.received).toHaveLength(0)
  })
})
