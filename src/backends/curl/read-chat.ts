import type { Usage } from '../../schemas/backend.ts'
import { asList, asRecord, parseApiError, textOf } from './parse-api-error.ts'
import { countOf, type Reading, unusable } from './reading.ts'

/** The answer in a reply of Chat Completions. */
export function readChat(body: unknown): Reading {
  const reply = asRecord(body)
  const choice = asRecord(asList(reply.choices)[0])
  const message = asRecord(choice.message)
  if (!Array.isArray(reply.choices))
    return reply.error
      ? { kind: 'error', error: parseApiError(body) }
      : unusable('malformed', 'The reply has no choices.')
  const refusal = textOf(message.refusal)
  if (refusal !== '') return unusable('refused', 'The model declined to review this.', refusal)
  if (choice.finish_reason === 'content_filter')
    return unusable('refused', 'The answer was held back by a content filter.')
  if (choice.finish_reason === 'length')
    return unusable('malformed', 'The answer is not complete: it reached the limit of its length.')
  const text = contentOf(message.content)
  if (text.trim() === '') return unusable('malformed', 'The answer is empty.')
  return { kind: 'text', text, model: textOf(reply.model) || null, usage: usageOf(reply.usage) }
}

/** Usually a string; some servers send it in parts. */
const contentOf = (content: unknown): string =>
  Array.isArray(content) ? content.map((part) => textOf(asRecord(part).text)).join('') : textOf(content)

function usageOf(value: unknown): Usage | null {
  const usage = asRecord(value)
  if (typeof usage.prompt_tokens !== 'number') return null
  return {
    input: countOf(usage.prompt_tokens),
    cached: countOf(asRecord(usage.prompt_tokens_details).cached_tokens),
    output: countOf(usage.completion_tokens),
    reasoning: countOf(asRecord(usage.completion_tokens_details).reasoning_tokens),
  }
}
