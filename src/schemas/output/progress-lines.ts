import { objectOf } from '../object-of.ts'
import type { Schema } from '../schema.ts'

const text = { type: 'string' } as const

/** The lines of the commands that tell how they get on; the last one has the event `result`, or `error`. */
export const prerequisiteLine = objectOf({
  event: { const: 'prerequisite' },
  name: text,
  status: { enum: ['ok', 'warning', 'failed'] },
  detail: text,
  remedy: { type: ['string', 'null'], description: 'What to do about it.' },
}) satisfies Schema

export const progressLines = [
  prerequisiteLine,
  objectOf({ event: { const: 'started' }, step: text, detail: text }),
  objectOf({ event: { const: 'done' }, step: text, detail: text, ms: { type: 'integer' } }),
  objectOf({ event: { const: 'notice' }, detail: text }),
  objectOf({
    event: { const: 'would' },
    action: { enum: ['create', 'change', 'keep', 'run', 'remove'] },
    path: text,
    detail: text,
  }),
] as const satisfies readonly Schema[]

export const errorSchema = {
  $id: 'error',
  title: 'What every command of plan-gate with --json prints where it fails',
  ...objectOf({
    event: { const: 'error' },
    message: text,
    next_step: { ...text, description: 'What can be done about it.' },
    exit_code: { type: 'integer' },
  }),
} as const satisfies Schema
