import type { FromSchema, Schema } from './schema.ts'

/** The values of a schema once its defaults are filled in: what has a default, or is required, is there. */
export type Filled<S> = S extends { properties: infer P }
  ? Flat<
      { readonly [K in keyof P as IsPresent<S, P, K> extends true ? K : never]: Filled<P[K]> } & {
        readonly [K in keyof P as IsPresent<S, P, K> extends true ? never : K]?: Filled<P[K]>
      }
    >
  : S extends { items: infer I }
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

/** Only for a value that the schema accepts. */
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
