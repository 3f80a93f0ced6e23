/** An object as JSON has it. Only its own keys are read, so `__proto__` and `constructor` are keys like any other. */
export type JsonRecord = { readonly [key: string]: unknown }

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of the first of these keys that says anything. */
export function pick(record: JsonRecord, keys: readonly string[]): unknown {
  const key = keys.find((name) => Object.hasOwn(record, name) && !isEmpty(record[name]))
  return key === undefined ? undefined : record[key]
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''
