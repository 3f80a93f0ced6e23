import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { EffectiveConfig } from '../config/schema.ts'
import { missingCapabilities } from '../reviewers/codex/capabilities.ts'
import { findProgram, locateProgram } from '../system/find-program.ts'
import { runCommand } from '../system/run-command.ts'
import { type CheckResult, failed, ok, parseVersion } from './check-result.ts'

export const reviewers = ['codex', 'curl', 'hounfour', 'checklist'] as const
export type Reviewer = (typeof reviewers)[number]

/**
 * The reviewer that `--reviewer` or the configuration names (default: Codex) must be usable: a worktree without a
 * reviewer is never opened.
 */
export async function checkReviewer(chosen: Reviewer | null, config: EffectiveConfig): Promise<CheckResult> {
  if (chosen !== null) return checks[chosen](config)
  const candidates = configuredReviewers(config)
  const results = await Promise.all(candidates.map((name) => checks[name](config)))
  const usable = results.find(({ status }) => status === 'ok')
  if (usable !== undefined) return usable
  return (
    results[0] ?? failed('reviewer', 'review.routes names no backend', 'Name one: codex, curl, hounfour or checklist.')
  )
}

function configuredReviewers({ review }: EffectiveConfig): Reviewer[] {
  if (review.routes !== undefined && review.routes.length > 0) return review.routes.map((route) => route.backend)
  return review.execution_mode === 'curl' ? ['curl'] : ['codex']
}

const checks: { readonly [name in Reviewer]: (config: EffectiveConfig) => Promise<CheckResult> } = {
  codex: checkCodex,
  curl: async () =>
    isSet('OPENAI_API_KEY')
      ? ok('reviewer', 'curl: the OpenAI API, with OPENAI_API_KEY')
      : failed('reviewer', 'curl: OPENAI_API_KEY is not set', `Set OPENAI_API_KEY, or use ${others('curl')}.`),
  hounfour: async ({ hounfour }) => {
    const path = findProgram(hounfour.model_invoke)
    return path === null
      ? failed(
          'reviewer',
          `hounfour: ${hounfour.model_invoke} is not an executable`,
          `Set hounfour.model_invoke in plan-gate.yaml, or use ${others('hounfour')}.`,
        )
      : ok('reviewer', `hounfour: ${path}`)
  },
  checklist: async () => ok('reviewer', 'checklist: built in, offline; it checks form, not content'),
}

const others = (name: Reviewer): string =>
  name === 'codex'
    ? '--reviewer curl (OPENAI_API_KEY) or --reviewer checklist (no account)'
    : '--reviewer checklist (no account)'

async function checkCodex(): Promise<CheckResult> {
  const program = locateProgram('codex')
  if (program.path === null)
    return failed(
      'reviewer',
      `Codex CLI: ${program.why}`,
      `Install it: npm i -g @openai/codex; or use ${others('codex')}.`,
    )
  const { path } = program
  const [version, exec, resume] = await Promise.all([
    textOf(path, ['--version']),
    textOf(path, ['exec', '--help']),
    textOf(path, ['exec', 'resume', '--help']),
  ])
  if (version === null || exec === null || resume === null)
    return failed(
      'reviewer',
      `Codex CLI: ${path} does not run`,
      'Try `codex --version` and `codex exec --help` yourself; reinstall with npm i -g @openai/codex.',
    )
  const missing = missingCapabilities({ exec, resume })
  const name = parseVersion(version)?.join('.') ?? 'of an unknown version'
  if (missing.length > 0)
    return failed(
      'reviewer',
      `Codex CLI ${name} lacks ${missing.join(', ')}`,
      `Update it: npm i -g @openai/codex@latest; or use ${others('codex')}.`,
    )
  const credentials = await codexCredentials(path)
  return credentials === null
    ? failed(
        'reviewer',
        `Codex CLI ${name} has no credentials`,
        `Run \`codex login\`, or set OPENAI_API_KEY; or use ${others('codex')}.`,
      )
    : ok('reviewer', `Codex CLI ${name}, ${credentials}`)
}

/** `codex login status` ignores CODEX_API_KEY, and cannot check a provider of the user's own. */
async function codexCredentials(path: string): Promise<string | null> {
  for (const name of ['CODEX_API_KEY', 'OPENAI_API_KEY']) if (isSet(name)) return `with ${name}`
  const config = join(process.env.CODEX_HOME ?? join(homedir(), '.codex'), 'config.toml')
  const provider = existsSync(config)
    ? /^\s*model_provider\s*=\s*["']([^"']+)/m.exec(readFileSync(config, 'utf8'))?.[1]
    : undefined
  if (provider !== undefined && provider !== 'openai') return `with the provider ${provider} of its config.toml`
  const status = await runCommand(path, ['login', 'status'], { timeoutMs: 15_000 })
  return status.kind === 'ended' && status.exitCode === 0 ? 'logged in' : null
}

const isSet = (name: string): boolean => (process.env[name] ?? '') !== ''

async function textOf(path: string, args: readonly string[]): Promise<string | null> {
  const outcome = await runCommand(path, args, { timeoutMs: 15_000 })
  return outcome.kind === 'ended' && outcome.exitCode === 0 ? outcome.stdout : null
}
