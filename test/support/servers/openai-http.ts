import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { serve } from './serve.ts'

type Received = {
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent, looked into by the tests
  body: any
}

/** What the server does with the nth request, counted from 0; after the last one it goes on with that. */
export type Act = (response: ServerResponse, received: Received) => void

export type OpenAiHttp = { url: string; host: string; received: readonly Received[]; closed: () => number }

/** OpenAI's HTTPS API without the S, on 127.0.0.1, for one test; it does what the test says, also what is wrong. */
export async function startOpenAiHttp(...acts: readonly [Act, ...Act[]]): Promise<OpenAiHttp> {
  const received: Received[] = []
  let closed = 0
  const server = createServer((request, response) => {
    request.socket.on('close', () => {
      closed += 1
    })
    readText(request)
      .then((body) => {
        const act = acts[Math.min(received.length, acts.length - 1)] ?? acts[0]
        const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(body) }
        received.push(one)
        act(response, one)
      })
      // A client that went away has nothing to be told.
      .catch(() => response.destroy())
  })
  const { host, close } = await serve(server, 60_000)
  onTestFinished(close)
  return { url: `http://${host}`, host, received, closed: () => closed }
}

export const json =
  (status: number, body: unknown, headers: { [name: string]: string } = {}): Act =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

export const raw =
  (status: number, body: string | Buffer, headers: { [name: string]: string } = {}): Act =>
  (response) => {
    response.writeHead(status, headers).end(body)
  }

export const apiError = (
  status: number,
  error: { message?: string; type?: string; param?: string | null; code?: string | null },
  headers: { [name: string]: string } = {},
): Act =>
  json(status, { error: { message: 'No.', type: 'invalid_request_error', param: null, code: null, ...error } }, headers)

export const chatReply = (content: unknown, changes: { [field: string]: unknown } = {}): Act =>
  json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'gpt-5.2-2026-01-01',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, refusal: null }, ...changes }],
    usage: {
      prompt_tokens: 120,
      completion_tokens: 40,
      total_tokens: 160,
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
  })

export const responsesReply = (text: string, changes: { [field: string]: unknown } = {}): Act =>
  json(200, {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'gpt-5.2-codex-2026-01-01',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 220,
      input_tokens_details: { cached_tokens: 200 },
      output_tokens: 60,
      output_tokens_details: { reasoning_tokens: 50 },
      total_tokens: 280,
    },
    ...changes,
  })
