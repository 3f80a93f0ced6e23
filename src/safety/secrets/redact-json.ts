import { type Blanked, blankOut } from './blank-out.ts'
import { couldBeSecret } from './could-be-secret.ts'
import { cookiesAt, scheme } from './find-assignments.ts'
import { markOf } from './found.ts'
import { decodeString, type JsonString, readJsonStrings } from './read-json-strings.ts'
import { kindOfName, readSecretName, type SecretName } from './secret-names.ts'

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
    kinds.push(...found)
    if (string.role === 'key') names += 1
    const written = string.role === 'key' && names > 1 ? `${clean} ${names}` : clean
    pieces.push(text.slice(at, string.start), JSON.stringify(written))
    at = string.end
  }
  return { text: pieces.length === 0 ? text : pieces.join('') + text.slice(at), kinds }
}

/** A value whose name says that it is a secret. */
function blankNamed({ key, label }: JsonString, plain: string, inside: Blanked): Blanked {
  const name = (key === null ? null : secretNameOf(key)) ?? (label === null ? null : secretNameOf(label))
  if (name === null) return key !== null && isPrivatePart(key, plain) ? marked('private-key') : inside
  if (name === 'cookie') {
    const cookies = cookiesAt(plain, 0)
    return cookies === null ? inside : blankOut(plain, [cookies])
  }
  const prefix = name === 'authorization' ? (scheme.exec(plain)?.[0] ?? '') : ''
  const isBlank = inside.text !== plain && /^(?:\[REDACTED:[a-z-]+\]|\s)+$/.test(inside.text.slice(prefix.length))
  return !isBlank && couldBeSecret(plain.slice(prefix.length), name, 'data') ? marked(kindOfName[name], prefix) : inside
}

const marked = (kind: string, prefix = ''): Blanked => ({ text: prefix + markOf(kind), kinds: [kind] })

/** The private numbers of a JSON Web Key. */
const isPrivatePart = (key: string, value: string): boolean =>
  /^(?:d|p|q|dp|dq|qi|k)$/.test(key) &&
  /^[\w-]{32,}$/.test(value) &&
  [/[a-z]/, /[A-Z]/, /\d/].every((characters) => characters.test(value))

const known = new Map<string, SecretName | null>()

/** The same few names come again and again. */
function secretNameOf(key: string): SecretName | null {
  const cached = known.get(key)
  if (cached !== undefined) return cached
  const name = key.length > 80 ? null : readSecretName(key)
  if (known.size < 5_000) known.set(key, name)
  return name
}
