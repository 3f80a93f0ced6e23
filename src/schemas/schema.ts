/** The part of JSON Schema (2020-12) that this project uses. One const of it gives a type, a validator and a file. */
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

/** What a compiled validator reports; ajv's own error object has these fields and more. */
export type SchemaError = {
  readonly instancePath: string
  readonly keyword: string
  readonly params: { readonly [key: string]: unknown }
}

/** In words that follow a path: the validators carry none, since there are many of them in each hook. */
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

type Properties = { readonly [name: string]: Schema }

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
