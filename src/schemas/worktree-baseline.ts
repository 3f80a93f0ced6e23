/** What `git` and the settings looked like when a worktree was last accepted. Kept in the worktree's git directory. */
import { type FromSchema, objectOf, type Schema, text, textOrNull } from './schema.ts'

const textByPath = { type: 'object', additionalProperties: text } as const

/** The files that differ from the commit; what differs from this baseline is drift. */
export const treeBaselineSchema = {
  $id: 'tree-baseline',
  ...objectOf({
    head: text,
    paths: { type: 'object', additionalProperties: objectOf({ status: text, digest: textOrNull }) },
    reported: { ...textOrNull, description: 'The drift that is in the ledger already, so that it is recorded once.' },
  }),
} as const satisfies Schema

/** What could make git run a program, as the user had configured it when the worktree was opened. */
export const repositoryBaselineSchema = {
  $id: 'repository-baseline',
  ...objectOf({ configs: textByPath, hooks: textByPath }),
} as const satisfies Schema

/** The settings files when the gate's hooks were last complete; null for one that did not exist. */
export const settingsBaselineSchema = {
  $id: 'settings-baseline',
  ...objectOf({ files: { type: 'object', additionalProperties: textOrNull } }),
} as const satisfies Schema

export type TreeBaseline = FromSchema<typeof treeBaselineSchema>
export type RepositoryBaseline = FromSchema<typeof repositoryBaselineSchema>
export type SettingsBaseline = FromSchema<typeof settingsBaselineSchema>
