import type { FromSchema, Schema } from './schema.ts'

/** `.claude/review/progress.json`: which pass of a review is running, for `plan-gate watch` and `status`. */
export const progressSchema = {
  $id: 'progress',
  type: 'object',
  required: ['pass', 'passes', 'backend', 'started_at', 'deadline_at', 'revision', 'pid'],
  properties: {
    pass: { type: 'integer', minimum: 1 },
    passes: { type: 'integer', minimum: 1, description: 'How many passes are expected; may shrink after the first.' },
    backend: { type: 'string' },
    started_at: { type: 'string' },
    deadline_at: { type: 'string' },
    revision: { type: 'integer', minimum: 1 },
    pid: { type: 'integer', minimum: 1, description: 'The process that reviews; if it is gone, so is the review.' },
    does: { type: 'string', description: 'What the pass is for: plan, review, verify or combined.' },
    pass_started_at: { type: 'string', description: '`started_at` and `deadline_at` are those of the whole review.' },
    pass_deadline_at: { type: 'string' },
    sign: { type: 'string', description: 'The last sign of life of the backend, without secrets.' },
    signed_at: { type: 'string' },
  },
} as const satisfies Schema

export type Progress = FromSchema<typeof progressSchema>
