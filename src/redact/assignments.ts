/** Finds secrets by the name that they are assigned to, by the scheme before them, and by the program that gets them. */
import type { FoundSecret } from './detect.ts'
import { isSecretCandidate, kindOfName, readSecretName, type SecretName, type ValueContext } from './secret-names.ts'
import type { Range } from './split-text.ts'

/** `password = "…"`, `API_KEY=…`, `"token": "…"`, `<secret>…</secret>`, `--password …`: a value whose name says that it is secret. */
export function* findAssignments(text: string): Generator<FoundSecret> {
  let from = 0
  for (const match of text.matchAll(/[\w.-]{3,}/g)) {
    if (match.index < from) continue
    const at = nameIn(match)
    const name = at && readSecretName(text.slice(at.start, at.end))
    if (!at || !name || text.startsWith('[REDACTED:', at.start - 10)) continue
    const link = linkAt(text, at)
    if (link === null) continue
    if (name === 'cookie') {
      const { found, until } = findCookies(text, link.end)
      yield* found
      // A second such header in the searched text is part of it.
      from = until
      continue
    }
    const value = secretAt(text, at, name, link)
    if (value === null) continue
    yield { kind: kindOfName[name], start: value.start, end: value.end }
    from = value.end
  }
}

const keyword = new RegExp(
  'passw|passphrase|passcode|pwd|pass(?![a-z])|secret|token|credential|key|authorization|cookie|sess|jwt|mnemonic|' +
    '(?<![a-z])sid(?![a-z])|connection_?string|_(?:pat|dsn)(?![a-z])',
  'i',
)

/** `config.password`, `--password` and `\npassword` are a name with a prefix. */
function nameIn({ 0: word, index, input }: RegExpExecArray): Range | null {
  const place = keyword.exec(word)?.index
  if (place === undefined) return null
  const before = word.slice(0, place)
  const isWhole = /^(?:connect\.sid|asp\.net_sessionid)$/i.test(word)
  const dashes = /^-+/.exec(before)?.[0].length ?? 0
  const isEscape = input[index - 1] === '\\' && /^[nrt]/.test(before)
  const start = isWhole ? 0 : Math.max(before.lastIndexOf('.') + 1, dashes, isEscape ? 1 : 0)
  return word.length - start > 80 ? null : { start: index + start, end: index + word.length }
}

type Link = {
  readonly end: number
  readonly form: 'pair' | 'entry' | 'element' | 'call' | 'flag'
  /** The operator. */
  readonly sign: string
  readonly hasSpace: boolean
  readonly isNameQuoted: boolean
  /** `key: |` with the value on the line below. */
  readonly isBlock: boolean
}

/** What joins a name and its value; null if nothing does. */
function linkAt(text: string, name: Range): Link | null {
  for (const { form, pattern } of links) {
    const match = execAt(pattern, text, name.end)
    if (match === null) continue
    const [whole] = match
    const { quote, sign = '', space = '', block } = match.groups ?? {}
    if (form === 'element' && !/[<:/]/.test(text.charAt(name.start - 1))) continue
    if (form === 'flag' && !flagBefore.test(text.slice(Math.max(0, name.start - 60), name.start))) continue
    const hasSpace = space !== '' || /\s/.test(whole.charAt(quote?.length ?? 0))
    const isBlock = block !== undefined
    return { end: name.end + whole.length, form, sign, hasSpace, isNameQuoted: quote !== undefined, isBlock }
  }
  return null
}

const quote = '(?<quote>\\\\{0,4}["\'`])'
const gap = '[ \\t]{0,40}'
const mark = '(?:\\\\{0,4}["\'])?'
const signs = ':=|=>|\\?{1,2}=|\\|\\|=|\\+=|={1,3}|!={1,2}|:'
const newLine = '(?:(?<block>[|>][+-]?\\d?[ \\t]{0,40})?\\r?\\n[+-]?[ \\t]{1,80})?'
const textType = "&?(?:'static )?(?:string|String|str|char|text|SecretStr|Optional\\[str\\])"
const type = `(?:${gap}${textType}(?: ?\\| ?\\w{1,20})?\\??${gap}=)?`
const opens = '(?=["\'`\\\\])'

