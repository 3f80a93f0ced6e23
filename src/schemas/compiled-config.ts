import type { FromSchema, Schema } from './schema.ts'

const folder = {
  type: 'object',
  required: ['named', 'real'],
  properties: { named: { type: 'string' }, real: { type: 'string' } },
} as const
const texts = { type: 'array', items: { type: 'string' } } as const

/** `plan-gate.yaml` and what else the gate must know, as JSON, because a YAML parser costs the gate 22 ms a call. */
export const compiledConfigSchema = {
  $id: 'compiled-config',
  type: 'object',
  required: ['version', 'source', 'problems', 'tool_patterns', 'house', 'config'],
  properties: {
    version: { const: 1 },
    source: {
      type: ['string', 'null'],
      description: 'The text it was compiled from; another text means: compile again.',
    },
    problems: { ...texts, description: 'What is wrong with the text; while anything is, the gate denies.' },
    tool_patterns: { ...texts, description: 'gate.tools.allow as regular expressions.' },
    house: {
      type: 'object',
      description: 'The folders that the gate judges a write by; looking them up costs half a millisecond a call.',
      required: ['root', 'gitDirs', 'mergedRoots', 'userDirs', 'planModeDirs'],
      properties: {
        root: folder,
        gitDirs: texts,
        mergedRoots: texts,
        userDirs: texts,
        planModeDirs: { type: 'array', items: folder },
      },
    },
    config: { type: 'object', description: 'The whole configuration, every default filled in.' },
  },
} as const satisfies Schema

export type CompiledConfig = FromSchema<typeof compiledConfigSchema>
