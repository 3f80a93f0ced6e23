/** What an error body says; '' for what it does not. Gateways wrap OpenAI's form in several ways. */
export type ApiError = {
  readonly code: string
  readonly type: string
  readonly param: string
  readonly message: string
}

export function parseApiError(body: unknown): ApiError {
  const outer = asRecord(body)
  const inner = Array.isArray(outer.error) ? outer.error[0] : outer.error
  const error = typeof inner === 'object' && inner !== null ? asRecord(inner) : outer
  return {
    code: textOf(error.code),
    type: textOf(error.type),
    param: textOf(error.param),
    message: [error.message, inner, outer.message, outer.detail].map(textOf).find((text) => text !== '') ?? '',
  }
}

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const asRecord = (value: unknown): { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null ? (value as { [key: string]: unknown }) : {}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  return Array.isArray(value) && value.length > 0 ? JSON.stringify(value) : ''
}
