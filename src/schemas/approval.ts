import type { FromSchema, Schema } from './schema.ts'

/**
 * `.claude/review/approval.json`. Only the first two fields decide, so that a person can approve by hand; the others
 * are what a review adds for the reader.
 */
export const approvalSchema = {
  $id: 'approval',
  title: 'plan-gate approval',
  type: 'object',
  required: ['is_optimal', 'plan_hash'],
  properties: {
    is_optimal: { type: 'boolean', description: 'The gate opens only for the literal true.' },
    plan_hash: { type: 'string', pattern: '^[0-9a-f]{64}$', description: "SHA-256 of docs/plan.md's bytes, in hex." },
    review_version: { type: ['integer', 'null'], description: 'The revision that was approved.' },
    approved_at: { type: ['string', 'null'], description: 'When, in ISO 8601.' },
    codex_thread_id: { type: ['string', 'null'] },
    verification: { type: ['string', 'null'], description: 'Whether a verification pass confirmed the verdict.' },
    route: { type: ['string', 'null'], description: 'The backend that answered, or "manual".' },
    reason: { type: ['string', 'null'], description: 'Why a person approved over the reviewer.' },
  },
} as const satisfies Schema

export type Approval = FromSchema<typeof approvalSchema>
