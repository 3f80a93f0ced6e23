import type { EffectiveConfig } from '../config/schema.ts'
import { type Complexity, type Effort, efforts, type ReviewerAnswer, type ReviewType } from '../schemas/review.ts'
import type { Expected, PassTimes } from '../state/pass-times.ts'
import { countLines } from '../text/clean.ts'
import { parseDiff } from '../text/diff.ts'
import type { PassKind } from './prompts.ts'

type Thresholds = EffectiveConfig['review']['multipass']['thresholds']

/**
 * A review ends after its first pass only if both signals are low: the measured size, which the reviewed text cannot
 * influence by words, and the reviewer's judgement. Security-sensitive paths are always high.
 */
export function classifyComplexity(measure: Measure, model: Complexity): Complexity {
  if (measure.securityPaths.length > 0 || model === 'high') return 'high'
  return measure.level === 'low' && model === 'low' ? 'low' : 'medium'
}

/** A first pass without a judgement counts as medium. */
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
  if (diff === null) return measure({ files: [], names: [], lines: countLines(content) })
  const { files, strayLines } = diff
  return measure({
    files: files.flatMap(({ path, suspectNames }) => [path, ...suspectNames]),
    names: files.flatMap(({ names, suspectNames }) => [...names, ...suspectNames]),
    lines: files.reduce((sum, { added, removed }) => sum + added + removed, strayLines),
  })
}

/** A plan that names no file, or only a folder or a glob, is not known to be small. */
function measurePlan(patterns: readonly string[]): Measure {
  const measured = measure({ files: patterns, names: patterns, lines: 0 })
  const isVague = patterns.length === 0 || patterns.some((pattern) => pattern.includes('*') || pattern.endsWith('/'))
  return isVague && measured.level === 'low' ? { ...measured, level: 'medium' } : measured
}

type Counted = { readonly files: readonly string[]; readonly names: readonly string[]; readonly lines: number }

function measure({ files: paths, names, lines }: Counted): Measure {
  const securityPaths = [...new Set(names)].filter(isSecurityPath)
  const files = new Set(paths).size
  return { level: levelOf(files, lines, securityPaths.length > 0), files, lines, securityPaths }
}

function levelOf(files: number, lines: number, security: boolean): Complexity {
  if (security || files > 15 || lines > 2000) return 'high'
  return files > 3 || lines > 200 ? 'medium' : 'low'
}

/** Whole words of a path, so that `author.ts` is not `auth`. */
const securityWords = new Set(
  (
    'acl admin auth authn authz cert certificate certificates certs cipher cookie cookies cors csp csrf firewall iam jwt ' +
    'keychain keyring keystore kms login logout oauth oidc otp passkey policy policies rbac redact redaction saml ' +
    'sandbox session sessions signature signing ssh sso sudo sudoers token tokens totp trust vault webauthn webhook ' +
    'webhooks xss'
  ).split(' '),
)
const securityPrefixes =
  /^(?:authent|authori[sz]|credential|crypt|decrypt|encrypt|passw|permission|privilege|sanitis|sanitiz|secret|securit)/

const securityFolders = [
  /(^|\/)\.claude\//i,
  /(^|\/)\.github\/(workflows|actions)\//i,
  /(^|\/)\.(circleci|buildkite|githooks|husky)\//i,
  /(^|\/)\.env(\.|$)/i,
  /(^|\/)\.git(modules|attributes)$/i,
]
const securityFiles = [
  /(^|\/)(Dockerfile|Jenkinsfile|\.gitlab-ci\.ya?ml|azure-pipelines\.ya?ml|CODEOWNERS|plan-gate\.ya?ml)$/i,
  /(^|\/)(\.npmrc|\.netrc|\.pypirc|\.pgpass|id_(rsa|dsa|ecdsa|ed25519)(\.pub)?)$/i,
  /\.(pem|key|p12|pfx|jks|kdbx)$/i,
]

export const isSecurityPath = (path: string): boolean =>
  [...securityFolders, ...securityFiles].some((pattern) => pattern.test(path)) ||
  wordsOf(path).some((word) => securityWords.has(word) || securityPrefixes.test(word))

/** `src/apiTokens/JWTCheck2.ts` → src, api, tokens, jwt, check2, check, ts. */
const wordsOf = (path: string): string[] =>
  path
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .flatMap((word) => [word.toLowerCase(), word.toLowerCase().replace(/(?<!\d)\d+$/, '')])

type EffortChoice = {
  readonly does: PassKind
  readonly type: ReviewType
  /** The content is complex, as far as that is known. */
  readonly large: boolean
  readonly config: EffectiveConfig['review']['effort']
}

/** The effort of a pass by `review.effort`; without a setting, the most only for complex content. */
export function chooseEffort({ does, type, large, config }: EffortChoice): Effort {
  const task = tasks[does]
  const ofType = config[type === 'plan' || type === 'code' ? type : 'documents']
  const configured = [ofType[task], config[task]].find((effort) => effort !== 'auto')
  if (configured !== undefined) return configured
  return large && task !== 'find' ? 'xhigh' : 'high'
}

const tasks = {
  plan: 'understand',
  review: 'find',
  combined: 'find',
  settle: 'find',
  verify: 'verify',
  arbitrate: 'verify',
} as const satisfies { readonly [pass in PassKind]: string }

type Fitting = {
  readonly effort: Effort
  readonly backend: string
  readonly limitMs: number
  /** How many passes of this review have ended without an answer in time. */
  readonly timeouts: number
  readonly times: PassTimes | undefined
}

export const passesFrom = (does: PassKind, pass: number, passes: number): readonly PassKind[] =>
  passes === 1 ? [does] : (['plan', 'review', 'verify'] as const).slice(pass - passes - 1)

/** A lower effort where a pass would not end in time: a quicker verdict is worth more than none. */
export function fitEffort({ effort, backend, limitMs, timeouts, times }: Fitting): {
  readonly effort: Effort
  readonly notice: string | null
} {
  const expected = (one: Effort): number => times?.expect(backend, one)?.ms ?? 0
  const allowed = efforts.slice(Math.min(efforts.indexOf(effort) + timeouts, efforts.length - 1))
  const chosen = allowed.find((one) => expected(one) < limitMs) ?? 'low'
  if (chosen === effort) return { effort, notice: null }
  const why =
    chosen === allowed[0]
      ? 'a pass before it was not answered in time'
      : `such passes have taken ${seconds(expected(allowed[0] ?? effort))}, and ${seconds(limitMs)} are left`
  return { effort: chosen, notice: `Reasoning effort ${chosen} instead of ${effort}: ${why}.` }
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`

/** What passes of these efforts take together; null where one of them is not known. */
export function forecast(passes: readonly Effort[], backend: string, times: PassTimes | undefined): Expected | null {
  const expected = passes.flatMap((effort) => times?.expect(backend, effort) ?? [])
  if (passes.length === 0 || expected.length < passes.length) return null
  const tokens = expected.every((one) => one.tokens !== null)
    ? expected.reduce((sum, one) => sum + (one.tokens ?? 0), 0)
    : null
  return { ms: expected.reduce((sum, { ms }) => sum + ms, 0), tokens }
}
