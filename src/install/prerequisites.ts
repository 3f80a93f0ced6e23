import { existsSync, readFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fixLines } from '../config/errors.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { isAtLeast, oldClientProblem, parseVersion } from '../gate/sandbox/set-up.ts'
import { describeConfinement, missingFlags } from '../reviewers/claude/claude.ts'
import { claudeEnvironment } from '../reviewers/claude/program.ts'
import { missingCapabilities } from '../reviewers/codex/codex.ts'
import { programEnvironment } from '../reviewers/create.ts'
import { serverHost } from '../reviewers/openai/base-url.ts'
import { type BuiltTable, buildRouteTable, type Route, type RouteTable } from '../reviewers/route-table.ts'
import { readThroughLinks } from '../state/linked-files.ts'
import { localSettings } from '../state/own-paths.ts'
import { findProgram, locateProgram, userEnvironment } from '../system/environment.ts'
import { UserError } from '../system/errors.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { describeOutcome, runCommand } from '../system/run-command.ts'
import { onlyReviewer } from './compile-config.ts'
import { findThreatsIn, readThreats } from './settings.ts'

/** The result of one check, with its remedy. */
export type CheckResult = { name: string; status: 'ok' | 'warning' | 'failed'; detail: string; remedy: string | null }

export const ok = (name: string, detail: string): CheckResult => ({ name, status: 'ok', detail, remedy: null })

const problem =
  (status: 'warning' | 'failed') =>
  (name: string, detail: string, remedy: string): CheckResult => ({ name, status, detail, remedy })

export const warning = problem('warning')
export const failed = problem('failed')

/** Reports each result, and throws for the first that failed: nothing has been created yet. */
export async function assertPrerequisites(onProgress: ProgressListener, results: readonly CheckResult[]) {
  for (const result of results) onProgress({ event: 'prerequisite', ...result })
  const failure = results.find(({ status }) => status === 'failed')
  if (failure !== undefined)
    throw new UserError(`${failure.name}: ${failure.detail}.`, failure.remedy ?? 'See `plan-gate doctor`.')
}

export function checkNode(): CheckResult {
  const version = parseVersion(process.version) ?? [0, 0, 0]
  return isAtLeast(version, minNode)
    ? ok('node', `${process.version} at ${process.execPath}`)
    : failed('node', `${process.version} is too old`, `Install Node ${minNode.join('.')} or newer.`)
}

const minNode = [20, 19, 0] as const

export async function checkGit(): Promise<CheckResult> {
  const program = locateProgram('git')
  const install = 'Install git (https://git-scm.com/downloads).'
  if (program.path === null) return failed('git', program.why, install)
  const version = await versionOf(program.path)
  if (typeof version === 'string') return failed('git', version, install)
  return isAtLeast(version, minGit)
    ? ok('git', version.join('.'))
    : failed('git', `${version.join('.')} is too old`, `Install git ${minGit.join('.')} or newer.`)
}

/** For `rev-parse --path-format`, and for locked and prunable worktrees in `worktree list`. */
const minGit = [2, 31, 0] as const

/** `isRequired`: it is about to be launched. Otherwise a session can also be started later, with another installation. */
export async function checkClaude({
  isRequired = false,
  allowOld = false,
}: {
  isRequired?: boolean
  allowOld?: boolean
}): Promise<CheckResult> {
  const install = 'Install it: `npm i -g @anthropic-ai/claude-code`'
  const program = locateProgram('claude')
  if (program.path === null)
    return isRequired
      ? failed('Claude Code', program.why, `${install}; or use --no-launch.`)
      : warning('Claude Code', program.why, install)
  const version = await versionOf(program.path)
  if (typeof version === 'string') return failed('Claude Code', version, install)
  const old = oldClientProblem(version)
  if (old === null) return ok('Claude Code', version.join('.'))
  return allowOld
    ? warning('Claude Code', old, updateClaude)
    : failed('Claude Code', old, `${updateClaude}; \`bootstrap --allow-old-client\` goes on without.`)
}