const links: readonly { readonly form: Link['form']; readonly pattern: RegExp }[] = [
  // { name: 'DB_PASSWORD', value: '…' }, key="ApiKey" value="…", and the two lines that YAML makes of it
  {
    form: 'entry',
    pattern: new RegExp(
      `${quote}?(?:${gap},)?\\s{0,80}(?:[+-]\\s{0,80})?${mark}(?:[vV]alue|VALUE)${mark}${gap}(?<sign>[:=])(?<space>\\s{0,40})`,
      'y',
    ),
  },
  {
    form: 'pair',
    pattern: new RegExp(
      `${quote}?\\]?\\)?${gap}[?!]?(?<sign>${signs})${type}(?<space>${gap}${newLine})(?:\\(\\s{0,40}${opens})?`,
      'y',
    ),
  },
  { form: 'element', pattern: />(?=[^<]{4,400}<\/)/y },
  { form: 'call', pattern: new RegExp(`(?:${quote}${gap},|\\()(?<space>\\s{0,40})${opens}`, 'y') },
  { form: 'flag', pattern: /(?<space>[ \t]{1,40})(?=[^\s-])/y },
]

/** `--token x`, `ENV TOKEN x`, `login me password x`. */
const flagBefore = new RegExp(
  '(?:^|[\\s"\'`])--?(?:[\\w-]{0,40}-)?$|' +
    '(?:ENV|ARG|#define|setx|set -gx|set -x|export|config:set)[ \\t]{1,9}$|login[ \\t]{1,9}\\S{1,40}\\s{1,9}$',
)

type Value = Range & { readonly text: string; readonly isQuoted: boolean }

function secretAt(text: string, at: Range, name: SecretName, link: Link): Value | null {
  const isHeader = name === 'authorization'
  const start = isHeader ? link.end + schemeOf(text.slice(link.end, link.end + 40)) : link.end
  const isWide = link.form === 'flag' || isEnvironmentLine(text, at, link)
  const read = link.form === 'element' ? elementAt(text, start) : readValue(text, start, isWide ? wideRun : bareRun)
  if (read === null) return null
  // A quoted value has its scheme inside.
  const skip = isHeader ? schemeOf(read.text) : 0
  const value = { ...read, start: read.start + skip, text: read.text.slice(skip) }
  const context = contextOf(value, link, text, at)
  return context !== null && isSecretCandidate(value.text, name, context) ? value : null
}

const elementAt = (text: string, start: number): Value => {
  const end = text.indexOf('<', start)
  return { text: text.slice(start, end), start, end, isQuoted: true }
}

/** The value that begins here, in quotes or without them. */
function readValue(text: string, at: number, run = bareRun): Value | null {
  const { 0: whole = '', groups } = execAt(plainQuotes, text, at) ?? execAt(escapedQuotes, text, at) ?? {}
  const inner = groups?.text
  if (inner !== undefined) {
    const start = at + whole.length - inner.length - (groups?.close ?? '').length
    return { text: inner, start, end: start + inner.length, isQuoted: true }
  }
  const bare = execAt(run, text, at)?.[0]
  return bare === undefined ? null : { text: bare, start: at, end: at + bare.length, isQuoted: false }
}

