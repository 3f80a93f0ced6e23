import type { Answer, AskContext, Backend, Failure, Question } from '../../schemas/backend.ts'
import { withoutSecrets } from '../quote-foreign.ts'
import { askLess } from './ask-less.ts'
import { failureOf } from './failure-of.ts'
import { parseApiError, parseJson } from './parse-api-error.ts'
import { postJson } from './post-json.ts'
import { readApiKey } from './read-api-key.ts'
import { endpointOf, readBaseUrl } from './read-base-url.ts'
import { readReply } from './read-reply.ts'
import { type Ask, apiFor, requestBody } from './request-body.ts'
import { withDeadline } from './with-deadline.ts'

export type CurlSetup = {
  /** OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID and OPENAI_PROJECT_ID are what it reads. */
  readonly env: NodeJS.ProcessEnv
  /** For a question that names no model. */
  readonly defaultModel: string
  readonly maxReplyBytes?: number
}

/** OpenAI's HTTPS API. It asks once; trying again is the router's business. */
export const curlBackend =
  (setup: CurlSetup): Backend =>
  async (question, context) => {
    const key = readApiKey(setup.env.OPENAI_API_KEY)
    if (key.kind === 'unusable') return failed(failureOf('auth', key.why, { nextStep: key.nextStep }))
    const base = readBaseUrl(setup.env.OPENAI_BASE_URL)
    if (base.kind === 'refused') return failed(failureOf('rejected', base.why, { nextStep: base.nextStep }))
    const answer = await ask(question, context, {
      base: base.url,
      key: key.key,
      headers: headersFrom(setup.env),
      maxBytes: setup.maxReplyBytes ?? 20 * 1024 * 1024,
      defaultModel: setup.defaultModel,
    })
    return withoutKey(answer, key.key)
  }

type Door = {
  readonly base: URL
  readonly key: string
  readonly headers: { readonly [name: string]: string }
  readonly maxBytes: number
  readonly defaultModel: string
}

const headersFrom = (env: NodeJS.ProcessEnv): { [name: string]: string } =>
  Object.fromEntries(
    [
      ['openai-organization', env.OPENAI_ORG_ID],
      ['openai-project', env.OPENAI_PROJECT_ID],
    ].filter((header): header is [string, string] => /^[\x21-\x7e]+$/.test(header[1] ?? '')),
  )

const ask = (question: Question, { signal: cancelled, tell }: AskContext, door: Door): Promise<Answer> =>
  withDeadline(question.timeoutMs, cancelled, async (signal, stoppedBy) => {
    const { system, user, schema, effort } = question
    const model = question.model ?? door.defaultModel
    const notices: string[] = []
    let current: Ask = { api: apiFor(question.subject.type, model), model, system, user, schema, effort }
    let hasBegun = false
    for (;;) {
      tell(`waiting for ${model}`)
      const reply = await postJson({
        url: endpointOf(door.base, current.api),
        headers: { ...door.headers, authorization: `Bearer ${door.key}` },
        body: requestBody(current),
        maxBytes: door.maxBytes,
        signal,
        onHeaders: (status) => {
          hasBegun = true
          if (status === 200) tell('answering')
        },
      })
      const less =
        reply.kind === 'replied' ? askLess(current, reply.status, parseApiError(parseJson(reply.body))) : null
      if (less === null) {
        const { host } = door.base
        const stop = { by: stoppedBy(), timeoutMs: question.timeoutMs, hasBegun }
        return { ...readReply(reply, { api: current.api, model, host, secrets: [door.key], stop }), notices }
      }
      notices.push(less.notice)
      current = less.ask
      hasBegun = false
    }
  })

/** Some gateways repeat the headers of the request in what they say. */
const withoutKey = (answer: Answer, key: string): Answer =>
  answer.kind === 'answered'
    ? {
        ...answer,
        text: withoutSecrets(answer.text, [key]),
        model: answer.model && withoutSecrets(answer.model, [key]),
      }
    : answer

const failed = (failure: Failure): Answer => ({ kind: 'failed', ...failure, thread: null, notices: [] })
