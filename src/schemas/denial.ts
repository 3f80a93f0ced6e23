import type { FromSchema, Schema } from './schema.ts'

/** A line of `.claude/review/sessions/<id>/denials.jsonl`: a call that the gate refused. */
export const denialSchema = {
  $id: 'denial',
  type: 'object',
  required: ['at', 'tool', 'target', 'rule', 'reason'],
  properties: {
    at: { type: 'string' },
    tool: { type: 'string' },
    target: { type: 'string', description: 'The path or the command line, redacted; shortened where it was long.' },
    rule: { type: 'string' },
    reason: { type: 'string' },
  },
} as const satisfies Schema

export type Denial = FromSchema<typeof denialSchema>
