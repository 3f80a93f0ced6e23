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

/** A string of a valid JSON text: its range, quotes included. */
export type JsonString = {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly isName: boolean
  /** Of the object or list that it stands in. */
  readonly level: number
  /** The key above it, also through lists; null at the top. */
  readonly key: string | null
  /** Of a `value`, what it is the value of: `{ "name": "DB_PASSWORD", "value": "…" }`, `"token": { "value": "…" }`. */
  readonly label: string | null
}

type Level = {
  readonly number: number
  readonly isObject: boolean
  key: string | null
  label: string | null
  expectsKey: boolean
}

/** In the order of the text, without recursion, since the depth is untrusted. */
export function readJsonStrings(text: string): readonly JsonString[] {
  const strings: JsonString[] = []
  const levels: Level[] = []
  let opened = 0
  const next = /["{}[\],]/g
  while (next.test(text)) {
    const at = next.lastIndex - 1
    const sign = text[at]
    const level = levels.at(-1)
    if (sign === '{')
      levels.push({ number: ++opened, isObject: true, key: null, label: level?.key ?? null, expectsKey: true })
    else if (sign === '[')
      levels.push({ number: ++opened, isObject: false, key: level?.key ?? null, label: null, expectsKey: false })
    else if (sign === ',' && level) level.expectsKey = level.isObject
    else if (sign !== '"') levels.pop()
    else {
      const end = endOfString(text, at)
      strings.push(readString(text, at, end, level))
      next.lastIndex = end
    }
  }
  return strings
}

function readString(text: string, start: number, end: number, level: Level | undefined): JsonString {
  const isName = level?.expectsKey === true
  const inner = text.slice(start + 1, end - 1)
  const plain = inner.includes('\\') ? String(JSON.parse(text.slice(start, end))) : inner
  if (level && isName) [level.key, level.expectsKey] = [plain, false]
  const key = level?.key ?? null
  if (level && !isName && /^(?:name|key|Name|Key)$/.test(key ?? '') && end - start < 80) level.label = plain
  const label = /^[vV]alue$/.test(key ?? '') ? (level?.label ?? null) : null
  return { start, end, text: plain, isName, level: level?.number ?? 0, key, label }
}

/** Behind the closing quote: the first one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === 92) backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}
