import { objectOf } from './object-of.ts'
import type { FromSchema, Schema } from './schema.ts'

/** What every line of `.claude/review/events.jsonl` has. Types this version does not know are read all the same. */
export const ledgerEventSchema = {
  $id: 'ledger-event',
  type: 'object',
  required: ['seq', 'at', 'type', 'prev'],
  properties: {
    seq: { type: 'integer', minimum: 1, description: 'The number of its line.' },
    at: { type: 'string' },
    type: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' },
    prev: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the line before, without its newline.',
    },
  },
} as const satisfies Schema

export type LedgerEvent = FromSchema<typeof ledgerEventSchema> & { readonly [field: string]: unknown }

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const count = { type: 'integer' } as const
const countOrNull = { type: ['integer', 'null'] } as const
const yesOrNo = { type: 'boolean' } as const
const texts = { type: 'array', items: text } as const

/** What each type of event says beside that. */
export const ledgerEntrySchemas = {
  'cycle-started': objectOf({ cycle: count }),
  'revision-submitted': objectOf({ revision: count, plan_hash: text }),
  reviewed: objectOf({ revision: count, plan_hash: text, verdict: text, backend: text, findings: count }),
  'review-unavailable': objectOf({ plan_hash: text, failure: text, why: text }),
  'routes-effective': objectOf({ routes_hash: text }),
  'thread-started': objectOf({ thread: text }),
  'thread-replaced': objectOf({ thread: text, was: text, why: text }),
  approved: objectOf({ revision: count, plan_hash: text, route: text, verification: textOrNull }),
  'approved-manually': objectOf({ plan_hash: text, reason: textOrNull }),
  'approval-revoked': objectOf({ why: text }),
  'limit-reached': objectOf({ revision: count }),
  continued: objectOf({ revision: count }),
  'cycle-archived': objectOf({ cycle: count, revisions: count, approved: yesOrNo, recovered: yesOrNo }),
  denied: objectOf({ tool: text, rule: text, reason: text }),
  'config-change-vetoed': objectOf({ source: text, path: textOrNull }),
  'control-plane-restored': objectOf({ paths: texts }),
  'drift-found': objectOf({ paths: texts }),
  'drift-accepted': objectOf({ paths: texts }),
  reflected: objectOf({
    session: text,
    kind: text,
    about: text,
    duration_ms: count,
    verdict: text,
    tokens: countOrNull,
  }),
  'reflection-unavailable': objectOf({
    session: text,
    kind: text,
    about: text,
    duration_ms: count,
    failure: text,
    why: text,
  }),
  installed: objectOf({ version: text }),
  uninstalled: objectOf({ version: text }),
  /** Written by the ledger itself after a crash: `prev` covers the torn bytes, `after` the last whole line. */
  'torn-line': objectOf({ after: text, lines: count, bytes: count }),
} as const satisfies { [type: string]: Schema }

type Entries = typeof ledgerEntrySchemas

export type LedgerEntry = { [T in keyof Entries]: { readonly type: T } & FromSchema<Entries[T]> }[keyof Entries]
