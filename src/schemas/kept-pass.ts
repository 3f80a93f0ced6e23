import type { FromSchema, Schema } from './schema.ts'

const textOrNone = { type: ['string', 'null'] } as const

/** `.claude/review/passes/plan_vN.pass-K.json`: what one question to a reviewer came to, in the order of asking. */
export const keptPassSchema = {
  $id: 'kept-pass',
  type: 'object',
  required: ['pass', 'does', 'backend', 'outcome', 'why', 'duration_ms', 'tokens'],
  properties: {
    pass: { type: 'integer', minimum: 1 },
    does: { type: 'string', description: 'plan, review, verify or combined.' },
    backend: { type: 'string' },
    outcome: { type: 'string', description: 'valid, malformed, or a class of failure.' },
    why: textOrNone,
    duration_ms: { type: 'number', minimum: 0 },
    tokens: { type: ['integer', 'null'], minimum: 0 },
  },
} as const satisfies Schema

export type KeptPass = FromSchema<typeof keptPassSchema>
