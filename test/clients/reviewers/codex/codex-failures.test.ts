import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { FailureClass } from '../../../../src/schemas/review.ts'
import type { Turn } from '../../../support/servers/responses-api.ts'
import { type AskMore, type CodexScript, withCodex } from '../../../support/with-codex.ts'

/** What a server can do to the real Codex, and the class that it must come to. Codex's own patience is far longer. */
const http = (
  status: number,
  message: string,
  more: { code?: string; headers?: { [name: string]: string } } = {},
): Turn => ({
  kind: 'http',
  status,
  body: { error: { message, type: more.code ?? 'error', code: more.code ?? null } },
  ...(more.headers === undefined ? {} : { headers: more.headers }),
})
const failed = (code: string, message: string): Turn => ({ kind: 'model', failed: { code, message } })

type Row = {
  name: string
  turn: Turn
  expected: FailureClass
  timeoutMs?: number
  retryAfterMs?: number
  script?: Partial<CodexScript>
  limits?: AskMore['limits']
}

const rows: Row[] = [
  { name: '401', turn: http(401, 'Incorrect API key provided.'), expected: 'auth' },
  {
    name: '401 at the provider that Codex knows',
    turn: http(401, 'Missing bearer'),
    expected: 'auth',
    script: { provider: 'built-in' },
  },
  { name: '403', turn: http(403, 'Country not supported'), expected: 'auth' },
  {
    name: '404 for a model',
    turn: http(404, 'The model `x` does not exist.', { code: 'model_not_found' }),
    expected: 'rejected',
  },
  {
    name: '404 for the address',
    turn: { kind: 'http', status: 404, body: '<html>nothing here</html>' },
    expected: 'rejected',
  },
  { name: '400', turn: http(400, 'Something is wrong', { code: 'invalid_value' }), expected: 'rejected' },
  { name: '402', turn: http(402, 'Pay first'), expected: 'quota' },
  { name: '413', turn: { kind: 'http', status: 413, body: 'too large' }, expected: 'rejected' },
  {
    name: '429 without a time',
    turn: http(429, 'Rate limit reached', { code: 'rate_limit_exceeded' }),
    expected: 'rate-limited',
  },
  {
    name: '429 with a time that outlives the deadline',
    turn: http(429, 'Rate limit reached', { headers: { 'retry-after': '30' } }),
    expected: 'rate-limited',
    timeoutMs: 6_000,
  },
  {
    name: '429 with a usage limit',
    turn: http(429, 'The usage limit has been reached', { code: 'usage_limit_reached' }),
    expected: 'quota',
  },
  {
    name: '429 without quota',
    turn: http(429, 'You exceeded your current quota', { code: 'insufficient_quota' }),
    expected: 'quota',
  },
  { name: '500', turn: http(500, 'boom'), expected: 'server', script: { retries: 1 } },
  {
    name: '503 with a time',
    turn: http(503, 'busy', { headers: { 'retry-after': '1' } }),
    expected: 'server',
    script: { retries: 1 },
  },
  {
    name: 'a stream that is cut at its beginning',
    turn: { kind: 'cut', when: 'after-created' },
    expected: 'transport',
    script: { retries: 1 },
  },
  {
    name: 'a stream that is cut in the answer',
    turn: { kind: 'cut', when: 'after-delta' },
    expected: 'transport',
    script: { retries: 1 },
  },
  {
    name: '200 that is a page',
    turn: { kind: 'http', status: 200, body: '<html></html>' },
    expected: 'transport',
    script: { retries: 1 },
  },
  {
    name: 'no headers, for ever',
    turn: { kind: 'hang', when: 'before-headers' },
    expected: 'timeout',
    timeoutMs: 2_500,
  },
  {
    name: 'no event after the first, for ever',
    turn: { kind: 'hang', when: 'after-created' },
    expected: 'timeout',
    timeoutMs: 2_500,
  },
  { name: 'a context that is too small', turn: failed('context_length_exceeded', 'too long'), expected: 'rejected' },
  { name: 'an overloaded server', turn: failed('server_is_overloaded', 'busy'), expected: 'server' },
  {
    name: 'an error of the server',
    turn: failed('server_error', 'The server had an error'),
    expected: 'server',
    script: { retries: 1 },
  },
  {
    name: 'a prompt that is not allowed',
    turn: failed('invalid_prompt', 'Invalid prompt: not allowed.'),
    expected: 'refused',
  },
  { name: 'no quota in the stream', turn: failed('insufficient_quota', 'You exceeded your quota'), expected: 'quota' },
  { name: 'no plan for it', turn: failed('usage_not_included', 'x'), expected: 'quota' },
  {
    name: 'a rate limit in the stream',
    turn: failed('rate_limit_exceeded', 'Rate limit reached. Please try again in 7s.'),
    expected: 'rate-limited',
    timeoutMs: 6_000,
    retryAfterMs: 7_000,
  },
  {
    name: 'an answer that the filter stops',
    turn: { kind: 'model', text: 'a', incomplete: 'content_filter' },
    expected: 'refused',
    script: { retries: 1 },
  },
  {
    name: 'a key that is not set',
    turn: { kind: 'model', text: 'yes' },
    expected: 'auth',
    script: { env: { FAKE_KEY: '' } },
  },
  {
    name: 'a configuration that is none',
    turn: { kind: 'model', text: 'yes' },
    expected: 'not-installed',
    script: { config: 'a = = 1' },
  },
  {
    name: 'a home that is not there',
    turn: { kind: 'model', text: 'yes' },
    expected: 'not-installed',
    script: { env: { CODEX_HOME: '/nowhere/codex' } },
  },
]

