import type { Usage } from '../../schemas/backend.ts'
import { asList, asRecord, parseApiError, textOf } from './parse-api-error.ts'
import { countOf, type Reading, unusable } from './reading.ts'

/** The answer in a reply of Responses: the text of its messages, which stand among notes on the reasoning. */
export function readResponses(body: unknown): Reading {
  const reply = asRecord(body)
  if (reply.error || reply.status === 'failed') return { kind: 'error', error: parseApiError(body) }
  if (!Array.isArray(reply.output)) return unusable('malformed', 'The reply has no output.')
  const parts = messagesIn(reply.output).map((message) => asList(message.content).map(asRecord))
  const refusal = parts.flat().find(({ type }) => type === 'refusal')
  if (refusal !== undefined) return unusable('refused', 'The model declined to review this.', textOf(refusal.refusal))
  if (reply.status === 'incomplete') return unfinished(textOf(asRecord(reply.incomplete_details).reason))
  if (reply.status !== undefined && reply.status !== 'completed')
    return unusable('malformed', `The answer is not complete: its state is "${textOf(reply.status)}".`)
  const text = parts.map((message) => message.map((part) => textOf(part.text)).join('')).join('\n\n')
  if (text.trim() === '') return unusable('malformed', 'The answer is empty.')
  return { kind: 'text', text, model: textOf(reply.model) || null, usage: usageOf(reply.usage) }
}

const messagesIn = (output: readonly unknown[]): { readonly [key: string]: unknown }[] =>
  output.map(asRecord).filter(({ type }) => type === 'message')

const unfinished = (reason: string): Reading =>
  reason === 'content_filter'
    ? unusable('refused', 'The answer was held back by a content filter.')
    : unusable('malformed', `The answer is not complete${reason === '' ? '' : ` (${reason})`}.`)

function usageOf(value: unknown): Usage | null {
  const usage = asRecord(value)
  if (typeof usage.input_tokens !== 'number') return null
  return {
    input: countOf(usage.input_tokens),
    cached: countOf(asRecord(usage.input_tokens_details).cached_tokens),
    output: countOf(usage.output_tokens),
    reasoning: countOf(asRecord(usage.output_tokens_details).reasoning_tokens),
  }
}
