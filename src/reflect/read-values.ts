type Fields = { readonly [field: string]: unknown }

/** What comes from a file or a client may be anything; these read what is there and nothing else. */
export const asRecord = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** null for an empty text, too. */
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export const wholeOrZero = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
