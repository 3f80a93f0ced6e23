/** A string in a JSON text that is known to be valid: where it stands, quotes included, and what it belongs to. */
export type JsonString = {
  readonly start: number
  readonly end: number
  readonly role: 'key' | 'value'
  /** The key that it stands under, also through lists; null at the top. */
  readonly key: string | null
  /** Of a `value`, what it is the value of: `{ "name": "DB_PASSWORD", "value": "…" }`, `"token": { "value": "…" }`. */
  readonly label: string | null
}

type Level = { readonly kind: 'object' | 'list'; key: string | null; label: string | null; expectsKey: boolean }

/** In the order of the text, without recursion: how deep a text goes is anybody's choice. */
export function readJsonStrings(text: string): readonly JsonString[] {
  const strings: JsonString[] = []
  const levels: Level[] = []
  let level: Level | undefined
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case openObject:
        level = { kind: 'object', key: null, label: level?.key ?? null, expectsKey: true }
        levels.push(level)
        break
      case openList:
        level = { kind: 'list', key: level?.key ?? null, label: null, expectsKey: false }
        levels.push(level)
        break
      case closeObject:
      case closeList:
        levels.pop()
        level = levels.at(-1)
        break
      case comma:
        if (level?.kind === 'object') level.expectsKey = true
        break
      case quote: {
        const end = endOfString(text, at)
        strings.push(take(text, at, end, level))
        at = end - 1
        break
      }
    }
  }
  return strings
}

const [openObject, closeObject, openList, closeList, comma, quote] = Array.from('{}[],"', (character) =>
  character.charCodeAt(0),
)

function take(text: string, start: number, end: number, level: Level | undefined): JsonString {
  if (level?.expectsKey === true) {
    level.key = decodeString(text, start, end)
    level.expectsKey = false
    return { start, end, role: 'key', key: level.key, label: null }
  }
  if (level !== undefined && /^(?:name|key|Name|Key)$/.test(level.key ?? '') && end - start < 80)
    level.label = decodeString(text, start, end)
  const isValue = /^[vV]alue$/.test(level?.key ?? '')
  return { start, end, role: 'value', key: level?.key ?? null, label: isValue ? (level?.label ?? null) : null }
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

export function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? String(JSON.parse(text.slice(start, end))) : inner
}
