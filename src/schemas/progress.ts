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
  },
} as const satisfies Schema

export type Progress = FromSchema<typeof progressSchema>
