/** An object as JSON has it. Only its own keys are read, so `__proto__` and `constructor` are keys like any other. */
export type JsonRecord = { readonly [key: string]: unknown }

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const asRecord = (value: unknown): JsonRecord => (isRecord(value) ? value : {})
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function parseRecord(text: string): JsonRecord | null {
  const value = parseJson(text)
  return isRecord(value) ? value : null
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** null for anything that counts nothing. */
export const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
