import { createContext, Script } from 'node:vm'
import { type JsonString, readJsonStrings } from '../text/json.ts'
import { findCookies, isSecretCandidate, kindOfName, readSecretName, schemeOf } from './assignments.ts'
import { findSecrets } from './detect.ts'
import { markOf, maskSecrets, type RedactedText, type Secret } from './mask.ts'

type Redaction =
  | { readonly kind: 'redacted'; readonly text: string; readonly count: number; readonly kinds: readonly string[] }
  /** Nothing is returned, because unredacted text must not be used. */
  | { readonly kind: 'failed'; readonly why: string }

/** With `review.redaction.patterns`; an invalid pattern makes each redaction fail. */
export function makeRedactor(customPatterns: readonly string[]): { readonly text: (text: string) => Redaction } {
  return {
    text: (text) => {
      try {
        const findCustom = customPatterns.length === 0 ? null : customFinder(customPatterns.map(compilePattern))
        const [redacted = { text: '', kinds: [] }] = redactTexts([text], findCustom, 0)
        return {
          kind: 'redacted',
          text: redacted.text,
          count: redacted.kinds.length,
          kinds: [...new Set(redacted.kinds)].sort(),
        }
      } catch (error) {
        return { kind: 'failed', why: messageOf(error) }
      }
    },
  }
}

/** Documents within documents are parsed to this depth; below, a document is text. */
const maxDepth = 5

/** A JSON document by value, anything else by pattern. */
function redactTexts(texts: readonly string[], findCustom: FindCustom | null, depth: number): readonly RedactedText[] {
  const isDocument = texts.map((text) => depth < maxDepth && isJsonDocument(text))
  const plain = redactPlain(
    texts.filter((_, index) => !isDocument[index]),
    findCustom,
  )
  let next = 0
  return texts.map((text, index) =>
    isDocument[index]
      ? redactJson(
          text,
          (values) => redactTexts(values, findCustom, depth + 1),
          (names) => redactPlain(names, null),
        )
      : (plain[next++] ?? { text: '', kinds: [] }),
  )
}

/** Short words without a sign hold neither a name and a secret nor a token: most texts in JSON are such. */
const mayHoldSecret = /\w{8}|[^\w ]/

/** Repeated until nothing more is found, since a mark can bring a name and a value together. So redaction is idempotent. */
function redactPlain(all: readonly string[], findCustom: FindCustom | null): readonly RedactedText[] {
  // The names of JSON are the same ones again and again.
  const places = new Map([...new Set(all)].map((text, index) => [text, index]))
  const done = Array.from(places.keys(), (text): RedactedText => ({ text, kinds: [] }))
  let open = [...done.keys()]
  for (let round = 0; round < 20 && open.length > 0; round += 1) {
    const custom = findCustom?.(open.map((index) => done[index]?.text ?? ''))
    open = open.filter((index, place) => {
      const { text, kinds } = done[index] ?? { text: '', kinds: [] }
      const builtIn = mayHoldSecret.test(text) ? findSecrets(text) : []
      const masked = maskSecrets(text, [...builtIn, ...(custom?.get(place) ?? [])])
      done[index] = { text: masked.text, kinds: [...kinds, ...masked.kinds] }
      return masked.text !== text
    })
  }
  if (open.length > 0) throw new Error('Redaction finds something new each time that it is applied to the text.')
  return all.map((text) => done[places.get(text) ?? 0] ?? { text: '', kinds: [] })
}

type RedactTexts = (texts: readonly string[]) => readonly RedactedText[]

function isJsonDocument(text: string): boolean {
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

/** Only strings change. A name that is a secret is masked too, with a number where there are several. */
function redactJson(text: string, redactValues: RedactTexts, redactNames: RedactTexts): RedactedText {
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

const maxPatternLength = 200

function compilePattern(source: string, index: number): RegExp {
  const place = `review.redaction.patterns[${index}]`
  if (source.length > maxPatternLength) throw new Error(`${place} is longer than ${maxPatternLength} characters.`)
  try {
    return new RegExp(source, 'g')
  } catch (error) {
    throw new Error(`${place} is no regular expression: ${messageOf(error)}`)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What the user's own patterns find, by the place of the text. */
type FindCustom = (texts: readonly string[]) => ReadonlyMap<number, readonly Secret[]>

/** 0.6 s for one redaction: a pattern may never end, and only `node:vm` can stop it. Once, because it costs 0.1 ms. */
function customFinder(forms: readonly RegExp[]): FindCustom {
  let leftMs = 600
  return (texts) => {
    const startedAt = performance.now()
    const found = new Map<number, readonly Secret[]>()
    const run = () => {
      for (const [index, text] of texts.entries()) {
        const here = forms.flatMap((form) => Array.from(matchesOf(text, form)))
        if (here.length > 0) found.set(index, here)
      }
    }
    try {
      new Script('run()').runInContext(createContext({ run }), { timeout: Math.max(1, Math.floor(leftMs)) })
    } catch (error) {
      throw isTimeout(error)
        ? new Error('The patterns in review.redaction.patterns take too long on this text.')
        : error
    }
    leftMs -= performance.now() - startedAt
    return found
  }
}

/** It comes from the other context, whose `Error` is a different class. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

function* matchesOf(text: string, form: RegExp): Generator<Secret> {
  for (const { index: start, 0: match } of text.matchAll(form))
    if (match !== '') yield { kind: 'custom', parts: [{ start, end: start + match.length }] }
}
