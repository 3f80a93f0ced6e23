import { objectOf } from '../object-of.ts'
import { progressSchema } from '../progress.ts'
import { findingSchema, verdicts } from '../review-result.ts'
import type { FromSchema, Schema } from '../schema.ts'
import { sessionSchema } from '../session.ts'
import { planStateSchema } from './plan-state.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const count = { type: 'integer', minimum: 0 } as const

const { $id: _progress, ...progress } = progressSchema
const { $id: _session, ...session } = sessionSchema

export const statusSchema = {
  $id: 'status',
  title: 'What `plan-gate status --json` prints',
  ...objectOf({
    root: text,
    installed: { ...textOrNull, description: 'The version of the plan-gate that was installed here.' },
    plan: planStateSchema,
    revisions: { ...count, description: 'How many were reviewed in this cycle.' },
    limit: { ...count, description: 'How many are reviewed before the decision is the user’s.' },
    deadline_seconds: { type: 'number', description: 'How long the review of a plan may take.' },
    cycles: { ...count, description: 'How many there were before.' },
    verdicts: {
      type: 'array',
      items: objectOf({ revision: count, verdict: { enum: verdicts }, findings: count }),
      description: 'Of this cycle, in their order.',
    },
    findings: { type: 'array', items: findingSchema, description: 'What the last review left open.' },
    review: {
      anyOf: [progress, { type: 'null' }],
      description: 'The review that is running now.',
    },
    unavailable: {
      ...textOrNull,
      description: 'Why the last review came to no verdict, where that is the last that was heard of it.',
    },
    routes_hash: {
      ...textOrNull,
      description: 'SHA-256 of the route table that counts here, as `plan-gate routes` has it; null: it is not valid.',
    },
    thread: { ...textOrNull, description: 'The id of the reviewer’s thread.' },
    sessions: { type: 'array', items: session, description: 'The one that was last heard of first.' },
    denials: { ...count, description: 'In the last session.' },
    last_denial: textOrNull,
    problems: { type: 'array', items: text, description: 'What is wrong with plan-gate.yaml.' },
  }),
} as const satisfies Schema

export type Status = FromSchema<typeof statusSchema>
