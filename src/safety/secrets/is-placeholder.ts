/** What stands in for a secret: a hole to fill in, a reference to where it is kept, a mask, a word for tests. */
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
