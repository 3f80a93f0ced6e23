/** Text of a model as a person may see it in a terminal: no control characters, no turned direction, not endless. */
export function cleanText(value: unknown, limit: number): string {
  const text = textOf(value)
  const cleaned = text
    .slice(0, limit * 2 + 1000)
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim()
  return cleaned.length <= limit ? cleaned : `${cleaned.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

export const cleanLine = (value: unknown, limit: number): string =>
  cleanText(
    textOf(value)
      .slice(0, limit * 2 + 1000)
      .replace(/\s+/g, ' '),
    limit,
  )

/** Models put lists and small objects where a text was asked for. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.slice(0, 50).map(plainText).filter(Boolean).join('\n')
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .slice(0, 50)
      .map(([key, inner]) => `${key}: ${plainText(inner)}`)
      .join('\n')
  return ''
}

const plainText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
