import { type JsonString, readJsonStrings } from '../text/json.ts'
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
  const textsOf = (isName: boolean) => strings.flatMap((one) => (one.isName === isName ? one.text : []))
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
  const name = (key && readSecretName(key)) || (label && readSecretName(label)) || null
  if (name === null) return key !== null && isPrivatePart(key, plain) ? markedText('private-key') : inside
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
