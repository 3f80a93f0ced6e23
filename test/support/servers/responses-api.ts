import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { type ResponsesRequest, readRequest } from './responses-record.ts'
import { eventsOf, type ModelTurn } from './responses-stream.ts'
import { serve } from './serve.ts'

/** What the server does with one POST. */
export type Turn =
  /** The model says something, or calls tools. */
  | ({ kind: 'model' } & ModelTurn)
  /** An HTTP error, or any other answer that is no event stream. */
  | { kind: 'http'; status: number; body?: unknown; headers?: { readonly [name: string]: string } }
  | { kind: 'hang'; when: 'before-headers' | 'after-created' }
  /** The connection breaks in the middle of the answer. */
  | { kind: 'cut'; when: 'after-created' | 'after-delta' }

/** Each POST gets the next turn, the last one for ever; a function is asked with the request and its number, from 1. */
export type Turns = readonly Turn[] | ((request: ResponsesRequest, n: number) => Turn)

export type ResponsesApi = {
  /** Ends with /v1, as a `base_url` does. */
  url: string
  requests: readonly ResponsesRequest[]
  /** Resolves when the n-th POST has arrived, from 1; what is answered to it may still be under way. */
  asked: (n: number) => Promise<ResponsesRequest>
  close: () => Promise<void>
}

/** The OpenAI Responses API on 127.0.0.1, with a model that follows a script. */
export async function startResponsesApi(script: { turns: Turns; lifetimeMs?: number }): Promise<ResponsesApi> {
  const requests: ResponsesRequest[] = []
  const waiting: { n: number; resolve: (request: ResponsesRequest) => void }[] = []

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
  // Codex tries a WebSocket first at the provider that it knows; this status sends it to plain HTTP at once.
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n'))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      response.writeHead(request.headers.upgrade === undefined ? 404 : 426).end()
      return
    }
    const asked = readRequest(request, await readText(request))
    requests.push(asked)
    const n = requests.length
    for (const waiter of waiting.filter((each) => each.n === n)) waiter.resolve(asked)
    const turn =
      typeof script.turns === 'function' ? script.turns(asked, n) : (script.turns[n - 1] ?? script.turns.at(-1))
    if (turn === undefined) throw new Error('The script has no turns.')
    await play(turn, response, n)
  }

  const { host, close } = await serve(server, script.lifetimeMs ?? 60_000)
  return {
    url: `http://${host}/v1`,
    requests,
    asked: (n) =>
      new Promise((resolve) => {
        const there = requests[n - 1]
        if (there !== undefined) resolve(there)
        else waiting.push({ n, resolve })
      }),
    close,
  }
}

async function play(turn: Turn, response: ServerResponse, n: number): Promise<void> {
  switch (turn.kind) {
    case 'http': {
      const body = turn.body ?? ''
      const type = typeof body === 'string' ? 'text/html' : 'application/json'
      response.writeHead(turn.status, { 'content-type': type, ...turn.headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
      return
    }
    case 'hang':
      if (turn.when === 'after-created') send(response, eventsOf({}, n).slice(0, 1))
      return
    case 'cut':
      send(response, eventsOf({ text: 'half an ans' }, n).slice(0, turn.when === 'after-created' ? 1 : 3))
      await wait(20)
      response.destroy()
      return
    case 'model':
      await wait(turn.afterMs ?? 0)
      send(response, eventsOf(turn, n))
      response.end()
  }
}

function send(response: ServerResponse, events: readonly { type: string }[]): void {
  if (response.destroyed) return
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}
