import type { FromSchema, Schema } from './schema.ts'

const count = { type: 'integer', minimum: 0 } as const

/** `.claude/review/codex_thread_use.json`: what the thread has used so far; Codex reports totals, a turn is the rest. */
export const threadUseSchema = {
  $id: 'thread-use',
  type: 'object',
  required: ['thread', 'used'],
  properties: {
    thread: { type: 'string' },
    used: {
      type: 'object',
      required: ['input', 'cached', 'output', 'reasoning'],
      properties: { input: count, cached: count, output: count, reasoning: count },
    },
  },
} as const satisfies Schema

export type ThreadUse = FromSchema<typeof threadUseSchema>
