import type { FromSchema, Schema } from './schema.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const texts = { type: 'object', additionalProperties: text } as const

/** The worktree when it was last in order; what differs from it is drift. Kept in the worktree's git directory. */
export const treeBaselineSchema = {
  $id: 'tree-baseline',
  type: 'object',
  required: ['head', 'paths', 'reported'],
  properties: {
    head: text,
    paths: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['status', 'digest'],
        properties: { status: text, digest: textOrNull },
      },
    },
    reported: { ...textOrNull, description: 'The drift that is on record already, so that it is recorded once.' },
  },
} as const satisfies Schema

/** What could make git run a program when the worktree was opened: the user's own doing. */
export const repositoryBaselineSchema = {
  $id: 'repository-baseline',
  type: 'object',
  required: ['configs', 'hooks'],
  properties: { configs: texts, hooks: texts },
} as const satisfies Schema

/** The settings files as they were when they last left the gate whole; null for one that did not exist. */
export const settingsBaselineSchema = {
  $id: 'settings-baseline',
  type: 'object',
  required: ['files'],
  properties: { files: { type: 'object', additionalProperties: textOrNull } },
} as const satisfies Schema

export type TreeBaseline = FromSchema<typeof treeBaselineSchema>
export type RepositoryBaseline = FromSchema<typeof repositoryBaselineSchema>
export type SettingsBaseline = FromSchema<typeof settingsBaselineSchema>
