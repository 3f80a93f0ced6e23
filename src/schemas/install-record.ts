import type { FromSchema, Schema } from './schema.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

/**
 * What an install did, kept in the worktree's git directory where no tool of Claude Code may write. Written before the
 * first change, so that an install that was cut short can be finished or undone.
 */
export const installRecordSchema = {
  $id: 'install-record',
  type: 'object',
  required: [
    'version',
    'package_version',
    'installed_at',
    'complete',
    'track',
    'reviewer',
    'reflect',
    'config',
    'settings',
    'files',
    'created_dirs',
    'excluded',
  ],
  properties: {
    version: { const: 1 },
    package_version: text,
    package_root: {
      ...text,
      description: 'Where the package lies that was installed; what is too large to copy is read there.',
    },
    installed_at: text,
    complete: { type: 'boolean' },
    track: { type: 'boolean', description: 'Whether the files are meant to be committed.' },
    reviewer: textOrNull,
    reflect: { type: 'boolean' },
    config: { ...textOrNull, description: 'The plan-gate.yaml that counts while the worktree has none of its own.' },
    settings: {
      type: 'object',
      required: ['path', 'before', 'before_mode', 'after', 'denied'],
      properties: {
        path: text,
        before: { ...textOrNull, description: 'The bytes before us, in base64; null where there was no file.' },
        before_mode: { type: ['integer', 'null'] },
        after: { ...text, description: 'The bytes that we wrote, in base64.' },
        denied: { type: 'array', items: text },
      },
    },
    files: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'sha256', 'mode'],
        properties: { path: text, sha256: text, mode: { type: 'integer' } },
      },
    },
    created_dirs: { type: 'array', items: text, description: 'Folders that were not there before, outermost first.' },
    excluded: { type: 'array', items: text, description: 'Our lines in info/exclude.' },
  },
} as const satisfies Schema

export type InstallRecord = FromSchema<typeof installRecordSchema>
