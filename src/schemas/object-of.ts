import type { Schema } from './schema.ts'

type Properties = { readonly [name: string]: Schema }

/** An object that has all of these, and perhaps some of those. */
export function objectOf<const P extends Properties, const O extends Properties = Record<never, never>>(
  properties: P,
  optional?: O,
) {
  const required = Object.keys(properties) as (keyof P & string)[]
  return { type: 'object', required, properties: { ...properties, ...optional } as P & O } as const
}
