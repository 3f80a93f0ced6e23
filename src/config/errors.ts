import { describeError, type Schema, type SchemaError } from '../schemas/schema.ts'
import { configFile } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import type { ConfigProblem } from './load.ts'
import { nearestName } from './nearest-name.ts'
import { configSchema, textKinds } from './schema.ts'

export const fixLines = 'Fix these lines; `plan-gate config --template` prints every key with its default.'

export const invalidConfig = (what: string, problems: readonly string[], name: string = configFile): UserError =>
  new UserError(`${name} ${what}:\n${problems.map((line) => `  ${line}`).join('\n')}`, fixLines)

/** A line for each; most terminals make `file:line:column` a link. */
export const describeProblems = (problems: readonly ConfigProblem[], fileName: string): readonly string[] =>
  problems.map(
    ({ line, column, message, hint }) => `${fileName}:${line}:${column}  ${message}${hint ? ` ${hint}` : ''}`,
  )

type Words = { readonly path: string; readonly message: string; readonly hint?: string }

export function explainConfigError(error: SchemaError, root: unknown): Words {
  const steps = stepsOf(error)
  const value = steps.reduce(within, root)
  const schema = steps.reduce<Schema>((at, step) => at.properties?.[step] ?? at.items ?? at, configSchema)
  const path = nameOfPath(steps)
  const explain = explainers[error.keyword] ?? (() => ({ message: ` ${describeError(error)}.` }))
  const { message, ...words } = { path, ...explain({ path, value, schema, params: error.params }) }
  return { ...words, message: `${words.path === '' ? 'The file' : words.path}${message}` }
}

export const stepsOf = ({ instancePath }: SchemaError): string[] => instancePath.split('/').slice(1)

/** `review.routes[0].when` */
export const nameOfPath = (steps: readonly string[]): string =>
  steps.reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : join(path, keyName(step))), '')

const within = (value: unknown, step: string): unknown => (value as { readonly [step: string]: unknown })[step]

type Problem = {
  readonly path: string
  readonly value: unknown
  readonly schema: Schema
  readonly params: SchemaError['params']
}

const explainers: { readonly [keyword: string]: (problem: Problem) => Omit<Words, 'path'> & { path?: string } } = {
  additionalProperties({ path, schema, params }) {
    const name = String(params.additionalProperty)
    const hint = hintForUnknownKey(name, path, Object.keys(schema.properties ?? {}))
    return { path: join(path, keyName(name)), message: ' is not a known key.', hint }
  },

  required({ schema, params }) {
    const key = String(params.missingProperty)
    const hint = `For example ${key}: ${example(schema.properties?.[key] ?? {})}`
    return { message: ` needs the key ${key}.`, hint }
  },

  type({ path, value, schema, params }) {
    const types = [params.type].flat().map(String)
    const expected = either(types.filter((type) => type !== 'null').map((type) => typeWords(type, schema)))
    const hint = mayBeKey(path) && value !== null ? undefined : typeHint(types, value, path)
    return { message: expectedFound(expected, path, value), ...(hint && { hint }) }
  },

  enum({ path, value, params }) {
    const allowed = [params.allowedValues].flat().map(String)
    // YAML reads neither `on` nor `off` as a boolean, but who thinks of it as one may write true.
    const written = value === true ? 'on' : value === false ? 'off' : String(value)
    const nearest = typeof value === 'object' && value !== null ? undefined : nearestName(written, allowed)
    const message = expectedFound(either(allowed), path, value)
    return { message, ...(nearest && { hint: `Did you mean ${nearest}?` }) }
  },

  minimum: ({ path, value, params }) => ({ message: expectedFound(`at least ${params.limit}`, path, value) }),

  maximum: ({ path, value, params }) =>
    path.endsWith('.route_schema')
      ? {
          message: `: version ${value} is newer than this plan-gate, which knows ${params.limit}.`,
          hint: 'Upgrade plan-gate: npm install --save-dev plan-gate@latest',
        }
      : { message: expectedFound(`at most ${params.limit}`, path, value) },

  pattern({ path, value, params }) {
    const kind = Object.values(textKinds).find(({ pattern }) => pattern === params.pattern)
    return { message: expectedFound(kind?.words ?? 'another text', path, value) }
  },

  maxItems: ({ params }) => ({ message: `: expected at most ${params.limit} entries.` }),

  minItems: ({ schema }) => ({
    message: ': expected at least one entry, found none.',
    hint: schema.examples ? `For example ${example(schema)}.` : 'Without the key, the default holds.',
  }),
}

