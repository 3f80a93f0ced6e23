import type { Schema } from './schema.ts'

/**
 * The kinds of text a config may hold, each with the words for it. Their patterns also bound the length, since ajv's
 * `maxLength` brings a run time into every bundle, and each is linear in its input, since the text is anyone's.
 */
export const textKinds = {
  line: { pattern: '^(?! *$)[^\\u0000-\\u001f\\u007f]{1,500}$', words: 'one line of text' },
  script: { pattern: '^(?!\\s*$)[^\\u0000]{1,4000}$', words: 'a command for the shell' },
  command: { pattern: '^[\\w.+]([\\w./:@+ -]{0,98}[\\w./:@+-])?$', words: 'a command, and at most its subcommand' },
  // With more wildcards, or with groups that repeat, a matcher may try for ever.
  tool: {
    pattern: '^(?=[^*]*(\\*+[^*]*){0,3}$)[\\w*?{},.:@/[\\]-]{1,200}$',
    words: 'the name of a tool, in which * may stand up to three times',
  },
  expression: { pattern: '^[^\\u0000]{1,200}$', words: 'a regular expression of 1 to 200 characters' },
  model: { pattern: '^[A-Za-z0-9][\\w.:/@+-]{0,99}$', words: 'the name of a model' },
  ref: { pattern: '^[A-Za-z0-9_@][\\w./@~^{}+-]{0,199}$', words: 'a branch, a tag or a commit' },
  refPrefix: { pattern: '^([A-Za-z0-9_][\\w./-]{0,99})?$', words: 'the beginning of a branch name' },
} as const

type TextKind = keyof typeof textKinds

const pattern = (kind: TextKind): string => textKinds[kind].pattern

/** A block may be left empty, so that each of its keys can be commented out. */
export const block = <const P extends { readonly [key: string]: Schema }>(description: string, properties: P) =>
  ({ description, type: ['object', 'null'], default: {}, additionalProperties: false, properties }) as const

export const flag = (byDefault: boolean, description: string) =>
  ({ description, type: 'boolean', default: byDefault }) as const

/** Without a `type`, so that a wrong value is one problem and not two. */
export const choice = <const E extends readonly string[]>(values: E, byDefault: E[number], description: string) =>
  ({ description, enum: values, default: byDefault }) as const

export const whole = (byDefault: number, minimum: number, maximum: number, description: string) =>
  ({ description, type: 'integer', minimum, maximum, default: byDefault }) as const

export const wholeOrNone = (minimum: number, maximum: number, description: string) =>
  ({ description, type: ['integer', 'null'], minimum, maximum, default: null }) as const

export const text = (kind: TextKind, byDefault: string, description: string) =>
  ({ description, type: 'string', pattern: pattern(kind), default: byDefault }) as const

export const textOrNone = (kind: TextKind, description: string) =>
  ({ description, type: ['string', 'null'], pattern: pattern(kind), default: null }) as const

export const texts = (kind: TextKind, byDefault: readonly string[], description: string) =>
  ({ description, type: 'array', items: { type: 'string', pattern: pattern(kind) }, default: byDefault }) as const
