import { backendNames } from '../backend.ts'
import { objectOf } from '../object-of.ts'
import type { FromSchema, Schema } from '../schema.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const texts = { type: 'array', items: text } as const

export const routesSchema = {
  $id: 'routes',
  title: 'What `plan-gate routes --json` prints',
  ...objectOf({
    origin: { enum: ['default', 'config'] },
    sha256: text,
    routes: {
      type: 'array',
      items: objectOf({
        backend: { enum: backendNames },
        when: texts,
        capabilities: texts,
        fail_mode: { enum: ['fallthrough', 'hard_fail'] },
        timeout_seconds: { type: ['number', 'null'] },
        retries: { type: 'integer' },
        serves: { type: 'boolean', description: 'Whether it would answer now.' },
        why: { ...textOrNull, description: 'Why it would not.' },
      }),
    },
    serves: { ...textOrNull, description: 'The backend that would be asked first now.' },
    notices: texts,
  }),
} as const satisfies Schema

export type RoutesOutput = FromSchema<typeof routesSchema>
