import { configSchema } from './config.ts'
import { textKinds } from './config-fields.ts'
import { hintForUnknownKey } from './hint-for-unknown-key.ts'
import type { Entry, Finding, Located, Place } from './located.ts'
import { nearestName } from './nearest-name.ts'
import type { Schema, SchemaError } from './schema.ts'
import { either, quoted, showValue } from './show-value.ts'

/** What the validator found, in words for the person who wrote the file. */
export function explainConfigError(error: SchemaError, root: Located): Finding {
  const { value, schema } = subjectOf(error, root)
  const explain = explainers[error.keyword] ?? (() => ({ message: `${nameOf(value)}: ${error.message}.` }))
  return { at: placeOfConfigError(error, root), path: value.path, ...explain({ value, schema, params: error.params }) }
}

/** Of an unknown key the key itself, of anything else the value. */
export function placeOfConfigError(error: SchemaError, root: Located): Place {
  const { value } = subjectOf(error, root)
  return unknownKeyOf(value, error.params)?.key ?? value.at
}

function subjectOf({ instancePath }: SchemaError, root: Located): Pick<Problem, 'value' | 'schema'> {
  const segments = instancePath.split('/').slice(1)
  return { value: segments.reduce(within, root), schema: segments.reduce<Schema>(schemaWithin, configSchema) }
}

const unknownKeyOf = (value: Located, { additionalProperty: key }: SchemaError['params']): Entry | undefined =>
  value.kind === 'map' && typeof key === 'string' ? value.entries.get(key) : undefined

type Problem = { readonly value: Located; readonly schema: Schema; readonly params: SchemaError['params'] }
type Explanation = Pick<Finding, 'message' | 'hint'> & { readonly path?: string }

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

const nameOf = ({ path }: Located): string => (path === '' ? 'The file' : path)

function within(value: Located, segment: string): Located {
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

function typeHint(types: readonly string[], found: Located): { hint?: string } {
  if (found.kind !== 'scalar') return {}
  const { value } = found
  if (value === null) return { hint: `Write a value, or remove the ${found.path.endsWith(']') ? 'entry' : 'key'}.` }
  if (types.includes('object')) return { hint: 'Write "key: value", with a space after the colon.' }
  if (types.includes('array')) return { hint: `Write [${typeof value === 'string' ? quoted(value) : value}].` }
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
