import { readBaseUrl } from '../../../../src/reviewers/openai/base-url.ts'
import { readReply, readRetryAfter } from '../../../../src/reviewers/openai/reply.ts'
import { demand, type Target } from '../target.ts'

const chat = {
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'The answer.', refusal: null } }],
  usage: { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } },
}
const responses = {
  model: 'm',
  status: 'completed',
  error: null,
  output: [{ type: 'reasoning' }, { type: 'message', content: [{ type: 'output_text', text: 'The answer.' }] }],
  usage: { input_tokens: 1, output_tokens: 2, output_tokens_details: { reasoning_tokens: 1 } },
}
const error = (code: string, type = code): object => ({
  error: { message: `It says ${code}`, type, code, param: null },
})
const form = (api: string, status: number, headers: object, body: unknown): string =>
  JSON.stringify({ api, status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
const json = { 'content-type': 'application/json; charset=utf-8' }

/** What comes back from an address that is said to be OpenAI's. */
export const httpAnswer: Target = {
  name: 'http-answer',
  seeds: [
    form('chat', 200, json, chat),
    form('responses', 200, json, responses),
    form('chat', 200, json, {
      ...chat,
      choices: [{ finish_reason: 'length', message: { content: [{ type: 'text', text: 'a' }] } }],
    }),
    form('chat', 200, json, { choices: [{ finish_reason: 'content_filter', message: { refusal: 'No.' } }] }),
    form('responses', 200, json, {
      ...responses,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    }),
    form('responses', 200, json, { status: 'failed', error: { code: 'server_error', message: 'x' } }),
    form('chat', 429, { ...json, 'retry-after': '2', 'retry-after-ms': '1500' }, error('insufficient_quota')),
    form('chat', 429, { 'retry-after': 'Wed, 01 Jan 2031 00:00:00 GMT' }, error('rate_limit_exceeded')),
    form('chat', 401, json, error('invalid_api_key')),
    form('chat', 403, { 'content-type': 'text/html' }, '<html>no</html>'),
    form('chat', 302, { location: 'https://elsewhere.example/v1' }, ''),
    form('chat', 200, { 'content-type': 'text/html' }, '<html></html>'),
    form('responses', 500, {}, 'Internal'),
    form('chat', 400, json, { error: [{ message: 'a gateway' }] }),
  ],
  pieces: [
    ...[
      'choices',
      'message',
      'content',
      'refusal',
      'finish_reason',
      'length',
      'output',
      'type',
      'text',
      'status',
      'error',
      'code',
    ],
    ...[
      'insufficient_quota',
      'content_filter',
      'context_length_exceeded',
      'model_not_found',
      'rate_limit_exceeded',
      'usage',
    ],
    ...[
      'prompt_tokens',
      'input_tokens',
      'retry-after',
      'retry-after-ms',
      'content-type',
      'application/json',
      'text/html',
      'location',
    ],
    ...[
      'responses',
      'chat',
      '\\"',
      '{}',
      '[]',
      '[{}]',
      'null',
      '1e309',
      '-5',
      '99999999999999',
      'GMT',
      'http://[::1',
      '//x',
      'é',
      '\\u0000',
    ],
  ],
  parses: 2,
  open: () => ({ look }),
}

type Form = { api: 'chat' | 'responses'; status: number; headers: { [name: string]: string }; body: string }
const secret = 'sk-test-not-a-real-key'

function look(text: string): string {
  const reply = parse(text)
  const base = readBaseUrl(text.slice(0, 200))
  if (base.kind === 'base')
    demand(
      base.url.protocol === 'https:' || /^(?:localhost|\[::1\]|127\.)/.test(base.url.hostname),
      'a key would go unencrypted',
    )
  const stop = { by: null, timeoutMs: 1_000, hasBegun: true }
  const answer = readReply(
    { kind: 'replied', ...reply, body: reply.body.replaceAll('The answer', `The answer ${secret}`) },
    {
      api: reply.api === 'chat' ? 'chat/completions' : 'responses',
      model: 'asked',
      host: 'api.example',
      secrets: [secret],
      names: { baseUrl: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY', model: 'review.models' },
      stop,
    },
  )
  const wait = readRetryAfter(reply.headers, 1_900_000_000_000)
  demand(wait === null || (Number.isFinite(wait) && wait >= 0), 'it is asked to wait for less than nothing')
  if (answer.kind === 'answered') {
    demand(answer.text.trim() !== '' && reply.status >= 200 && reply.status < 300, 'an answer of nothing')
    demand(
      answer.usage === null || Object.values(answer.usage).every((count) => Number.isFinite(count) && count >= 0),
      'less than nothing was used',
    )
    return `answered ${answer.usage === null}`
  }
  demand(
    answer.why.length < 900 && !/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/.test(answer.why),
    `a failure that is not to be read: ${answer.why}`,
  )
  demand(!answer.why.includes(secret), 'a key is told')
  demand(answer.retryAfterMs === null || answer.retryAfterMs >= 0, 'it is asked to wait for less than nothing')
  return `${answer.failure} ${answer.why.slice(0, 30)}`
}

/** What is no form counts as a body. */
function parse(text: string): Form {
  const none: Form = { api: text.length % 2 === 0 ? 'chat' : 'responses', status: 200, headers: {}, body: text }
  try {
    const { api, status, headers, body } = { ...none, ...(JSON.parse(text) as Partial<Form> | null) }
    const given = Object.entries(headers ?? {}).filter(
      ([name, value]) => typeof value === 'string' && name !== '__proto__',
    )
    return {
      api: api === 'chat' ? 'chat' : 'responses',
      status: typeof status === 'number' ? Math.abs(Math.trunc(status)) % 1_000 : 200,
      headers: Object.fromEntries(given),
      body: typeof body === 'string' ? body : JSON.stringify(body ?? null),
    }
  } catch {
    return none
  }
}
