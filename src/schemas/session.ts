import type { FromSchema, Schema } from './schema.ts'

/** `.claude/review/sessions/<id>/session.json`: that a Claude Code session was here, and when it was last heard of. */
export const sessionSchema = {
  $id: 'session',
  type: 'object',
  required: ['session_id', 'client_version', 'started_at', 'last_seen_at', 'source', 'cwd'],
  properties: {
    session_id: { type: 'string', description: 'As Claude Code gave it; the folder may be named for its hash.' },
    client_version: { type: ['string', 'null'] },
    started_at: { type: 'string' },
    last_seen_at: { type: 'string' },
    source: { type: 'string', description: 'startup, resume, clear or compact.' },
    cwd: { type: 'string' },
    ended_at: { type: 'string', description: 'Told by whoever had started it; a later sign of life takes it back.' },
  },
} as const satisfies Schema

export type Session = FromSchema<typeof sessionSchema>
