import type { FromSchema, Schema } from './schema.ts'

/**
 * `.claude/review/handled.json`: the bytes of the plan that were dealt with last and what was said about them, so that
 * the same bytes cost no second look. It approves nothing.
 */
export const handledPlanSchema = {
  $id: 'handled-plan',
  type: 'object',
  required: ['plan_hash', 'again', 'kind', 'text', 'user'],
  properties: {
    plan_hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    again: { type: 'boolean', description: 'Whether saving the same bytes again is a reason to try again.' },
    kind: { enum: ['silence', 'context', 'block'], description: 'How it was said to Claude.' },
    text: { type: 'string' },
    user: { type: ['string', 'null'], description: 'The line that the user saw.' },
  },
} as const satisfies Schema

export type HandledPlan = FromSchema<typeof handledPlanSchema>
