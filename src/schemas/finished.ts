import { approvalSchema } from './approval.ts'
import { objectOf } from './object-of.ts'
import type { FromSchema, Schema } from './schema.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const { $id: _, title: __, ...approval } = approvalSchema

/** `finished.json` of an archive. */
export const finishedSchema = {
  $id: 'finished',
  title: 'What an archive of plan-gate is about: finished.json, beside what was in .claude/review and docs/plan.md',
  ...objectOf({
    version: { const: 1 },
    finished_at: text,
    worktree: text,
    branch: textOrNull,
    base: { ...textOrNull, description: 'The branch that it started from.' },
    base_commit: text,
    head: { ...textOrNull, description: 'The last commit.' },
    merged_into: { ...textOrNull, description: 'Where its commits were found; null: nowhere, or it was not asked.' },
    plan_hash: { ...textOrNull, description: 'SHA-256 of docs/plan.md.' },
    approval: { anyOf: [approval, { type: 'null' }], description: 'approval.json, where it holds for that plan.' },
    ledger_head: { ...textOrNull, description: 'The hash of the last line of events.jsonl.' },
    discarded: { type: 'array', items: text, description: 'What was given up with --discard.' },
    plan_gate: text,
  }),
} as const satisfies Schema

export type Finished = FromSchema<typeof finishedSchema>
