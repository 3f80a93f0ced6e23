/** The words for what is wrong with a `plan-gate.yaml`. */
import { describeError, type Schema, type SchemaError } from '../schemas/schema.ts'
import type { ConfigProblem } from './load.ts'
import { nearestName } from './nearest-name.ts'
import { configSchema, textKinds } from './schema.ts'

/** The one next step for whatever is wrong with the file. */
export const fixLines = 'Fix these lines; `plan-gate config --template` prints every key with its default.'

/** A line for each; most terminals make `file:line:column` a link. */
export const describeProblems = (problems: readonly ConfigProblem[], fileName: string): readonly string[] =>
  problems.map(
    ({ line, column, message, hint }) => `${fileName}:${line}:${column}  ${message}${hint ? ` ${hint}` : ''}`,
  )

/**
 * Near a syntax error the YAML reader guesses, so problems there are not reported, up to the next key at the left margin.
 */
export function doubtfulIn(text: string, errors: readonly TextRange[]): (place: TextRange) => boolean {
  const nextMargin = /^[^\s#]/gm
  const guesses: TextRange[] = []
  let until = -1
  for (const [start, end] of errors) {
    if (end >= until) {
      nextMargin.lastIndex = end
      until = nextMargin.exec(text)?.index ?? text.length + 1
    }
    guesses.push([start, until])
  }
  return ([start, end]) => guesses.some(([from, to]) => (start > from && start < to) || (start <= from && from <= end))
}

export function explainConfigError(error: SchemaError, root: LocatedValue): LocatedProblem {
  const { value, schema } = subjectOf(error, root)
  const explain = explainers[error.keyword] ?? (() => ({ message: `${nameOf(value)} ${describeError(error)}.` }))
  return { at: rangeOfConfigError(error, root), path: value.path, ...explain({ value, schema, params: error.params }) }
}

/** The key of an unknown key, otherwise the value. */
export function rangeOfConfigError(error: SchemaError, root: LocatedValue): TextRange {
  const { value } = subjectOf(error, root)
  return unknownKeyOf(value, error.params)?.key ?? value.at
}

function subjectOf({ instancePath }: SchemaError, root: LocatedValue): Pick<Problem, 'value' | 'schema'> {
  const segments = instancePath.split('/').slice(1)
  return { value: segments.reduce(within, root), schema: segments.reduce<Schema>(schemaWithin, configSchema) }
}

const unknownKeyOf = (value: LocatedValue, { additionalProperty: key }: SchemaError['params']): Entry | undefined =>
  value.kind === 'map' && typeof key === 'string' ? value.entries.get(key) : undefined

type Problem = { readonly value: LocatedValue; readonly schema: Schema; readonly params: SchemaError['params'] }
type Explanation = Pick<LocatedProblem, 'message' | 'hint'> & { readonly path?: string }

const explainers: { readonly [keyword: string]: (problem: Problem) => Explanation } = {
  additionalProperties({ value, schema, params }) {
    const path = unknownKeyOf(value, params)?.value.path ?? value.path
    const siblings = Object.keys(schema.properties ?? {})
    const hint = hintForUnknownKey(String(params.additionalProperty), value.path, siblings)
    return { path, message: `${path} is not a known key.`, hint }
  },

  required({ value, schema, params }) {
    const key = String(params.missingProperty)
    const hint = `For example ${key}: ${example(schema.properties?.[key] ?? {})}`
    return { message: `${nameOf(value)} needs the key ${key}.`, hint }
  },

  type({ value, schema, params }) {
    const types = [params.type].flat().map(String)
    const expected = either(types.filter((type) => type !== 'null').map((type) => typeWords(type, schema)))
    return { message: `${nameOf(value)}: expected ${expected}, found ${showValue(value)}.`, ...typeHint(types, value) }
  },

  enum({ value, params }) {
    const allowed = [params.allowedValues].flat().map(String)
    const nearest = value.kind === 'scalar' ? nearestChoice(value.value, allowed) : undefined
    const message = `${nameOf(value)}: expected ${either(allowed)}, found ${showValue(value)}.`
    return { message, ...(nearest && { hint: `Did you mean ${nearest}?` }) }
  },

  minimum: ({ value, params }) => ({
    message: `${nameOf(value)}: expected at least ${params.limit}, found ${showValue(value)}.`,
  }),

  maximum: ({ value, params }) =>
    value.path.endsWith('.route_schema')
      ? {
          message: `${nameOf(value)}: version ${showValue(value)} is newer than this plan-gate, which knows ${params.limit}.`,
          hint: 'Upgrade plan-gate: npm install --save-dev plan-gate@latest',
        }
      : { message: `${nameOf(value)}: expected at most ${params.limit}, found ${showValue(value)}.` },

  pattern({ value, params }) {
    const kind = Object.values(textKinds).find(({ pattern }) => pattern === params.pattern)
    return { message: `${nameOf(value)}: expected ${kind?.words ?? 'another text'}, found ${showValue(value)}.` }
  },

  maxItems: ({ value, params }) => ({ message: `${nameOf(value)}: expected at most ${params.limit} entries.` }),

  minItems: ({ value, schema }) => ({
    message: `${nameOf(value)}: expected at least one entry, found none.`,
    hint: schema.examples ? `For example ${example(schema)}.` : 'Without the key, the default holds.',
  }),
}

const example = ({ examples, enum: choices }: Schema): string =>
  JSON.stringify(examples?.[0] ?? choices?.[0] ?? '').replaceAll('"', '')

const nameOf = ({ path }: LocatedValue): string => (path === '' ? 'The file' : path)

function within(value: LocatedValue, segment: string): LocatedValue {
  switch (value.kind) {
    case 'map':
      return value.entries.get(segment)?.value ?? value
    case 'list':
      return value.items[Number(segment)] ?? value
    case 'scalar':
      return value
  }
}

const schemaWithin = (schema: Schema, segment: string): Schema => schema.properties?.[segment] ?? schema.items ?? schema

function typeWords(type: string, { properties = {} }: Schema): string {
  const [first] = Object.keys(properties)
  const words: { readonly [type: string]: string } = {
    integer: 'a whole number',
    string: 'a text',
    boolean: 'true or false',
    array: 'a list',
    object: `a block of keys such as ${first}:`,
  }
  return words[type] ?? type
}

function typeHint(types: readonly string[], found: LocatedValue): { hint?: string } {
  if (found.kind !== 'scalar') return {}
  const { value } = found
  if (value === null) return { hint: `Write a value, or remove the ${found.path.endsWith(']') ? 'entry' : 'key'}.` }
  if (mayBeKey(found)) return {}
  if (types.includes('object')) return { hint: 'Write "key: value", with a space after the colon.' }
  if (types.includes('array')) return { hint: `Write [${typeof value === 'string' ? quoteShort(value) : value}].` }
  if (types.includes('string')) return { hint: `Write "${value}", in quotes.` }
  if (types.includes('boolean') && /^(y|yes|on|true|1)$/i.test(`${value}`)) return { hint: 'Write true.' }
  if (types.includes('boolean') && /^(n|no|off|false|0)$/i.test(`${value}`)) return { hint: 'Write false.' }
  if (types.includes('integer') && typeof value === 'string' && /^\d[\d_]{0,14}$/.test(value)) {
    return { hint: `Write ${value.replaceAll('_', '')}, without quotes.` }
  }
  return {}
}

/** YAML reads neither `on` nor `off` as a boolean, but who thinks of it as one may write true. */
function nearestChoice(written: string | number | boolean | null, allowed: readonly string[]): string | undefined {
  const word = written === true ? 'on' : written === false ? 'off' : String(written)
  return nearestName(word, allowed)
}

/** Where the key probably belongs, or what it probably means. */
function hintForUnknownKey(key: string, parent: string, siblings: readonly string[]): string {
  const didYouMean = (path: string) => `Did you mean ${path}?`
  const twin = nearestName(key, siblings, 1)
  if (twin) return didYouMean(join(parent, twin))
  const parents = blocks.filter(({ keys }) => keys.includes(key)).map(({ path }) => path)
  if (parents.includes('')) return `${key} belongs at the left margin, under no other key.`
  if (parents.length > 0) return `${key} belongs under ${either(parents.map((path) => `${path}:`))}`
  const sibling = nearestName(key, siblings)
  if (sibling) return didYouMean(join(parent, sibling))
  const cousin = nearestName(
    key,
    paths.map((path) => path.key),
  )
  const path = paths.find((path) => path.key === cousin)?.path
  return path ? didYouMean(path) : `Known here: ${siblings.join(', ')}.`
}

type Block = { readonly path: string; readonly keys: readonly string[] }

const blocksOf = ({ properties, items }: Schema, path: string): readonly Block[] => {
  if (items) return blocksOf(items, `${path}[]`)
  if (!properties) return []
  const below = Object.entries(properties).flatMap(([key, schema]) => blocksOf(schema, join(path, key)))
  return [{ path, keys: Object.keys(properties) }, ...below]
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)
const blocks = blocksOf(configSchema, '')
const paths = blocks.flatMap(({ path, keys }) => keys.map((key) => ({ key, path: join(path, key) })))

/** What stands where the name of a variable belongs is most likely the key itself. */
const mayBeKey = ({ path }: LocatedValue): boolean => path.endsWith('.api_key_env')

/** A value in the words of a message. */
export function showValue(node: LocatedValue): string {
  switch (node.kind) {
    case 'list':
      return 'a list'
    case 'map':
      return 'a block of keys'
    case 'scalar':
      if (node.value === null) return 'nothing'
      if (mayBeKey(node))
        return `${typeof node.value === 'string' ? 'a text' : 'something'} that may be a key, so it is not shown`
      return typeof node.value === 'string' ? `the text ${quoteShort(node.value)}` : String(node.value)
  }
}

/** One line without terminal escapes and bidirectional characters, truncated. */
export const quoteShort = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    '\ufffd',
  )

