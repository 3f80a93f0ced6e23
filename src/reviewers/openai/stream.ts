import { asList, asRecord, parseJson } from '../../text/json.ts'
import { textOf } from './failures.ts'

/** Usually a string; some servers send it in parts, and the thoughts among them. */
export const contentText = (content: unknown): string =>
  Array.isArray(content)
    ? content
        .map(asRecord)
        .filter(({ type = 'text' }) => type === 'text')
        .map((part) => textOf(part.text))
        .join('')
    : textOf(content)

/** The body of a server that streams unasked, as it would be without streaming; null: the stream has no end. */
export function joinEvents(stream: string): object | null {
  const chat = { content: '', refusal: '', finish_reason: '', model: '', usage: null as unknown }
  let text = ''
  let isDone = false
  for (const data of eventsOf(stream)) {
    isDone ||= data.trim() === '[DONE]'
    const event = asRecord(parseJson(data))
    const type = textOf(event.type)
    if (event.error || type === 'error') return { error: event.error || event }
    if (/^response\.(?:completed|incomplete|failed)$/.test(type)) return withText(asRecord(event.response), text)
    if (type === 'response.output_text.delta') text += textOf(event.delta)
    const choice = asRecord(asList(event.choices)[0])
    const delta = asRecord(choice.delta ?? choice.message)
    chat.content += contentText(delta.content)
    chat.refusal += textOf(delta.refusal)
    chat.finish_reason = textOf(choice.finish_reason) || chat.finish_reason
    chat.model = textOf(event.model) || chat.model
    chat.usage = event.usage ?? chat.usage
  }
  if (!isDone && chat.finish_reason === '') return null
  const { model, usage, finish_reason, ...message } = chat
  return text === '' ? { model, usage, choices: [{ finish_reason, message }] } : withText({}, text)
}

/** Some servers leave the output out of the last event. */
const withText = (response: { readonly [key: string]: unknown }, text: string): object =>
  asList(response.output).length > 0 || text === ''
    ? response
    : { ...response, output: [{ type: 'message', content: [{ type: 'output_text', text }] }] }

function* eventsOf(stream: string): Generator<string> {
  let data: string[] = []
  for (const line of stream.split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) data.push(line.slice(5))
    else if (line === '' && data.length > 0) {
      yield data.join('\n')
      data = []
    }
  }
  if (data.length > 0) yield data.join('\n')
}
