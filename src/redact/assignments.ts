import type { FoundSecret, Range } from './detect.ts'

/** Finds secrets by the name that they are assigned to, by the scheme before them, and by the program that gets them. */

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

/** Which names say that their value is secret, and which values under such a name are a secret indeed. */

/**
 * What a name says about its value. `password`: anything may be one. `secret`: made by a machine. `session`: long, and
 * the name alone is weak. `maybe`: a name such as STRIPE_KEY. `authorization`, `cookie`: a header with its own form.
 */
type SecretName = 'password' | 'secret' | 'token' | 'key' | 'session' | 'maybe' | 'authorization' | 'cookie'

/** The kind that a mark names. */
export const kindOfName: { readonly [name in SecretName]: string } = {
  password: 'password',
  secret: 'secret',
  token: 'token',
  key: 'api-key',
  session: 'session',
  cookie: 'session',
  maybe: 'secret',
  authorization: 'authorization',
}

const passwords = new Set('password passwd passwort passphrase passcode pwd pass userpass pw mnemonic'.split(' '))

/** What makes a `key` a secret one; a `publicKey` or a `primaryKey` is none. */
const secretKeys = new Set(
  `api app secret private access auth account encryption encrypt decryption signing sign master shared session license
  licence hmac server storage service admin root crypto aes rsa client consumer ssh deploy subscription ingest write
  webhook jwt cipher management host function integration openai anthropic stripe twilio sendgrid datadog dd heroku
  mailgun mailchimp supabase algolia cloudflare aws azure gcp google gemini mistral cohere`.split(/\s+/),
)

/** Suffixes after the decisive word. */
const trailers = new Set(
  `prod production dev development staging stage test live local default primary secondary main old new current previous
  next backup base64 b64 value string str raw plain plaintext text hex encoded env var const`.split(/\s+/),
)

const exactNames: { readonly [name in SecretName]?: string } = {
  authorization: 'authorization proxy-authorization proxyauthorization',
  cookie: 'cookie cookies set-cookie setcookie',
  session: 'connect.sid phpsessid jsessionid asp.net_sessionid aspsessionid sid session',
  token: 'jwt bearer',
  key: 'apikey x-api-key',
  secret: 'secret_key_base',
  maybe: 'connection_string',
}
const exact = new Map(
  (Object.keys(exactNames) as SecretName[]).flatMap((kind) =>
    (exactNames[kind] ?? '').split(' ').map((name) => [name, kind] as const),
  ),
)

/** Cached, because few names repeat often. */
export function readSecretName(name: string): SecretName | null {
  const known = names.get(name)
  if (known !== undefined) return known
  const read = classify(name)
  if (names.size < 5_000 && name.length <= 80) names.set(name, read)
  return read
}

const names = new Map<string, SecretName | null>()

function classify(name: string): SecretName | null {
  // Brackets and such: a sentence, or a mark.
  if (/[^\w .$@/-]/.test(name)) return null
  const plain = exact.get(name.toLowerCase())
  if (plain !== undefined) return plain
  const words = wordsOf(name)
  while (words.length > 1 && (trailers.has(words.at(-1) ?? '') || /^v?\d+$/.test(words.at(-1) ?? ''))) words.pop()
  const last = words.at(-1) ?? ''
  const before = words.at(-2) ?? ''
  if (passwords.has(last)) return words.length > 1 || last !== 'pw' ? 'password' : null
  const bare = last.length > 3 ? last.replace(/s$/, '') : last
  if (passwords.has(bare) && bare !== 'pas') return 'password'
  if (/(?:password|passwd|passphrase)$/.test(bare)) return 'password'
  if (bare === 'secret' || bare === 'credential' || /(?:client|app|api|consumer|webhook)secret$/.test(bare))
    return 'secret'
  if (bare === 'token' || /(?:auth|access|refresh|api|bot|id|session|csrf)token$/.test(bare)) return 'token'
  if (/^(?:api|secret|private|access|auth|account|encryption|signing|master|shared|license)key$/.test(bare))
    return 'key'
  if (bare === 'key' && secretKeys.has(before)) return 'key'
  // `AWS_SECRET_KEY_ID` and `secretAccessKeyId` are ids; `sessionId` is worth as much as the session.
  if (bare === 'id' && /^(?:session|sess)$/.test(before)) return 'session'
  if (/^(?:sessionid|sessid|sessionkey|gh_sess|sessiontoken)$/.test(bare)) return 'session'
  if (words.length > 1 && /^(?:sess|session|sid)$/.test(last)) return 'session'
  if (bare === 'key' && words.length > 1 && /^[A-Z][A-Z0-9_]*$/.test(name)) return 'maybe'
  if (bare === 'jwt' || bare === 'pat' || bare === 'dsn') return words.length > 1 ? 'maybe' : null
  return null
}

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

