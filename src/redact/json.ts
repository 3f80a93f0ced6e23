import { findCookies, schemeOf } from './assignments.ts'
import { markOf, maskSecrets, type RedactedText } from './mask.ts'
import { isSecretCandidate, kindOfName, readSecretName } from './secret-names.ts'

type RedactTexts = (texts: readonly string[]) => readonly RedactedText[]

export function isJsonDocument(text: string): boolean {
  const first = /\S/.exec(text)?.[0]
  if (!((first === '{' && text.trimEnd().endsWith('}')) || (first === '[' && text.trimEnd().endsWith(']'))))
    return false
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
export function redactJson(text: string, redactValues: RedactTexts, redactNames: RedactTexts): RedactedText {
  const strings = readJsonStrings(text)
  const textsOf = (isName: boolean) => strings.filter((string) => string.isName === isName).map((one) => one.text)
  const values = redactValues(textsOf(false)).values()
  const cleanNames = redactNames(textsOf(true)).values()
  const names = new Set<string>()
  const pieces: string[] = []
  const kinds: string[] = []
  let at = 0
  for (const string of strings) {
    const inside = (string.isName ? cleanNames : values).next().value ?? { text: '', kinds: [] }
    const clean = string.isName ? inside : maskNamed(string, inside)
    if (clean.text === string.text) continue
    const name = string.isName && names.has(clean.text) ? `${clean.text} ${names.size + 1}` : clean.text
    if (string.isName) names.add(name)
    pieces.push(text.slice(at, string.start), JSON.stringify(name))
    kinds.push(...clean.kinds)
    at = string.end
  }
  return { text: pieces.join('') + text.slice(at), kinds }
}

/** A value whose name says that it is a secret. */
function maskNamed({ key, label, text: plain }: JsonString, inside: RedactedText): RedactedText {
  const name = [key, label].map((one) => (one === null ? null : readSecretName(one))).find((one) => one !== null)
  if (name === undefined) return key !== null && isPrivatePart(key, plain) ? markedText('private-key') : inside
  if (name === 'cookie') {
    const cookies = findCookies(inside.text, 0).found.map(({ kind, ...part }) => ({ kind, parts: [part] }))
    const masked = maskSecrets(inside.text, cookies)
    return { text: masked.text, kinds: [...inside.kinds, ...masked.kinds] }
  }
  const skip = name === 'authorization' ? schemeOf(plain) : 0
  const isMasked = inside.text !== plain && /^(?:\[REDACTED:[a-z-]+\]|\s)+$/.test(inside.text.slice(skip))
  // Also by what is left of it, since that is all that a second redaction would see.
  const isSecret = [plain, inside.text].some((text) => isSecretCandidate(text.slice(skip), name, 'data'))
  return isSecret && !isMasked ? markedText(kindOfName[name], plain.slice(0, skip)) : inside
}

const markedText = (kind: string, prefix = ''): RedactedText => ({ text: prefix + markOf(kind), kinds: [kind] })

/** The private numbers of a JSON Web Key. */
const isPrivatePart = (key: string, value: string): boolean =>
  /^(?:d|p|q|dp|dq|qi|k)$/.test(key) &&
  /^[\w-]{32,}$/.test(value) &&
  [/[a-z]/, /[A-Z]/, /\d/].every((characters) => characters.test(value))

/** A string of a valid JSON text: its range, quotes included. */
type JsonString = {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly isName: boolean
  /** The key above it, also through lists; null at the top. */
  readonly key: string | null
  /** Of a `value`, what it is the value of: `{ "name": "DB_PASSWORD", "value": "…" }`, `"token": { "value": "…" }`. */
  readonly label: string | null
}

type Level = { readonly isObject: boolean; key: string | null; label: string | null; expectsKey: boolean }

/** In the order of the text, without recursion, since the depth is untrusted. */
function readJsonStrings(text: string): readonly JsonString[] {
  const strings: JsonString[] = []
  const levels: Level[] = []
  const next = /["{}[\],]/g
  for (let match = next.exec(text); match; match = next.exec(text)) {
    const level = levels.at(-1)
    if (match[0] === '{') levels.push({ isObject: true, key: null, label: level?.key ?? null, expectsKey: true })
    else if (match[0] === '[') levels.push({ isObject: false, key: level?.key ?? null, label: null, expectsKey: false })
    else if (match[0] === ',' && level) level.expectsKey = level.isObject
    else if (match[0] !== '"') levels.pop()
    else {
      const end = endOfString(text, match.index)
      strings.push(readString(text, match.index, end, level))
      next.lastIndex = end
    }
  }
  return strings
}

function readString(text: string, start: number, end: number, level: Level | undefined): JsonString {
  const isName = level?.expectsKey === true
  const inner = text.slice(start + 1, end - 1)
  const string = { start, end, text: inner.includes('\\') ? String(JSON.parse(text.slice(start, end))) : inner }
  if (level && isName) [level.key, level.expectsKey] = [string.text, false]
  const key = level?.key ?? null
  if (level && !isName && /^(?:name|key|Name|Key)$/.test(key ?? '') && end - start < 80) level.label = string.text
  return { ...string, isName, key, label: /^[vV]alue$/.test(key ?? '') ? (level?.label ?? null) : null }
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