const expectedFound = (expected: string, path: string, value: unknown): string =>
  `: expected ${expected}, found ${showValue(value, path)}.`

const example = ({ examples, enum: choices }: Schema): string =>
  JSON.stringify(examples?.[0] ?? choices?.[0] ?? '').replaceAll('"', '')

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

function typeHint(types: readonly string[], value: unknown, path: string): string | undefined {
  if (value === null) return `Write a value, or remove the ${path.endsWith(']') ? 'entry' : 'key'}.`
  if (typeof value === 'object') return undefined
  if (types.includes('object')) return 'Write "key: value", with a space after the colon.'
  if (types.includes('array')) return `Write [${typeof value === 'string' ? quoteShort(value) : value}].`
  if (types.includes('string')) return `Write "${value}", in quotes.`
  if (types.includes('boolean') && /^(y|yes|on|true|1)$/i.test(`${value}`)) return 'Write true.'
  if (types.includes('boolean') && /^(n|no|off|false|0)$/i.test(`${value}`)) return 'Write false.'
  if (types.includes('integer') && /^\d[\d_]{0,14}$/.test(`${value}`))
    return `Write ${`${value}`.replaceAll('_', '')}, without quotes.`
  return undefined
}

/** Where the key probably belongs, or what it probably means. */
function hintForUnknownKey(key: string, parent: string, siblings: readonly string[]): string {
  const parents = keys.filter((each) => each.key === key).map((each) => each.parent)
  if (parents.includes('')) return `${key} belongs at the left margin, under no other key.`
  const twin = nearestName(key, siblings, parents.length > 0 ? 1 : undefined)
  if (twin) return `Did you mean ${join(parent, twin)}?`
  if (parents.length > 0) return `${key} belongs under ${either(parents.map((path) => `${path}:`))}`
  const names = keys.map((each) => each.key)
  const cousin = keys[names.indexOf(nearestName(key, names) ?? '')]
  return cousin ? `Did you mean ${join(cousin.parent, cousin.key)}?` : `Known here: ${siblings.join(', ')}.`
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

type Key = { readonly key: string; readonly parent: string }

const keysOf = ({ properties = {}, items }: Schema, parent: string): readonly Key[] =>
  items
    ? keysOf(items, `${parent}[]`)
    : [
        ...Object.keys(properties).map((key) => ({ key, parent })),
        ...Object.entries(properties).flatMap(([key, schema]) => keysOf(schema, join(parent, key))),
      ]

const keys = keysOf(configSchema, '')

/** What stands where the name of a variable belongs is most likely the key itself. */
const mayBeKey = (path: string): boolean => path.endsWith('.api_key_env')

function showValue(value: unknown, path: string): string {
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'a block of keys'
  if (mayBeKey(path))
    return `${typeof value === 'string' ? 'a text' : 'something'} that may be a key, so it is not shown`
  return typeof value === 'string' ? `the text ${quoteShort(value)}` : String(value)
}

/** One line without terminal escapes and bidirectional characters, truncated. */
export const quoteShort = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    '\ufffd',
  )

export const keyName = (key: string): string => (/^[\w$<-][\w$<.-]{0,59}$/.test(key) ? key : quoteShort(key))

/** "a", "a or b", "a, b or c" */
export const either = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
