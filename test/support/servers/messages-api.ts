import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { type MessagesRecord, type MessagesRequest, readRecord, textOf } from './messages-record.ts'
import { serve } from './serve.ts'

/** One tool call of the scripted model. Results are found again by `id` (`toolu_1_0`: first turn, first call). */
export type ToolUse = { name: string; input: Record<string, unknown>; id?: string }
export type Turn = {
  text?: string
  tools?: readonly ToolUse[]
  /** Happens before the answer. */
  before?: () => Promise<void> | void
  /** In place of an answer. */
  http?: { status: number; body?: object | string; headers?: { readonly [name: string]: string } }
  /** No answer ever. */
  hangs?: boolean
  /** The answer breaks off after so many events. */
  events?: number
  stopReason?: string
}
export type Turns = readonly Turn[] | ((request: MessagesRequest, turn: number) => Turn | undefined)

export type Script = {
  turns: Turns
  /** Conversations of subagents, told apart by what their first user message says. */
  subagents?: readonly { prompt: string; turns: Turns }[]
  /** Requests without tools are turns as well: nothing but the conversation asks. */
  isOnlyCaller?: boolean
  lifetimeMs?: number
}

export type MessagesApi = {
  url: string
  requests: readonly MessagesRequest[]
  /** Of each request. */
  headers: readonly IncomingHttpHeaders[]
  record: () => MessagesRecord
  close: () => Promise<void>
}

/** A model that follows a script, on 127.0.0.1; whatever goes beyond the script is answered with "done". */
export async function startMessagesApi(script: Script): Promise<MessagesApi> {
  const requests: MessagesRequest[] = []
  const headers: IncomingHttpHeaders[] = []
  const conversations = [
    ...(script.subagents ?? []).map(({ prompt, turns }, i) => ({ prompt, turns, id: `toolu_sub${i + 1}_`, played: 0 })),
    { prompt: '', turns: script.turns, id: 'toolu_', played: 0 },
  ]

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: String(error) }))
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request)
    if (request.method !== 'POST' || !/^\/v1\/messages(\?|$)/.test(request.url ?? '')) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"type":"error"}')
      return
    }
    const asked = JSON.parse(body) as MessagesRequest
    requests.push(asked)
    headers.push(request.headers)
    const turn = nextTurn(asked)
    await turn.before?.()
    if (turn.hangs) return
    if (turn.http) return sendError(response, turn.http)
    send(response, asked, messageOf(turn, asked), turn.events)
  }

  function nextTurn(asked: MessagesRequest): Turn {
    // Titles and classifiers are asked for without tools, between the turns of the script.
    if (!asked.tools?.length && !script.isOnlyCaller) return { text: 'side call' }
    const opening = textOf(asked.messages[0]?.content)
    const conversation = conversations.find(({ prompt }) => opening.includes(prompt))
    if (!conversation) return { text: 'done' }
    const { turns, id } = conversation
    const n = ++conversation.played
    const turn = (typeof turns === 'function' ? turns(asked, n) : turns[n - 1]) ?? { text: 'done' }
    return { ...turn, tools: (turn.tools ?? []).map((tool, i) => ({ id: `${id}${n}_${i}`, ...tool })) }
  }

  const { host, close } = await serve(server, script.lifetimeMs ?? 120_000)
  return { url: `http://${host}`, requests, headers, record: () => readRecord(requests), close }
}

type Block = { type: 'text'; text: string } | ({ type: 'tool_use' } & ToolUse)
type Message = ReturnType<typeof messageOf>

function messageOf(turn: Turn, asked: MessagesRequest) {
  const tools = turn.tools ?? []
  const content: Block[] = [
    ...(turn.text === undefined ? [] : [{ type: 'text' as const, text: turn.text }]),
    ...tools.map((tool) => ({ type: 'tool_use' as const, ...tool })),
  ]
  return {
    id: `msg_${process.hrtime.bigint()}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content,
    stop_reason: turn.stopReason ?? (tools.length > 0 ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  }
}

function sendError(response: ServerResponse, { status, body = {}, headers = {} }: NonNullable<Turn['http']>): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

function send(response: ServerResponse, asked: MessagesRequest, message: Message, events?: number): void {
  if (!asked.stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const event of eventsOf(message).slice(0, events))
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  if (events === undefined) response.end()
  else setTimeout(() => response.destroy(), 50)
}

function eventsOf(message: Message): { type: string; [field: string]: unknown }[] {
  const { stop_reason, stop_sequence, usage } = message
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...message.content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptied(block) },
      { type: 'content_block_delta', index, delta: deltaOf(block) },
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, ...detailsOf(stop_reason) },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: 'message_stop' },
  ]
}

/** Without them, Claude Code goes on with no other model. */
const detailsOf = (reason: string) =>
  reason === 'refusal' ? { stop_details: { type: 'refusal', category: 'cyber' } } : {}

const emptied = (block: Block) => (block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} })

const deltaOf = (block: Block) =>
  block.type === 'text'
    ? { type: 'text_delta', text: block.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
