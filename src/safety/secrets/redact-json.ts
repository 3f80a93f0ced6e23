import { type Blanked, blankOut } from './blank-out.ts'
import { couldBeSecret } from './could-be-secret.ts'
import { findCookies, scheme } from './find-assignments.ts'
import { markOf } from './found.ts'
import { decodeString, type JsonString, readJsonStrings } from './read-json-strings.ts'
import { kindOfName, readSecretName } from './secret-names.ts'

/** What is done to the texts of a document, all at once. */
export type RedactTexts = (texts: readonly string[]) => readonly Blanked[]

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
 * By value: what is not a string stays as it is, and so do the names, the order and the spacing. Only a name that is a
 * secret itself is blanked too, with a number behind it where there are several, so that none is lost.
 */
export function redactJson(text: string, redactTexts: RedactTexts): Blanked {
  const strings = readJsonStrings(text)
  const blanked = redactTexts(strings.map(({ start, end }) => decodeString(text, start, end)))
  const pieces: string[] = []
  const kinds: string[] = []
  let names = 0
  let at = 0
  for (const [index, string] of strings.entries()) {
    const plain = decodeString(text, string.start, string.end)
    const inside = blanked[index] ?? { text: plain, kinds: [] }
    const { text: clean, kinds: found } = string.role === 'key' ? inside : blankNamed(string, plain, inside)
    if (clean === plain) continue
    for (const kind of found) kinds.push(kind)
    if (string.role === 'key') names += 1
    const written = string.role === 'key' && names > 1 ? `${clean} ${names}` : clean
    pieces.push(text.slice(at, string.start), JSON.stringify(written))
    at = string.end
  }
  return { text: pieces.length === 0 ? text : pieces.join('') + text.slice(at), kinds }
}

/** A value whose name says that it is a secret. */
function blankNamed({ key, label }: JsonString, plain: string, inside: Blanked): Blanked {
  const name = [key, label].map((one) => (one === null ? null : readSecretName(one))).find((one) => one !== null)
  if (name === undefined) return key !== null && isPrivatePart(key, plain) ? marked('private-key') : inside
  if (name === 'cookie') {
    const cookies = blankOut(inside.text, findCookies(inside.text, 0).found)
    return { text: cookies.text, kinds: [...inside.kinds, ...cookies.kinds] }
  }
  const prefix = name === 'authorization' ? (scheme.exec(plain)?.[0] ?? '') : ''
  const isBlank = inside.text !== plain && /^(?:\[REDACTED:[a-z-]+\]|\s)+$/.test(inside.text.slice(prefix.length))
  // Also by what is left of it, since that is all that a second redaction would see.
  const isSecret = [plain, inside.text].some((text) => couldBeSecret(text.slice(prefix.length), name, 'data'))
  return isSecret && !isBlank ? marked(kindOfName[name], prefix) : inside
}

const marked = (kind: string, prefix = ''): Blanked => ({ text: prefix + markOf(kind), kinds: [kind] })

/** The private numbers of a JSON Web Key. */
const isPrivatePart = (key: string, value: string): boolean =>
  /^(?:d|p|q|dp|dq|qi|k)$/.test(key) &&
  /^[\w-]{32,}$/.test(value) &&
  [/[a-z]/, /[A-Z]/, /\d/].every((characters) => characters.test(value))
