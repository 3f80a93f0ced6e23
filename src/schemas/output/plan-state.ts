import { objectOf } from '../object-of.ts'
import type { Schema } from '../schema.ts'

/** Where the plan stands, as `status` and `bootstrap` say it. */
export const planStateSchema = {
  anyOf: [
    objectOf({ kind: { const: 'missing' } }),
    objectOf({ kind: { const: 'open' }, because: { type: 'string' } }),
    objectOf({ kind: { const: 'approved' }, hash: { type: 'string', description: 'SHA-256 of docs/plan.md.' } }),
  ],
} as const satisfies Schema