/** `data`: JSON, YAML, headers: a name is nearly proof. `literal`: quoted in code. `bare`: code has names and calls. */
type ValueContext = 'data' | 'literal' | 'bare'

export function isSecretCandidate(value: string, name: SecretName, setting: ValueContext): boolean {
  if (isPlaceholder(value) || (isHarmlessValue(value) && !(name === 'password' && /^\d{6,}$/.test(value)))) return false
  if (setting === 'bare' && /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(value)) return false
  const mixed = /[A-Za-z]/.test(value) && /\d/.test(value)
  switch (name) {
    case 'password':
      return isPasswordCandidate(value, setting, mixed)
    case 'secret':
    case 'token':
    case 'key':
    case 'authorization':
      return value.length >= 8 && !/\s/.test(value) && isGeneratedCandidate(value, setting, mixed)
    case 'session':
    case 'cookie':
      return value.length >= 12 && !/\s/.test(value) && mixed && !isMadeOfNames(value)
    case 'maybe':
      return value.length >= 20 && !/[\s/]/.test(value) && mixed && !isMadeOfNames(value)
  }
}

function isPasswordCandidate(value: string, setting: ValueContext, mixed: boolean): boolean {
  if (/\s/.test(value)) return setting !== 'bare' && isPassphrase(value)
  if (value.length < 6) return setting === 'data' && mixed
  if (/^\d+$/.test(value)) return setting !== 'bare' && !'01234567890123456789'.includes(value)
  if (setting === 'bare') return mixed ? !isMadeOfNames(value) : /[a-z]/i.test(value) && /[!@#^&*?]/.test(value)
  if (mixed || /[!@#$^&*?%]/.test(value)) return setting === 'data' || !isCodeName(value)
  // A word alone: a password in data, in code more often the name of a field.
  return setting === 'data' ? !/pass|pwd/i.test(value) : /^[a-z]{16,}$/.test(value)
}

function isGeneratedCandidate(value: string, setting: ValueContext, mixed: boolean): boolean {
  if (isMadeOfNames(value) && (setting !== 'data' || !mixed)) return false
  if (mixed) return setting !== 'bare' || value.length >= 10
  return (
    value.length >= (setting === 'data' ? 16 : 24) &&
    /^[A-Za-z+/=_-]+$/.test(value) &&
    !/[-_/]/.test(value.slice(4, -4)) &&
    setting !== 'bare'
  )
}

/** Three words or more, and none that talks about passwords: `Enter your password` is a label. */
const isPassphrase = (value: string): boolean =>
  /^[a-z]+(?: [a-z]+){3,30}$/.test(value) &&
  !/\b(?:pass|passw\w+|your|enter|the|is|must|please|and|or|to|for)\b/.test(value)

/** A date, a version, a colour, a size, a path, an address, a type, a media type: what names with `token` also hold. */
const isHarmlessValue = (value: string): boolean => harmlessValues.some((form) => form.test(value))

const harmlessValues = [
  /^\d{4}-\d\d(?:-\d\d)?/,
  /^[v^~]?\d+\.\d+/,
  /^#[0-9a-fA-F]{3,8}$/,
  /^0x[0-9a-fA-F]{1,16}$/,
  /^-?[\d.]+(?:px|em|rem|vh|vw|%|ms|s|m|h|d|kb|mb|gb|k)?$/i,
  /^(?:\.{0,2}|~)\/(?:[\w.@-]+\/)*[\w.@-]+$/,
  /^(?:[\w.@-]+\/)+[\w.@-]+\.[a-z]{1,5}$/i,
  /^[A-Za-z]:\\/,
  /^https?:\/\//,
  /^[a-z]+\/[a-z0-9.+-]+$/,
  /^(?:0{8}-0{4}-0{4}-0{4}-0{12})$/,
  /^(?:[A-Z]\w*)?(?:Ui|I)nt(?:8|16|32|64)(?:Clamped)?(?:Array)?$/,
  /^(?:SHA|sha|HMAC|hmac|RS|HS|ES|AES|aes|RSA|rsa|MD|md|ed|x)[-_]?\d+[\w-]{0,12}$/,
]

/** Words and short numbers joined by humps, dashes or dots: `utf8ToBytes`, `oauth2-token`, `level-4-heading`. */
function isMadeOfNames(value: string): boolean {
  if (!/^[A-Za-z_$][\w$.:/@ -]*$/.test(value)) return false
  const words = value.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)
  const isWord = (word: string) =>
    /^(?:[A-Z]?[a-z]{2,15}\d{0,3}|[A-Z]{1,12}\d{0,3}|[a-z]|\d{1,4}|\d{1,2}[a-z]{1,3})?$/.test(word)
  const short = words.filter((word) => word.length > 0 && word.length < 3).length
  return words.every(isWord) && short * 2 <= words.length
}

/** A name as code has it: with a dot, a hump or an underscore between its words. */
const isCodeName = (value: string): boolean => /[a-z][A-Z]|[_.:-]/.test(value) && isMadeOfNames(value)

/** A template variable, a reference to a secret store, a mask, or a word for tests. */
export function isPlaceholder(value: string): boolean {
  const bare = value.trim()
  return (
    bare.length < 4 ||
    references.some((form) => form.test(bare)) ||
    masks.some((form) => form.test(bare)) ||
    isStandIn(bare)
  )
}

const references = [
  /^\[REDACTED:/,
  /\{\d+,\d*\}/,
  /\$\{|\{\{|\$\(|#\{|\}\}|<%|%>/,
  /^[<[{(].*[>\]})]$/s,
  /^\$[A-Za-z_]/,
  /^%[A-Za-z_]\w*%$/,
  /^(?:process\.env|os\.environ|import\.meta|env|secrets|vars|var|local|config|self|this|props|data|ENV)[.[]/,
  /^(?:vault|op|ssm|secretsmanager|sops|aws-secret|gcp-secret|arn|keyring|doppler|awskms|file|env|ref):/,
]

const masks = [/^(.)\1*$/s, /^[*xX•.·_#?0-]+$/, /\*{3}|•{3}|x{5}|X{5}|…|\.\.\.$/]

/** Any of these makes a name out of words, such as `your-api-key-here` or `test_token_2`, a stand-in. */
const standIns = new Set(
  `a an the your my our some any this insert enter put add paste replace change changeme changeit change-me here me with
  example examples sample dummy fake mock placeholder redacted removed hidden todo fixme tbd test tests testing tester
  foo bar baz qux foobar lorem ipsum none null nil undefined true false yes no empty default value string text secret
  secrets password passwd passphrase pass pwd token tokens key keys api apikey auth credential credentials user username
  admin root guest demo hello world invalid wrong valid old new expired bad good long short
  letmein qwerty abc abcd abcdef xyz string number required optional
  private public access refresh client server session cookie bearer basic unknown unset disabled enabled not set
  generate generated random stub xxx yyy`.split(/\s+/),
)

function isStandIn(value: string): boolean {
  // `SuperSecret123!` is what people do take for a password.
  if (/[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value) && !/[-_ .]/.test(value)) return false
  const words = value
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/^\d{1,4}|\d{1,4}$/g, ''))
  if (words.length === 0) return true
  const named = words.filter((word) => standIns.has(word)).length
  // Each word is plain, and at least one of them says what this is.
  return named > 0 && words.every((word) => standIns.has(word) || /^[a-z]{0,12}$/.test(word))
}
