import type { FromSchema, Schema } from './schema.ts'

const texts = { type: 'array', items: { type: 'string' } } as const

/**
 * `plan-gate.yaml` and what else the gate must know, as JSON, because a YAML parser costs the gate 22 ms a call. Written
 * by us and by nobody else, so the gate looks whether it is one, and not at each part of it.
 */
export const compiledConfigSchema = {
  $id: 'compiled-config',
  type: 'object',
  required: ['version', 'recorded', 'source', 'problems', 'tool_patterns', 'house', 'config'],
  properties: {
    version: { const: 1 },
    recorded: { type: 'boolean', description: 'Whether there was a record of an install when it was compiled.' },
    source: {
      type: ['string', 'null'],
      description: 'The text it was compiled from; another text means: compile again.',
    },
    problems: { ...texts, description: 'What is wrong with the text; while anything is, the gate denies.' },
    tool_patterns: { ...texts, description: 'gate.tools.allow as regular expressions.' },
    house: {
      type: 'object',
      description: 'The folders that the gate judges a write by; looking them up costs half a millisecond a call.',
      required: ['root'],
      properties: { root: { type: 'object', required: ['named'], properties: { named: { type: 'string' } } } },
    },
    config: { type: 'object', description: 'The whole configuration, every default filled in.' },
  },
} as const satisfies Schema

export type CompiledConfig = FromSchema<typeof compiledConfigSchema>