export const updateClaude = 'Update it: `claude update`'

/** A string says why the version is unknown. */
async function versionOf(program: string): Promise<readonly [number, number, number] | string> {
  const outcome = await runCommand(program, ['--version'], { timeoutMs: 15_000 })
  if (outcome.kind !== 'ended') return `${program} --version: ${describeOutcome(outcome)}`
  return (outcome.exitCode === 0 ? parseVersion(outcome.stdout) : null) ?? `${program} --version prints no version`
}

export const reviewers = ['codex', 'claude', 'curl', 'hounfour', 'checklist'] as const
export type Reviewer = (typeof reviewers)[number]

/** The named one must be usable, or some row of the table: a worktree without a reviewer is never opened. */
export async function checkReviewer(chosen: Reviewer | null, config: EffectiveConfig): Promise<CheckResult> {
  const built = tableOf(chosen, config)
  if (built.kind === 'invalid') return failed('route table', built.problems.join(' ').replace(/\.$/, ''), fixLines)
  const rows = chosen === null ? rowsOf(built.table, config) : [{ backend: chosen }]
  const results = await Promise.all(rows.map((row) => checks[row.backend](config, row)))
  const usable = results.find(({ status }) => status === 'ok')
  if (usable !== undefined) return usable
  return (
    results[0] ??
    failed('reviewer', 'review.routes names no backend', 'Name one: codex, claude, curl, hounfour or checklist.')
  )
}

function tableOf(chosen: Reviewer | null, config: EffectiveConfig): BuiltTable {
  const review = chosen === null ? config.review : onlyReviewer(config, chosen)
  return buildRouteTable(review, process.env, { chosenByUser: chosen !== null })
}

type Row = Partial<Pick<Route, 'name' | 'endpoint'>>

const rowsOf = (
  { origin, routes }: RouteTable,
  { review }: EffectiveConfig,
): readonly (Row & { readonly backend: Reviewer })[] =>
  origin === 'config' ? routes : [{ backend: review.execution_mode === 'curl' ? 'curl' : 'codex' }]

