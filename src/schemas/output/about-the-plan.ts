import { ledgerEntrySchemas, ledgerEventSchema } from '../ledger-event.ts'
import { objectOf } from '../object-of.ts'
import type { FromSchema, Schema } from '../schema.ts'

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const

const typed = Object.entries(ledgerEntrySchemas).map(
  ([type, { properties, required }]): Schema => ({
    type: 'object',
    required: [...ledgerEventSchema.required, ...required],
    properties: { ...ledgerEventSchema.properties, type: { const: type }, ...properties },
  }),
)

/** A later version may know more types, and of an event that is too long only the beginning is kept. */
export const logSchema = {
  $id: 'log',
  title: 'A line of `plan-gate log --json`, and of .claude/review/events.jsonl',
  anyOf: [...typed, objectOf({ ...ledgerEventSchema.properties, left_out_bytes: count })],
} as const satisfies Schema

export const diffSchema = {
  $id: 'diff',
  title: 'What `plan-gate diff --json` prints',
  ...objectOf({
    from: text,
    to: text,
    diff: { ...text, description: 'A unified diff; empty where they are the same.' },
  }),
} as const satisfies Schema

export type DiffOutput = FromSchema<typeof diffSchema>

export const approveSchema = {
  $id: 'approve',
  title: 'What `plan-gate approve --json` prints',
  ...objectOf({ plan_hash: text, route: { const: 'manual' }, reason: text }),
} as const satisfies Schema

export type ApproveOutput = FromSchema<typeof approveSchema>

export const continueSchema = {
  $id: 'continue',
  title: 'What `plan-gate continue --json` prints',
  ...objectOf({ revisions: count, limit: count }),
} as const satisfies Schema

export type ContinueOutput = FromSchema<typeof continueSchema>

export const driftSchema = {
  $id: 'drift',
  title: 'What `plan-gate drift --json` prints',
  ...objectOf({
    action: { enum: ['show', 'accept'] },
    drift: { type: 'array', items: objectOf({ path: text, what: text }) },
    git_configuration: { type: 'array', items: text, description: 'What changed in git’s configuration and hooks.' },
  }),
} as const satisfies Schema

export type DriftOutput = FromSchema<typeof driftSchema>

const explained = objectOf({
  command: text,
  decision: { enum: ['allow', 'deny'] },
  reason: text,
}) satisfies Schema

export type Explained = FromSchema<typeof explained>

export const explainSchema = {
  $id: 'explain',
  title: 'What `plan-gate explain --json` prints, and each line of `plan-gate explain --stdin`',
  anyOf: [
    explained,
    objectOf({
      scope: {
        type: 'array',
        items: objectOf({
          pattern: text,
          mark: { enum: ['new', 'changed', 'deleted', 'renamed', 'unstated'] },
          line: count,
        }),
        description: 'With --plan: what ## Changes of docs/plan.md names.',
      },
    }),
  ],
} as const satisfies Schema
