import type { SchemaError } from '../schemas/schema.ts'
import type { Refused } from './check-folder.ts'
import { readRegular } from './read-regular.ts'

export type JsonRead<T> = { kind: 'absent' } | { kind: 'read'; value: T } | Refused

export type Validator<T> = { (value: unknown): value is T; errors?: readonly SchemaError[] | null }

export function readJson<T>(root: string, path: string, validate: Validator<T>, maxBytes?: number): JsonRead<T> {
  const read = readRegular(root, path, maxBytes)
  if (read.kind !== 'read') return read
  if (read.bytes.length === 0) return { kind: 'refused', why: `${path} is empty` }
  let value: unknown
  try {
    value = JSON.parse(withoutByteOrderMark(read.bytes.toString('utf8')))
  } catch (error) {
    return { kind: 'refused', why: `${path} is not JSON: ${error instanceof Error ? error.message : error}` }
  }
  if (validate(value)) return { kind: 'read', value }
  return { kind: 'refused', why: `${path} has the wrong form: ${explain(validate.errors ?? [])}` }
}

/** Editors on Windows put one into a file that a person writes by hand. */
const withoutByteOrderMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

const explain = (errors: readonly SchemaError[]): string =>
  errors.map(({ instancePath, message }) => `${instancePath.slice(1) || 'it'} ${message}`).join(', ')
