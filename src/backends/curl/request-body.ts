import type { Effort, Question } from '../../schemas/backend.ts'
import { strictSchema } from './strict-schema.ts'

export type Api = 'chat/completions' | 'responses'

export type Ask = Pick<Question, 'system' | 'user' | 'schema'> & {
  readonly api: Api
  readonly model: string
  readonly effort: Effort | null
}

/** Documents go to Chat Completions, code to Responses, and so do the models that OpenAI serves there alone. */
export const apiFor = (type: Question['subject']['type'], model: string): Api =>
  type === 'code' || /codex|-pro\b/.test(model) ? 'responses' : 'chat/completions'

export const requestBody = (ask: Ask): object => bodies[ask.api](ask)

const bodies = {
  'chat/completions': ({ model, system, user, effort, schema }: Ask): object => ({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    ...(effort === null ? {} : { reasoning_effort: effort }),
    ...(schema === null ? {} : { response_format: { type: 'json_schema', json_schema: strictFormat(schema) } }),
  }),
  responses: ({ model, system, user, effort, schema }: Ask): object => ({
    model,
    instructions: system,
    input: user,
    // Kept for thirty days otherwise.
    store: false,
    ...(effort === null ? {} : { reasoning: { effort } }),
    ...(schema === null ? {} : { text: { format: { type: 'json_schema', ...strictFormat(schema) } } }),
  }),
} as const satisfies { [api in Api]: (ask: Ask) => object }

const strictFormat = (schema: NonNullable<Ask['schema']>): object => ({
  name: schema.$id.replace(/[^\w-]/g, '_').slice(0, 64),
  strict: true,
  schema: strictSchema(schema),
})