describe('a failure of the service', () => {
  it.concurrent.each(rows)(
    '$name → $expected',
    ({ turn, expected, script, limits, timeoutMs = 25_000, retryAfterMs = null }) =>
      withCodex({ turns: [turn], ...script }, async (codex) => {
        const answer = await codex.ask({ timeoutMs }, limits === undefined ? {} : { limits })
        expect(answer).toMatchObject({ kind: 'failed', failure: expected, retryAfterMs, thread: null, notices: [] })
        expect(codex.processes()).toEqual([])
      }),
  )

  it.concurrent.each([
    { name: 'at the deadline', timeoutMs: 9_000, networkMs: 60_000 },
    { name: 'before it, once the time for it is over', timeoutMs: 27_000, networkMs: 2_000 },
  ])('no server → transport, $name', async ({ timeoutMs, networkMs }) => {
    const baseUrl = await deadAddress()
    await withCodex({ turns: [{ kind: 'model', text: 'yes' }], baseUrl }, async (codex) => {
      const startedAt = performance.now()
      expect(await codex.ask({ timeoutMs }, { limits: { networkMs } })).toMatchObject({ failure: 'transport' })
      expect(codex.signs).toContain('codex is waiting for a network')
      if (networkMs < timeoutMs) expect(performance.now() - startedAt).toBeLessThan(timeoutMs - 2_000)
      expect(codex.processes()).toEqual([])
    })
  })

  it.concurrent('a login that is not accepted is not tried six times', () =>
    withCodex({ turns: [http(401, 'Incorrect API key provided.')] }, async (codex) => {
      await codex.ask()
      expect(codex.api.requests.length).toBeLessThan(5)
    }))

  it.concurrent('a service that comes back in time is a success', () =>
    withCodex(
      { turns: [http(500, 'boom'), { kind: 'cut', when: 'after-delta' }, { kind: 'model', text: 'yes' }] },
      async (codex) => {
        expect(await codex.ask()).toMatchObject({ kind: 'answered', text: 'yes' })
      },
    ))
})

/** A port that was free a moment ago. */
async function deadAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 9}/v1`
}
