import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

type ResponsesItem = {
  type: string
  role?: string
  content?: { type: string; text?: string }[]
  name?: string
  call_id?: string
  output?: unknown
}
export type ResponsesBody = {
  model: string
  stream?: boolean
  instructions?: string
  input: ResponsesItem[]
  tools?: { type: string; name?: string }[]
  reasoning?: { effort?: string } | null
  text?: { format?: { type: string; name: string; strict: boolean; schema: unknown } }
}
export type ResponsesRequest = { path: string; headers: IncomingHttpHeaders; body: ResponsesBody }

export const readRequest = ({ url, headers }: IncomingMessage, body: string): ResponsesRequest => ({
  path: url ?? '',
  headers,
  body: JSON.parse(body) as ResponsesBody,
})

/** Everything that was said by one side, as the request repeats it. */
export const saidBy = ({ body }: ResponsesRequest, role: 'user' | 'assistant' | 'developer'): string[] =>
  body.input
    .filter((item) => item.type === 'message' && item.role === role)
    .map(({ content = [] }) => content.flatMap(({ text }) => text ?? []).join('\n'))

/** What came back from the tools that the model called. */
export const toolOutputs = ({ body }: ResponsesRequest): string[] =>
  body.input
    .filter(({ type }) => type === 'function_call_output' || type === 'custom_tool_call_output')
    .map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output)))

export const toolNames = ({ body }: ResponsesRequest): string[] =>
  (body.tools ?? []).map(({ type, name }) => name ?? type)
