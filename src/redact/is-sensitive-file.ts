/** Names of files that hold secrets, in any folder. */
const names = new Set(
  `.env .envrc .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg .s3cfg
  .boto .vault-token .terraformrc credentials.json credentials.yml credentials.yaml credentials.xml secrets.json
  secrets.yml secrets.yaml secrets.toml secret.json secret.yml secret.yaml auth.json kubeconfig master.key shadow
  id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk wallet.dat`.split(/\s+/),
)

/** Common names that mean secrets only in one folder. */
const pathEnds = new Set(
  `.aws/credentials .aws/config .kube/config .docker/config.json .config/gh/hosts.yml gcloud/credentials.db
  gcloud/application_default_credentials.json .cargo/credentials .cargo/credentials.toml .gem/credentials
  .codex/auth.json .claude/.credentials.json config/master.key`.split(/\s+/),
)

const extensions = new Set(
  'pem key p12 pfx p8 pkcs12 jks keystore kdbx ppk agekey ovpn tfvars tfstate mobileprovision'.split(' '),
)

const patterns = ['.env.*', '*.env', 'service-account*.json', 'service_account*.json', '*-credentials.json']

/** Examples and public parts. */
const harmless = /\.(?:example|sample|template|tpl|dist|defaults?|schema|pub|md)$/i

/** Objects in programs: `event.key` and `process.env` are no files. */
const objects = new Set(
  `process meta import deno bun event evt item entry prop props node row obj object this self super opt opts option
  options column field pair element record attr param params config cfg ctx context req request res response state
  action cache map data result target header tab menu route query storage arg args app store keys value values globalthis
  window runtime settings worker platform job container match token user session cookie react child vnode prev next current
  left right first last`.split(/\s+/),
)

const isProperty = (path: string): boolean => {
  const words = path.split('.')
  const [first = '', last = ''] = [words[0], words.at(-1)]
  return (
    words.length > 1 && /^(?:key|env)$/.test(last) && /^\w+$/.test(first) && (first.length < 3 || objects.has(first))
  )
}

/** The same as patterns of names and of ends of paths, examples included. */
export const sensitiveFilePatterns = (more: readonly string[]): string[] => [
  ...names,
  ...pathEnds,
  ...[...extensions].map((extension) => `*.${extension}`),
  ...[...patterns, ...more].flatMap(alternatives).map((pattern) => pattern.replace(/^\/+/, '')),
]

/** Tests whether a path is that of a file with secrets: built-in names, and the user's own patterns. */
export function sensitiveFileTest(more: readonly string[]): (path: string) => boolean {
  const all = [...patterns, ...more].flatMap(alternatives).map((pattern) => pathTest(pattern.toLowerCase()))
  return (path) => {
    const plain = path.toLowerCase()
    if (harmless.test(plain) || isProperty(plain)) return false
    const folders = plain.split('/')
    const name = folders.at(-1) ?? ''
    const isKnown =
      names.has(name) ||
      pathEnds.has(folders.slice(-2).join('/')) ||
      pathEnds.has(folders.slice(-3).join('/')) ||
      (name.lastIndexOf('.') > 0 && extensions.has(name.slice(name.lastIndexOf('.') + 1)))
    return isKnown || all.some((matchesPath) => matchesPath(plain, folders))
  }
}

/** `*.{pem,key}` is two patterns. */
function alternatives(pattern: string): readonly string[] {
  const [whole, inner] = /\{([^{}]{1,200})\}/.exec(pattern) ?? []
  if (whole === undefined || inner === undefined) return [pattern]
  const expanded = inner.split(',').map((choice) => pattern.replace(whole, () => choice))
  return expanded.some((choice) => choice.includes('{')) && expanded.length < 20
    ? expanded.flatMap(alternatives)
    : expanded
}

/** A pattern is about the end of a path. `**` is any folders between, a `/` at the end is what is below. */
function pathTest(pattern: string): (path: string, folders: readonly string[]) => boolean {
  const names = pattern
    .replace(/^\/+/, '')
    .replace(/(?:\/\*\*)?\/?$/, below)
    .split('/')
  const parts = ['**', ...names]
  // Nearly every name begins or ends otherwise, and texts name many.
  const [, start = '', end = ''] = /^([^*?]*)(?:.*[*?])?(.*)$/su.exec(names.at(-1) ?? '') ?? []
  return (path, folders) =>
    path.endsWith(end) && folders.at(-1)?.startsWith(start) === true && matches(parts, folders, '**', matchesName)
}

const below = (end: string): string => (end === '' ? '' : '/**/*')

const matchesName = (pattern: string, name: string): boolean =>
  matches([...pattern], [...name], '*', (one, character) => one === '?' || one === character)

/**
 * Without a regular expression, so that no pattern of the user's is slow: only the last `any` is ever tried again.
 */
function matches(
  pattern: readonly string[],
  items: readonly string[],
  any: string,
  isMatch: (one: string, item: string) => boolean,
): boolean {
  let [at, item] = [0, 0]
  let [lastAny, since] = [-1, 0]
  while (item < items.length) {
    const one = pattern[at]
    if (one === any) {
      ;[lastAny, since] = [at, item]
      at += 1
    } else if (one !== undefined && isMatch(one, items[item] ?? '')) {
      at += 1
      item += 1
    } else if (lastAny >= 0) {
      since += 1
      ;[at, item] = [lastAny + 1, since]
    } else return false
  }
  return pattern.slice(at).every((one) => one === any)
}
