import { objectOf } from '../object-of.ts'
import type { FromSchema, Schema } from '../schema.ts'

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const
const yesOrNo = { type: 'boolean' } as const

const value = objectOf({
  kind: { enum: ['file', 'folder', 'commit', 'choice', 'text'] },
  choices: texts,
}) satisfies Schema

export const completionSchema = {
  $id: 'completion',
  title: 'What `plan-gate completion --json` prints: the commands and what they take',
  ...objectOf({
    commands: {
      type: 'array',
      items: objectOf({
        name: text,
        description: text,
        options: {
          type: 'array',
          items: objectOf({
            names: texts,
            description: text,
            takes: { enum: ['nothing', 'a value', 'perhaps a value'] },
            is_repeated: yesOrNo,
            value,
          }),
        },
        operands: { type: 'array', items: objectOf({ name: text, is_repeated: yesOrNo, value }) },
      }),
    },
  }),
} as const satisfies Schema

export type CompletionOutput = FromSchema<typeof completionSchema>

export const schemaListSchema = {
  $id: 'schema',
  title: 'What `plan-gate schema --json` prints: the schemas that there are',
  type: 'array',
  items: objectOf({ name: text, title: text, path: text }),
} as const satisfies Schema

export type SchemaList = FromSchema<typeof schemaListSchema>
