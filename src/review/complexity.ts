import type { EffectiveConfig } from '../config/schema.ts'
import type { Complexity, ReviewerAnswer, ReviewType } from '../schemas/review.ts'
import { parseDiff } from '../text/unified-diff.ts'

type Thresholds = EffectiveConfig['review']['multipass']['thresholds']

/**
 * Both signals must be low for a review to end after its first pass: what can be counted, which the reviewed text cannot
 * talk its way out of, and what the reviewer made of it. Security-sensitive paths are high whatever anybody says.
 */
export function classifyComplexity(measure: Measure, model: Complexity): Complexity {
  if (measure.securityPaths.length > 0 || model === 'high') return 'high'
  return measure.level === 'low' && model === 'low' ? 'low' : 'medium'
}

/** A first pass that does not say how complex it is counts as one that found it neither simple nor complex. */
export function modelSignal(
  complexity: ReviewerAnswer['complexity'],
  scopeTokens: number,
  thresholds: Thresholds,
): Complexity {
  if (complexity === null) return 'medium'
  const { risk_area_count: risks } = complexity
  if (risks > thresholds.high_risk_areas || scopeTokens > thresholds.high_scope_tokens) return 'high'
  return risks <= thresholds.low_risk_areas && scopeTokens <= thresholds.low_scope_tokens ? 'low' : 'medium'
}

/** What can be said about the size of a review before anybody is asked. */
export type Measure = {
  readonly level: Complexity
  readonly files: number
  readonly lines: number
  readonly securityPaths: readonly string[]
}

/** `readChanges`: the paths that a plan names under `## Changes`. */
export function measureContent(
  type: ReviewType,
  content: string,
  readChanges: (plan: string) => readonly { readonly pattern: string }[],
): Measure {
  if (type === 'plan') return measurePlan(readChanges(content).map(({ pattern }) => pattern))
  const diff = parseDiff(content)
  if (diff === null) return judge({ files: [], names: [], lines: countLines(content) })
  const { files, strayLines, suspectNames } = diff
  return judge({
    files: [...files.map(({ path }) => path), ...suspectNames],
    names: [...files.flatMap(({ names }) => [...names]), ...suspectNames],
    lines: files.reduce((sum, { added, removed }) => sum + added + removed, strayLines),
  })
}

/** A plan that names no file, or a folder without saying which of its files, has not said that it is small. */
function measurePlan(patterns: readonly string[]): Measure {
  const measure = judge({ files: patterns, names: patterns, lines: 0 })
  const isVague = patterns.length === 0 || patterns.some((pattern) => pattern.includes('*') || pattern.endsWith('/'))
  return isVague && measure.level === 'low' ? { ...measure, level: 'medium' } : measure
}

type Counted = { readonly files: readonly string[]; readonly names: readonly string[]; readonly lines: number }

function judge({ files: paths, names, lines }: Counted): Measure {
  const securityPaths = [...new Set(names)].filter(isSecurityPath)
  const files = new Set(paths).size
  return { level: levelOf(files, lines, securityPaths.length > 0), files, lines, securityPaths }
}

function levelOf(files: number, lines: number, security: boolean): Complexity {
  if (security || files > 15 || lines > 2000) return 'high'
  return files > 3 || lines > 200 ? 'medium' : 'low'
}

function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

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