/** A key as a path shows it. */
export const keyName = (key: string): string => (/^[\w$<-][\w$<.-]{0,59}$/.test(key) ? key : quoteShort(key))

/** "a", "a or b", "a, b or c" */
export const either = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** Offsets: the first character, and the one after the last. */
export type TextRange = readonly [start: number, end: number]

/** A value of a YAML file with its range. `path` has the names in the file, older ones included. */
export type LocatedValue = { readonly path: string; readonly at: TextRange } & (
  | { readonly kind: 'scalar'; readonly value: string | number | boolean | null }
  | { readonly kind: 'list'; readonly items: readonly LocatedValue[] }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, Entry> }
)
export type Entry = { readonly key: TextRange; readonly value: LocatedValue }

/** A problem before its offset is converted to a line. */
export type LocatedProblem = {
  readonly at: TextRange
  readonly path: string
  readonly message: string
  readonly hint?: string
}

export const entryAt = (root: LocatedValue, [first, ...rest]: readonly string[]): Entry | undefined => {
  const entry = root.kind === 'map' && first !== undefined ? root.entries.get(first) : undefined
  return entry && rest.length > 0 ? entryAt(entry.value, rest) : entry
}

export function plainValue(node: LocatedValue): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value
    case 'list':
      return node.items.map(plainValue)
    case 'map': {
      // Without a prototype, a key named __proto__ is a key like any other.
      const plain: { [key: string]: unknown } = Object.create(null)
      for (const [key, { value }] of node.entries) plain[key] = plainValue(value)
      return plain
    }
  }
}

export const byRange = (one: { readonly at: TextRange }, other: { readonly at: TextRange }): number =>
  one.at[0] - other.at[0]
