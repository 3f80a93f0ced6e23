import { objectOf } from '../object-of.ts'
import type { FromSchema, Schema } from '../schema.ts'

const text = { type: 'string' } as const

export const verifySchema = {
  $id: 'verify',
  title: 'What `plan-gate verify --json` prints',
  ...objectOf(
    {
      holds: { type: 'boolean', description: 'The exit code is 0 for true and 1 for false.' },
      checks: {
        type: 'array',
        items: objectOf({ name: text, holds: { type: 'boolean' }, detail: text }),
      },
    },
    {
      plan_hash: { ...text, description: 'With --plan: SHA-256 of its bytes.' },
      manual: { type: 'boolean', description: 'With --plan: whether the approval was given by hand.' },
      out_of_scope: {
        type: 'array',
        items: text,
        description: 'With --base: the files that were changed and that the plan does not name.',
      },
      exported: { type: 'array', items: text, description: 'With --export: the files that were written.' },
    },
  ),
} as const satisfies Schema

export type VerifyOutput = FromSchema<typeof verifySchema>
