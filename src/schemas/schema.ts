/** The part of JSON Schema (2020-12) that this project uses. One const of it gives a type, a check and a file. */
export type Schema = {
  readonly $id?: string
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null' | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: { readonly [key: string]: Schema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly maxLength?: number
  readonly pattern?: string
}

/** The TypeScript type of the values that a schema accepts. Write the schema `as const satisfies Schema`. */
export type FromSchema<S> = S extends { anyOf: readonly (infer A)[] }
  ? FromSchema<A>
  : S extends { const: infer C }
    ? C
    : S extends { enum: readonly (infer E)[] }
      ? E
      : S extends { type: infer T }
        ? T extends readonly (infer U)[]
          ? FromType<S, U>
          : FromType<S, T>
        : unknown

type FromType<S, T> = T extends 'string'
  ? string
  : T extends 'integer' | 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? readonly (S extends { items: infer I } ? FromSchema<I> : unknown)[]
          : T extends 'object'
            ? FromObject<S>
            : never

type FromObject<S> = S extends { properties: infer P }
  ? S extends { required: readonly (infer R)[] }
    ? Simplify<
        { readonly [K in keyof P as K extends R ? K : never]: FromSchema<P[K]> } & {
          readonly [K in keyof P as K extends R ? never : K]?: FromSchema<P[K]>
        }
      >
    : { readonly [K in keyof P]?: FromSchema<P[K]> }
  : S extends { additionalProperties: infer A }
    ? A extends Schema
      ? { readonly [key: string]: FromSchema<A> }
      : { readonly [key: string]: unknown }
    : { readonly [key: string]: unknown }

type Simplify<T> = { [K in keyof T]: T[K] }

/** With the fields of an error of ajv, which these checks are tested against. */
export type SchemaError = {
  readonly instancePath: string
  readonly keyword: string
  readonly params: { readonly [key: string]: unknown }
}

/** Ajv costs a hook 37 ms at each start, and a validator that it generates is four times as long as its schema. */
export const accepts = <const S extends Schema>(schema: S, value: unknown): value is FromSchema<S> =>
  firstError(schema, value) === null

export const firstError = (schema: Schema, value: unknown): SchemaError | null =>
  errorsIn(schema, value).next().value ?? null

/** Where the type is wrong, nothing else is said of a value. */
export function* errorsIn(schema: Schema, value: unknown, instancePath = ''): Generator<SchemaError, undefined> {
  const error = (keyword: string, params: SchemaError['params'] = {}): SchemaError => ({
    instancePath,
    keyword,
    params,
  })
  const { type, items, properties = {}, additionalProperties = true } = schema
  if (type !== undefined && ![type].flat().some((name) => isOfType(value, name))) {
    yield error('type', { type })
    return
  }
  if ('const' in schema && value !== schema.const) yield error('const', { allowedValue: schema.const })
  if (schema.enum?.includes(value) === false) yield error('enum', { allowedValues: schema.enum })
  if (schema.anyOf?.every((option) => firstError(option, value) !== null)) yield error('anyOf')
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity } = schema
  if (typeof value === 'number') {
    if (value < minimum) yield error('minimum', { limit: minimum })
    if (value > maximum) yield error('maximum', { limit: maximum })
    if (value <= exclusiveMinimum) yield error('exclusiveMinimum', { limit: exclusiveMinimum })
  } else if (typeof value === 'string') {
    const { maxLength, pattern } = schema
    if (maxLength !== undefined && [...value].length > maxLength) yield error('maxLength', { limit: maxLength })
    if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) yield error('pattern', { pattern })
  } else if (Array.isArray(value)) {
    const { minItems = 0, maxItems = Infinity } = schema
    if (value.length < minItems) yield error('minItems', { limit: minItems })
    if (value.length > maxItems) yield error('maxItems', { limit: maxItems })
    if (items !== undefined)
      for (const [index, item] of value.entries()) yield* errorsIn(items, item, `${instancePath}/${index}`)
  } else if (typeof value === 'object' && value !== null) {
    for (const key of schema.required ?? [])
      if (!Object.hasOwn(value, key)) yield error('required', { missingProperty: key })
    for (const [key, inner] of Object.entries(value)) {
      const known = Object.hasOwn(properties, key) ? properties[key] : additionalProperties
      if (known === false) yield error('additionalProperties', { additionalProperty: key })
      else if (typeof known === 'object') yield* errorsIn(known, inner, `${instancePath}/${pointerTo(key)}`)
    }
  }
}

const pointerTo = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

function isOfType(value: unknown, name: string): boolean {
  switch (name) {
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default: {
      const type: string = typeof value
      return type === name
    }
  }
}

/** In words that follow a path. */
export function describeError({ keyword, params }: SchemaError): string {
  switch (keyword) {
    case 'type':
      return `must be ${[params.type].flat().join(',')}`
    case 'required':
      return `must have required property '${params.missingProperty}'`
    case 'pattern':
      return `must match pattern "${params.pattern}"`
    default:
      return 'has a value that it must not have'
  }
}

export type Properties = { readonly [name: string]: Schema }

/** An object with required and optional properties; further ones are accepted. */
export function objectOf<const P extends Properties, const O extends Properties = Record<never, never>>(
  required: P,
  optional?: O,
) {
  const names = Object.keys(required) as (keyof P & string)[]
  return { type: 'object', required: names, properties: { ...required, ...optional } as P & O } as const
}

export function strictObjectOf<const P extends Properties>(properties: P) {
  const { required } = objectOf(properties)
  return { type: 'object', additionalProperties: false, required, properties } as const
}

export const listOf = <const S extends Schema>(items: S) => ({ type: 'array', items }) as const

/** A schema as a part of another one; an `$id` may stand only once. */
export const embedded = <const S extends Schema>({ $id: _, ...schema }: S): Omit<S, '$id'> => schema
export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const texts = listOf(text)
export const bool = { type: 'boolean' } as const
export const integer = { type: 'integer' } as const
export const integerOrNull = { type: ['integer', 'null'] } as const
export const count = { type: 'integer', minimum: 0 } as const
export const sha256Hex = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const

/** The values of a schema once its defaults are filled in: what has a default, or is required, is there. */
export type Filled<S> = S extends { properties: infer P }
  ? Flat<
      { readonly [K in keyof P as IsPresent<S, P, K> extends true ? K : never]: Filled<P[K]> } & {
        readonly [K in keyof P as IsPresent<S, P, K> extends true ? never : K]?: Filled<P[K]>
      }
    >
  : S extends { type: 'array'; items: infer I }
    ? readonly Filled<I>[]
    : FromSchema<S>

type IsPresent<S, P, K extends keyof P> = P[K] extends { default: unknown }
  ? true
  : S extends { required: readonly (infer R)[] }
    ? K extends R
      ? true
      : false
    : false

type Flat<T> = { [K in keyof T]: T[K] }

export const fillDefaults = <const S extends Schema>(schema: S, value: FromSchema<S>): Filled<S> =>
  filled(schema, value) as Filled<S>

function filled(schema: Schema, value: unknown): unknown {
  if (schema.properties) {
    const given = (value ?? {}) as { readonly [key: string]: unknown }
    return Object.fromEntries(
      Object.entries(schema.properties).flatMap(([key, property]) => {
        const own = Object.hasOwn(given, key) ? given[key] : property.default
        return own === undefined ? [] : [[key, filled(property, own)]]
      }),
    )
  }
  const { items } = schema
  return items && Array.isArray(value) ? value.map((item) => filled(items, item)) : value
}
