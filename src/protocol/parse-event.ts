import type { SchemaError } from '../schemas/schema.ts'

export type Validate<T> = { (value: unknown): value is T; errors?: readonly SchemaError[] | null }
export type Parsed<T> = { kind: 'event'; event: T } | { kind: 'malformed'; why: string }

/** One line of hook input, checked by the compiled validator of the event that the hook is registered for. */
export function parseEvent<T>(validate: Validate<T>, text: string): Parsed<T> {
  const value = parseJson(text)
  if (value === undefined) return { kind: 'malformed', why: 'it is not JSON' }
  if (validate(value)) return { kind: 'event', event: value }
  const error = validate.errors?.[0]
  return { kind: 'malformed', why: `${error?.instancePath || 'the input'} ${error?.message ?? 'has the wrong form'}` }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
