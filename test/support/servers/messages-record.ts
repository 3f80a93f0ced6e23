export type ContentBlock = {
  type: string
  text?: string
  id?: string
  name?: string
  input?: Record<string, unknown>
  tool_use_id?: string
  is_error?: boolean
  content?: string | ContentBlock[]
}
export type MessagesRequest = {
  model: string
  stream?: boolean
  tools?: { name: string }[]
  system?: string | ContentBlock[]
  messages: { role: 'user' | 'assistant' | 'system'; content: string | ContentBlock[] }[]
}

type ToolResult = { id: string; tool: string; isError: boolean; text: string }
export type MessagesRecord = {
  /** What each tool call came back with, in the order in which the model saw it. */
  toolResults: ToolResult[]
  /** What hooks told the model beside the tool results. */
  feedback: string[]
}

/** Each request repeats its conversation so far, so the same result and the same message are seen many times. */
export function readRecord(requests: readonly MessagesRequest[]): MessagesRecord {
  const toolNames = new Map<string, string>()
  const toolResults = new Map<string, ToolResult>()
  const feedback = new Map<string, string>()
  for (const { messages } of requests) {
    const opening = textOf(messages[0]?.content)
    for (const [position, { role, content }] of messages.entries()) {
      for (const [i, block] of blocksOf(content).entries()) {
        if (block.type === 'tool_use') toolNames.set(block.id ?? '', block.name ?? '')
        const id = block.tool_use_id ?? ''
        const text = textOf(block.content)
        if (block.type === 'tool_result') {
          toolResults.set(id, { id, tool: toolNames.get(id) ?? '', isError: block.is_error === true, text })
        }
        if (role === 'assistant' || !saidByHook.test(block.text ?? '')) continue
        feedback.set(`${opening}\0${position}\0${i}`, withoutReminderTags(block.text ?? ''))
      }
    }
  }
  return { toolResults: [...toolResults.values()], feedback: [...feedback.values()] }
}

const saidByHook = /^(?:<system-reminder>\n)?\w+(?::\S+)? hook (?:blocking error|additional context|success|feedback)/m

/** Older clients (2.1.200) put into the user's turn, in tags, what newer ones say in a message of role "system". */
const withoutReminderTags = (text: string): string =>
  text.replace(/^<system-reminder>\n([\s\S]*)\n<\/system-reminder>\n?$/, '$1')

const blocksOf = (content: string | ContentBlock[]): ContentBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

export function textOf(content: string | ContentBlock[] | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? ''
  return content.flatMap(({ text }) => text ?? []).join('\n')
}
