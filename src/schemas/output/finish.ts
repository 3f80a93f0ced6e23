import { objectOf } from '../object-of.ts'
import type { FromSchema, Schema } from '../schema.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const texts = { type: 'array', items: text } as const

const obstacleKinds = [
  'locked',
  'no-branch',
  'uncommitted',
  'unmerged',
  'submodule',
  'review',
  'session',
  'process',
] as const

const obstacle = objectOf({
  kind: { enum: obstacleKinds },
  what: { ...text, description: 'A sentence.' },
  items: { ...texts, description: 'The files, commits or processes.' },
  next_step: text,
}) satisfies Schema

export type Obstacle = FromSchema<typeof obstacle>

export const finishSchema = {
  $id: 'finish',
  title: 'What `plan-gate finish --json` prints',
  ...objectOf({
    kind: { enum: ['dry-run', 'finished'] },
    worktree: text,
    branch: textOrNull,
    branch_is_kept: { type: 'boolean' },
    head: textOrNull,
    merged_into: textOrNull,
    archive: { ...textOrNull, description: 'null: an earlier run had got as far as that.' },
    obstacles: { type: 'array', items: obstacle, description: 'What stands in the way, or was discarded.' },
    goes_with_it: { ...texts, description: 'With --dry-run: what git ignores, and what is removed with the rest.' },
    notes: texts,
    cd: { ...textOrNull, description: 'Where to go from a folder that is gone.' },
  }),
} as const satisfies Schema

export type FinishOutput = FromSchema<typeof finishSchema>
