/** Which names say that their value is secret, and which values under such a name are a secret indeed. */

/**
 * What a name says about its value. `password`: anything may be one. `secret`: made by a machine. `session`: long, and
 * the name alone is weak. `maybe`: a name such as STRIPE_KEY. `authorization`, `cookie`: a header with its own form.
 */
export type SecretName = 'password' | 'secret' | 'token' | 'key' | 'session' | 'maybe' | 'authorization' | 'cookie'

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

/**
 * The context of a value. `data`: JSON, YAML, an environment file, a header; its name is nearly proof. `literal`: a
 * quoted string in code. `bare`: without quotes, where code has names and calls.
 */
export type ValueContext = 'data' | 'literal' | 'bare'

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
