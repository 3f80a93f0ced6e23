import { approvalSchema } from './approval.ts'
import { objectOf } from './object-of.ts'
import type { FromSchema, Schema } from './schema.ts'

const { is_optimal, plan_hash, review_version, approved_at, verification, route, reason } = approvalSchema.properties

/** What `verify --export` writes beside the plan, for a team to commit. It reads as an approval, too. */
export const approvalRecordSchema = {
  $id: 'approval-record',
  title: 'The approval of a plan as plan-gate exports it: what `verify --approval` reads in CI',
  ...objectOf({
    version: { const: 1 },
    plan: { type: 'string', description: 'The plan, from the root of the checkout.' },
    is_optimal,
    plan_hash,
    review_version,
    approved_at,
    verification,
    route,
    reason,
    ledger_head: { type: 'string', description: 'The hash of the ledger’s last line at that time.' },
    ledger_events: { type: 'integer' },
    plan_gate: { type: 'string', description: 'The version of plan-gate that wrote it.' },
  }),
} as const satisfies Schema

export type ApprovalRecord = FromSchema<typeof approvalRecordSchema>
