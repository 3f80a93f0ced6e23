import { findCookies, scheme } from './assignments.ts'
import { isSecretCandidate, kindOfName, markOf, readSecretName } from './candidates.ts'
import { maskRanges, type RedactedText, redactPlainText } from './finders.ts'

type RedactTexts = (texts: readonly string[]) => readonly RedactedText[]

export function isJsonDocument(text: string): boolean {
  const first = /\S/.exec(text)?.[0]
  const last = text.trimEnd().at(-1)
  if (!((first === '{' && last === '}') || (first === '[' && last === ']'))) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * By value: everything but strings stays as it is, with names, order and spacing. A name that is a secret itself is masked
 * too, with a number behind it where there are several, so that none is lost.
 */
export function redactJson(text: string, redactTexts: RedactTexts): RedactedText {
  const strings = readJsonStrings(text)
  const values = strings.filter(({ role }) => role === 'value')
  const redacted = redactTexts(values.map(({ start, end }) => decodeString(text, start, end)))
  const edits: Edit[] = values.flatMap((string, index) => {
    const plain = decodeString(text, string.start, string.end)
    const clean = maskNamed(string, plain, redacted[index] ?? { text: plain, kinds: [] })
    return clean.text === plain ? [] : [{ ...string, ...clean }]
  })
  const names = new Set<string>()
  for (const string of strings) {
    if (string.role === 'value' || string.key === null) continue
    const clean = redactPlainText(string.key)
    if (clean.text === string.key) continue
    const name = names.has(clean.text) ? `${clean.text} ${names.size + 1}` : clean.text
    names.add(name)
    edits.push({ ...string, kinds: clean.kinds, text: name })
  }
  return applyEdits(text, edits)
}

type Edit = RedactedText & { readonly start: number; readonly end: number }

function applyEdits(text: string, edits: readonly Edit[]): RedactedText {
  const pieces: string[] = []
  const kinds: string[] = []
  let at = 0
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    pieces.push(text.slice(at, edit.start), JSON.stringify(edit.text))
    for (const kind of edit.kinds) kinds.push(kind)
    at = edit.end
  }
  return { text: pieces.length === 0 ? text : pieces.join('') + text.slice(at), kinds }
}

/** A value whose name says that it is a secret. */
function maskNamed({ key, label }: JsonString, plain: string, inside: RedactedText): RedactedText {
  const name = [key, label].map((one) => (one === null ? null : readSecretName(one))).find((one) => one !== null)
  if (name === undefined) return key !== null && isPrivatePart(key, plain) ? markedText('private-key') : inside
  if (name === 'cookie') {
    const cookies = maskRanges(inside.text, findCookies(inside.text, 0).found)
    return { text: cookies.text, kinds: [...inside.kinds, ...cookies.kinds] }
  }
  const prefix = name === 'authorization' ? (scheme.exec(plain)?.[0] ?? '') : ''
  const isBlank = inside.text !== plain && /^(?:\[REDACTED:[a-z-]+\]|\s)+$/.test(inside.text.slice(prefix.length))
  // Also by what is left of it, since that is all that a second redaction would see.
  const isSecret = [plain, inside.text].some((text) => isSecretCandidate(text.slice(prefix.length), name, 'data'))
  return isSecret && !isBlank ? markedText(kindOfName[name], prefix) : inside
}

const markedText = (kind: string, prefix = ''): RedactedText => ({ text: prefix + markOf(kind), kinds: [kind] })

/** The private numbers of a JSON Web Key. */
const isPrivatePart = (key: string, value: string): boolean =>
  /^(?:d|p|q|dp|dq|qi|k)$/.test(key) &&
  /^[\w-]{32,}$/.test(value) &&
  [/[a-z]/, /[A-Z]/, /\d/].every((characters) => characters.test(value))

/** A string of a valid JSON text: its range, quotes included, and its key. */
type JsonString = {
  readonly start: number
  readonly end: number
  readonly role: 'key' | 'value'
  /** The key above it, also through lists; null at the top. */
  readonly key: string | null
  /** Of a `value`, what it is the value of: `{ "name": "DB_PASSWORD", "value": "…" }`, `"token": { "value": "…" }`. */
  readonly label: string | null
}

type Level = { readonly kind: 'object' | 'list'; key: string | null; label: string | null; expectsKey: boolean }

/** In the order of the text, without recursion, since the depth is untrusted. */
function readJsonStrings(text: string): readonly JsonString[] {
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
        strings.push(readStringAt(text, at, end, level))
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

function readStringAt(text: string, start: number, end: number, level: Level | undefined): JsonString {
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

function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? String(JSON.parse(text.slice(start, end))) : inner
}
