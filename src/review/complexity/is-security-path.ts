/** Changes to these are never looked at only once. By words of a path, so that `author.ts` is no `auth`. */
const words = new Set(
  (
    'acl admin auth authn authz cert certificate certificates certs cipher cookie cookies cors csp csrf firewall iam jwt ' +
    'keychain keyring keystore kms login logout oauth oidc otp passkey policy policies rbac redact redaction saml ' +
    'sandbox session sessions signature signing ssh sso sudo sudoers token tokens totp trust vault webauthn webhook ' +
    'webhooks xss'
  ).split(' '),
)
const beginnings =
  /^(?:authent|authori[sz]|credential|crypt|decrypt|encrypt|passw|permission|privilege|sanitis|sanitiz|secret|securit)/

const places = [
  /(^|\/)\.claude\//i,
  /(^|\/)\.github\/(workflows|actions)\//i,
  /(^|\/)\.(circleci|buildkite|githooks|husky)\//i,
  /(^|\/)\.env(\.|$)/i,
  /(^|\/)\.git(modules|attributes)$/i,
]
const files = [
  /(^|\/)(Dockerfile|Jenkinsfile|\.gitlab-ci\.ya?ml|azure-pipelines\.ya?ml|CODEOWNERS|plan-gate\.ya?ml)$/i,
  /(^|\/)(\.npmrc|\.netrc|\.pypirc|\.pgpass|id_(rsa|dsa|ecdsa|ed25519)(\.pub)?)$/i,
  /\.(pem|key|p12|pfx|jks|kdbx)$/i,
]

export const isSecurityPath = (path: string): boolean =>
  [...places, ...files].some((pattern) => pattern.test(path)) ||
  wordsOf(path).some((word) => words.has(word) || beginnings.test(word))

/** `src/apiTokens/JWTCheck2.ts` → src, api, tokens, jwt, check2, check, ts. */
const wordsOf = (path: string): string[] =>
  path
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .flatMap((word) => [word.toLowerCase(), word.toLowerCase().replace(/(?<!\d)\d+$/, '')])
