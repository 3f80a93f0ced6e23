import { type Blanked, blankOut } from './blank-out.ts'
import { couldBeSecret } from './could-be-secret.ts'
import { findCookies, scheme } from './find-assignments.ts'
import { markOf } from './found.ts'
import { decodeString, type JsonString, readJsonStrings } from './read-json-strings.ts'
import { redactPlainText } from './redact-plain-text.ts'
import { kindOfName, readSecretName } from './secret-names.ts'

/** What is done to the values of a document, all at once. */
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
  const values = strings.filter(({ role }) => role === 'value')
  const blanked = redactTexts(values.map(({ start, end }) => decodeString(text, start, end)))
  const edits: Edit[] = values.flatMap((string, index) => {
    const plain = decodeString(text, string.start, string.end)
    const clean = blankNamed(string, plain, blanked[index] ?? { text: plain, kinds: [] })
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

type Edit = Blanked & { readonly start: number; readonly end: number }

function applyEdits(text: string, edits: readonly Edit[]): Blanked {
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