const checks: { readonly [name in Reviewer]: (config: EffectiveConfig, row: Row) => Promise<CheckResult> } = {
  codex: (config) => checkProgram('codex', config),
  claude: (config) => checkProgram('claude', config),
  curl: async (_, { name = 'curl', endpoint = null }) => {
    const key = endpoint === null ? 'OPENAI_API_KEY' : endpoint.apiKeyEnv
    const what = `${name}: ${serverOf(endpoint)}`
    if (key === null) return ok('reviewer', `${what}, without a key`)
    return isSet(key)
      ? ok('reviewer', `${what}, with ${key}`)
      : failed('reviewer', `${name}: ${key} is not set`, `Set ${key}, or use ${others('curl')}.`)
  },
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

const serverOf = (endpoint: Route['endpoint']): string =>
  endpoint?.baseUrl ?? serverHost(endpoint, userEnvironment(process.env)) ?? 'the OpenAI API'

/** In a checkout, its flags of bootstrap are a command: `install` takes them. */
export const inInstall = (result: CheckResult): CheckResult => ({
  ...result,
  remedy: result.remedy?.replaceAll(/--reviewer \w+/g, (flag) => `\`plan-gate install ${flag}\``) ?? null,
})

const others = (name: Reviewer): string =>
  name === 'codex'
    ? '--reviewer curl (OPENAI_API_KEY) or --reviewer checklist (no account)'
    : '--reviewer checklist (no account)'

type ReviewerProgram = {
  readonly title: string
  readonly npm: string
  readonly environment: (config: EffectiveConfig) => NodeJS.ProcessEnv
  readonly helps: readonly (readonly string[])[]
  /** What it lacks, by the texts of `helps`. */
  readonly missing: (helps: readonly string[]) => readonly string[]
  readonly update: string
  /** In words; null: none. */
  readonly credentials: (path: string, env: NodeJS.ProcessEnv) => Promise<string | null>
  readonly logIn: string
}

const programs: { readonly [name in 'codex' | 'claude']: ReviewerProgram } = {
  codex: {
    title: 'Codex CLI',
    npm: '@openai/codex',
    environment: (config) => programEnvironment('codex', config, process.env),
    helps: [
      ['exec', '--help'],
      ['exec', 'resume', '--help'],
    ],
    missing: ([exec = '', resume = '']) => missingCapabilities({ exec, resume }),
    update: 'Update it: `npm i -g @openai/codex@latest`',
    credentials: codexCredentials,
    logIn: 'Run `codex login`, or set OPENAI_API_KEY',
  },
  claude: {
    title: 'Claude Code',
    npm: '@anthropic-ai/claude-code',
    // As a review starts it, without the session that this may run in.
    environment: (config) => claudeEnvironment(programEnvironment('claude', config, userEnvironment(process.env))),
    helps: [['--help']],
    missing: ([help = '']) => missingFlags(help),
    update: updateClaude,
    credentials: async (path, env) => {
      // Not in a folder whose settings it would read.
      const status = await runCommand(path, ['auth', 'status'], { cwd: tmpdir(), timeoutMs: 15_000, env })
      return status.kind === 'ended' && status.exitCode === 0 ? `logged in, ${describeConfinement()}` : null
    },
    logIn: 'Run `claude` and log in (/login), or set ANTHROPIC_API_KEY',
  },
}

async function checkProgram(name: 'codex' | 'claude', config: EffectiveConfig): Promise<CheckResult> {
  const { title, npm, environment, helps, missing, update, credentials, logIn } = programs[name]
  const fail = (why: string, remedy: string): CheckResult => failed('reviewer', `${title}${why}`, remedy)
  const orOthers = `; or use ${others(name)}.`
  const program = locateProgram(name)
  if (program.path === null) return fail(`: ${program.why}`, `Install it: \`npm i -g ${npm}\`${orOthers}`)
  const { path } = program
  const env = environment(config)
  const [version, ...texts] = await Promise.all([['--version'], ...helps].map((args) => textOf(path, args, env)))
  const known = texts.filter((text) => text !== null)
  if (version == null || known.length < helps.length) {
    const tries = [['--version'], ...helps.slice(0, 1)].map((args) => `\`${name} ${args.join(' ')}\``).join(' and ')
    return fail(`: ${path} does not run`, `Try ${tries} yourself; reinstall it with npm i -g ${npm}.`)
  }
  const number = ` ${parseVersion(version)?.join('.') ?? 'of an unknown version'}`
  const lacks = missing(known)
  if (lacks.length > 0) return fail(`${number} lacks ${lacks.join(', ')}`, `${update}${orOthers}`)
  const found = await credentials(path, env)
  return found === null
    ? fail(`${number} has no credentials`, `${logIn}${orOthers}`)
    : ok('reviewer', `${title}${number}, ${found}`)
}

/** `codex login status` ignores CODEX_API_KEY, and cannot check a provider of the user's own. */
async function codexCredentials(path: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const name of ['CODEX_API_KEY', 'OPENAI_API_KEY']) if (isSet(name)) return `with ${name}`
  const config = join(process.env.CODEX_HOME ?? join(homedir(), '.codex'), 'config.toml')
  const provider = existsSync(config)
    ? /^\s*model_provider\s*=\s*["']([^"']+)/m.exec(readFileSync(config, 'utf8'))?.[1]
    : undefined
  if (provider !== undefined && provider !== 'openai') return `with the provider ${provider} of its config.toml`
  const status = await runCommand(path, ['login', 'status'], { env, timeoutMs: 15_000 })
  return status.kind === 'ended' && status.exitCode === 0 ? 'logged in' : null
}

const isSet = (name: string): boolean => (process.env[name] ?? '') !== ''

async function textOf(path: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  const outcome = await runCommand(path, args, { env, timeoutMs: 15_000 })
  return outcome.kind === 'ended' && outcome.exitCode === 0 ? outcome.stdout : null
}

/** Outside of the worktree; the main checkout's local file applies in it. The user's own only get a warning. */
export function checkSettings(root: string): CheckResult[] {
  const mainRoot = readGitDirs(root)?.mainRoot ?? null
  const shared = mainRoot === null ? [] : threatsIn(join(mainRoot, localSettings))
  const own = readThreats(root).filter(({ whose }) => whose === 'user')
  return [
    ...shared.map(({ file, what, remedy }) => failed('settings', `${file}: ${what}`, remedy)),
    ...own.map(({ file, what, remedy }) => warning('settings', `${file}: ${what}`, remedy)),
  ]
}

function threatsIn(file: string) {
  const read = readThroughLinks(file)
  return findThreatsIn(read.kind === 'read' ? read.bytes.toString('utf8') : '').map((threat) => ({ ...threat, file }))
}

/** It comes with the repository and counts without a question, like the scripts of a package.json: so it is told. */
export function checkConfig(config: EffectiveConfig): CheckResult[] {
  const { gate, hounfour, review, worktree } = config
  const built = tableOf(null, config)
  const servers = built.kind === 'table' ? built.table.routes.map(({ endpoint }) => endpoint) : []
  const usesHounfour =
    hounfour.flatline_routing || review.routes?.some(({ backend }) => backend === 'hounfour') === true
  const rows: CheckResult[] = []
  const tell = (holds: boolean, detail: string): void => void (holds && rows.push(ok('plan-gate.yaml', detail)))
  tell(worktree.setup.length > 0, `runs in a new worktree: ${listed(worktree.setup)}`)
  tell(gate.bash.allow.length > 0, `allows commands before an approval: ${listed(gate.bash.allow)}`)
  tell(gate.tools.allow.length > 0, `allows tools before an approval: ${listed(gate.tools.allow)}`)
  tell(usesHounfour && hounfour.model_invoke.includes('/'), `plans are reviewed by ${hounfour.model_invoke}`)
  for (const endpoint of servers) {
    const key = endpoint?.apiKeyEnv ?? null
    const withKey = key === null ? '' : `, with the key in ${key}`
    tell(endpoint !== null, `what is reviewed is sent to ${serverOf(endpoint)}${withKey}`)
  }
  const usesChecklist = review.routes?.some(({ backend }) => backend === 'checklist') === true
  tell(usesChecklist, 'the checklist may approve a plan; it checks form, not content')
  return rows
}

const listed = (texts: readonly string[]): string => {
  const shown = texts.slice(0, 10).map((text) => (text.length > 200 ? `${text.slice(0, 200)}…` : text))
  return [...shown, ...(texts.length > 10 ? [`and ${texts.length - 10} more`] : [])].join(', ')
}

/** Progress of a bootstrap or an install: JSON lines for programs, short lines for people. */
export type ProgressLine =
  | ({ event: 'prerequisite' } & CheckResult)
  | { event: 'started'; step: string; detail: string }
  | { event: 'done'; step: string; detail: string; ms: number }
  | { event: 'notice'; detail: string }
  /** Something of the repository that is not trusted. */
  | { event: 'brings'; id: string; path: string; what: string; runs: string[]; state: 'new' | 'changed' | 'trusted' }
  | { event: 'would'; action: 'create' | 'change' | 'keep' | 'run'; path: string; detail: string }

export type ProgressListener = (progress: ProgressLine) => void

/** Runs one step and reports its start, its end and its duration. */
export async function step<T>(
  onProgress: ProgressListener,
  name: string,
  detail: string,
  work: () => T | Promise<T>,
  describe: (value: T) => string,
): Promise<T> {
  const startedAt = performance.now()
  onProgress({ event: 'started', step: name, detail })
  const value = await work()
  onProgress({ event: 'done', step: name, detail: describe(value), ms: Math.round(performance.now() - startedAt) })
  return value
}

export const selfTestStep = (onProgress: ProgressListener, prove: () => Promise<number>): Promise<number> =>
  step(onProgress, 'self-test', 'the installed hooks', prove, (checks) => `passed (${checks} checks)`)
