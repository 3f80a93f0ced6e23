import { objectOf } from './object-of.ts'
import type { FromSchema, Schema } from './schema.ts'

const textOrNull = { type: ['string', 'null'] } as const

/** What `bootstrap` notes in the git directory of a worktree that it opened, for `finish`. */
export const openedWorktreeSchema = {
  $id: 'opened-worktree',
  ...objectOf({
    version: { const: 1 },
    opened_at: { type: 'string' },
    base: { ...textOrNull, description: 'The branch that it started from, as a full name; null where that was none.' },
    base_commit: { type: 'string' },
    own_branch: { ...textOrNull, description: 'The branch that goes with the worktree; null: it is the user’s.' },
  }),
} as const satisfies Schema

export type OpenedWorktree = FromSchema<typeof openedWorktreeSchema>