/** The letters of Python and C# before a quote; the quote is escaped where the text stands in a quoted one itself. */
const plainQuotes = /[brfuBRFU@$]{0,2}(["'`])(?<text>(?:(?!\1)[^\\\n]|\\[^\n]){0,4000})(?<close>\1)/y
const escapedQuotes = /[brfuBRFU@$]{0,2}(\\{1,4}["'`])(?<text>[^\n]{0,4000}?)(?<close>(?<!\\)\1)/y
/** A few `=` at most: more of them are names with values of their own. */
const bareRun = /[^\s"'`<>,;(){}[\]&|\\=]{1,2000}(?:={1,2}[^\s"'`<>,;(){}[\]&|\\=]{0,2000}){0,3}/y
/** Up to the next space, since in an environment file a password may hold brackets and commas. */
const wideRun = /[^\s"'`\\]{1,4000}/y

function execAt(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at
  return form.exec(text)
}

/** `NAME=value` with nothing around the sign, as shells and environment files have it. */
const isEnvironmentLine = (text: string, name: Range, link: Link): boolean =>
  link.sign === '=' &&
  !link.hasSpace &&
  /^[A-Z][A-Z0-9_]*$/.test(text.slice(name.start, name.end)) &&
  /^$|[\s"'+;-]/.test(text.charAt(name.start - 1))

function contextOf(value: Value, link: Link, text: string, at: Range): ValueContext | null {
  if (link.form === 'element' || link.form === 'entry' || link.isBlock || isEnvironmentLine(text, at, link))
    return 'data'
  if (link.form === 'flag') return 'literal'
  // A list of words and a call look alike.
  if (link.form === 'call') return value.isQuoted && !/pass$/i.test(text.slice(at.start, at.end)) ? 'bare' : null
  if (value.isQuoted) return link.isNameQuoted && link.sign === ':' ? 'data' : 'literal'
  // In JSON only numbers and such have no quotes; a bracket is a call.
  if (link.isNameQuoted || /[([{`]/.test(text.charAt(value.end))) return null
  if (link.sign === '=' && !link.hasSpace && /[;?&]/.test(text.charAt(at.start - 1))) return 'data'
  if (link.sign === ':' && /-(?!pass)/i.test(text.slice(at.start, at.end))) return 'data'
  return 'bare'
}

const scheme = /^(?:Bearer|Basic|Token|ApiKey|Api-Key|Bot|Digest|Negotiate|OAuth|SSWS|AWS4-HMAC-SHA256)\s+/i

/** The length of the scheme that a header's value begins with. */
export const schemeOf = (text: string): number => scheme.exec(text)?.[0].length ?? 0

/** `Cookie: a=…; b=…`: each value that is long and mixed, under any name. */
export function findCookies(text: string, at: number): { readonly found: FoundSecret[]; readonly until: number } {
  const rest = text.slice(at, at + 4_000)
  const end = rest.search(/\n(?![+-]?[ \t]*[A-Za-z0-9])/)
  const header = end === -1 ? rest : rest.slice(0, end)
  const found = Array.from(header.matchAll(/[\w.-]{1,80}=/g)).flatMap((name): FoundSecret[] => {
    const start = at + name.index + name[0].length
    const value = execAt(bareRun, text, start)?.[0] ?? ''
    const isSession = isSecretCandidate(value, 'cookie', 'data')
    return isSession ? [{ kind: kindOfName.cookie, start, end: start + value.length }] : []
  })
  return { found, until: at + header.length }
}

/** Passwords on a command line, whose options do not name them. Group 1 is the password and ends the match. */
const commandLines = [
  /\s(?:-u|--user|--proxy-user)[ \t=]{1,3}["']?[^\s:"'`]{1,80}:([^\s"'`]{4,200})/g,
  /\bsshpass[ \t]{1,9}-p[ \t]{0,9}["']?([^\s"'`]{4,200})/g,
  /\b(?:docker|podman|skopeo|oras)[ \t]{1,9}login\b[^\n|;&]{0,200}?[ \t]-p[ \t]{1,9}["']?([^\s"'`]{4,200})/g,
  /\bredis-cli\b[^\n|;&]{0,200}?[ \t]-a[ \t]{1,9}["']?([^\s"'`]{4,200})/g,
  /\bmysql\w{0,20}\b[^\n|;&]{0,200}?[ \t]-p["']?([^\s"'`-][^\s"'`]{3,200})/g,
]

export function* findCommandPasswords(text: string): Generator<FoundSecret> {
  for (const form of commandLines)
    for (const { index, 0: whole, 1: password = '' } of text.matchAll(form)) {
      const end = index + whole.length
      if (/[A-Za-z]/.test(password) && isSecretCandidate(password, 'password', 'literal'))
        yield { kind: 'password', start: end - password.length, end }
    }
}

/** `Bearer …` and `Basic …`, in any header or sentence. */
export function* findHeaders(text: string): Generator<FoundSecret> {
  for (const match of text.matchAll(/\b(bearer|basic)[ \t]{1,8}(?=[\w"'`\\])/gi)) {
    const value = readValue(text, match.index + match[0].length)
    if (value === null) continue
    const isBasic = match[1]?.toLowerCase() === 'basic'
    if (isBasic ? holdsPassword(value.text) : isSecretCandidate(value.text, 'token', 'data'))
      yield { kind: 'authorization', start: value.start, end: value.end }
  }
}

/** A name and a password with a colon between them, in base64. */
const holdsPassword = (value: string): boolean =>
  /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) &&
  /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(Buffer.from(value, 'base64').toString('latin1'))
