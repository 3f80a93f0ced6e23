import { approvalSchema } from '../approval.ts'
import { denialSchema } from '../denial.ts'
import { keptPassSchema } from '../kept-pass.ts'
import { ledgerEventSchema } from '../ledger-event.ts'
import { objectOf } from '../object-of.ts'
import { reviewResultSchema } from '../review-result.ts'
import type { Schema } from '../schema.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const count = { type: 'integer', minimum: 0 } as const
const none = { type: 'null' } as const

const { $id: _approval, ...approval } = approvalSchema
const { $id: _denial, ...denial } = denialSchema
const { $id: _pass, ...keptPass } = keptPassSchema
const { $id: _event, ...event } = ledgerEventSchema
const { $id: _result, ...result } = reviewResultSchema

const revision = objectOf({
  revision: count,
  text: { ...textOrNull, description: 'Without secrets; null where it cannot be read.' },
  plan_hash: textOrNull,
  bytes: count,
  submitted_at: textOrNull,
  reviewed_at: textOrNull,
  result: { anyOf: [result, none] },
  why_none: { ...textOrNull, description: 'Why there is no result.' },
  passes: { type: 'array', items: keptPass },
}) satisfies Schema

export const reportSchema = {
  $id: 'report',
  title: 'What `plan-gate report --json` prints: everything that the page says',
  ...objectOf({
    name: text,
    place: { ...text, description: 'The worktree, or the folder that the reviews were kept in.' },
    made_at: text,
    version: text,
    gate: objectOf({ kind: { enum: ['open', 'closed', 'no-plan', 'reviewing', 'kept'] }, words: text }),
    limit: { type: ['integer', 'null'], description: 'How many revisions are reviewed before the user has to decide.' },
    cycles: {
      type: 'array',
      items: objectOf({
        cycle: count,
        kind: { enum: ['current', 'archived', 'lost'] },
        revisions: { type: 'array', items: revision },
        approval: { anyOf: [approval, none] },
        events: { type: 'array', items: { ...event, additionalProperties: true } },
      }),
    },
    sessions: {
      type: 'array',
      items: objectOf({
        session: text,
        client_version: textOrNull,
        started_at: textOrNull,
        last_seen_at: textOrNull,
        denials: { type: 'array', items: denial },
      }),
    },
    checks: { type: 'array', items: objectOf({ name: text, holds: { type: 'boolean' }, detail: text }) },
    problems: { type: 'array', items: text },
  }),
} as const satisfies Schema
