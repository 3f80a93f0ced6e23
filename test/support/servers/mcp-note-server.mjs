// The smallest MCP server on stdio: its one tool writes a file, as any MCP tool could, and may say that it failed.
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const tool = {
  name: 'write_note',
  description: 'Writes a note to a file.',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, text: { type: 'string' }, fail: { type: 'boolean' } },
    required: ['path', 'text'],
  },
}

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'note', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { path, text, fail = false } }) => {
    writeFileSync(path, text)
    return { content: [{ type: 'text', text: `wrote ${path}` }], isError: fail }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const answer = results[method]
    ? { result: results[method](params ?? {}) }
    : { error: { code: -32601, message: `no ${method}` } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
}
