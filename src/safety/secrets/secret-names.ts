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

/** Behind the word that counts: which one it is, or where. */
const trailers = new Set(
  `prod production dev development staging stage test live local default primary secondary main old new current previous
  next backup base64 b64 value string str raw plain plaintext text hex encoded env var const`.split(/\s+/),
)

const exact: { readonly [name: string]: SecretName } = {
  authorization: 'authorization',
  'proxy-authorization': 'authorization',
  proxyauthorization: 'authorization',
  cookie: 'cookie',
  cookies: 'cookie',
  'set-cookie': 'cookie',
  setcookie: 'cookie',
  'connect.sid': 'session',
  phpsessid: 'session',
  jsessionid: 'session',
  'asp.net_sessionid': 'session',
  aspsessionid: 'session',
  sid: 'session',
  session: 'session',
  jwt: 'token',
  bearer: 'token',
  apikey: 'key',
  'x-api-key': 'key',
  secret_key_base: 'secret',
  connection_string: 'maybe',
}

/** The same few names come again and again. */
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
  const lower = name.toLowerCase()
  const plain = Object.hasOwn(exact, lower) ? exact[lower] : undefined
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
