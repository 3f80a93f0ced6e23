import type { FailureClass, Usage } from '../schemas/review.ts'
import { type ApiError, asList, asRecord, parseApiError, textOf } from './openai-failures.ts'

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

/** What a reply with status 200 comes to. */
type Reading =
  | { readonly kind: 'text'; readonly text: string; readonly model: string | null; readonly usage: Usage | null }
  | { readonly kind: 'unusable'; readonly failure: FailureClass; readonly why: string; readonly said: string }
  /** It is an error all the same. */
  | { readonly kind: 'error'; readonly error: ApiError }

const unusable = (failure: FailureClass, why: string, said = ''): Reading => ({
  kind: 'unusable',
  failure,
  why,
  said,
})

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0

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
  return { kind: 'text', text, model: textOf(reply.model) || null, usage: usageOfReadResponses(reply.usage) }
}

const messagesIn = (output: readonly unknown[]): { readonly [key: string]: unknown }[] =>
  output.map(asRecord).filter(({ type }) => type === 'message')

const unfinished = (reason: string): Reading =>
  reason === 'content_filter'
    ? unusable('refused', 'The answer was held back by a content filter.')
    : unusable('malformed', `The answer is not complete${reason === '' ? '' : ` (${reason})`}.`)

function usageOfReadResponses(value: unknown): Usage | null {
  const usage = asRecord(value)
  if (typeof usage.input_tokens !== 'number') return null
  return {
    input: countOf(usage.input_tokens),
    cached: countOf(asRecord(usage.input_tokens_details).cached_tokens),
    output: countOf(usage.output_tokens),
    reasoning: countOf(asRecord(usage.output_tokens_details).reasoning_tokens),
  }
}
