import type { Schema } from '../schema.ts'

const text = { type: 'string' } as const

export const watchSchema = {
  $id: 'watch',
  title: 'A line of `plan-gate watch --json`: something that happened, with the fields of its own kind',
  type: 'object',
  required: ['happening', 'at'],
  additionalProperties: true,
  properties: {
    happening: { enum: ['gate', 'pass', 'sign', 'finding', 'denial', 'event', 'worktree'] },
    at: text,
  },
} as const satisfies Schema
