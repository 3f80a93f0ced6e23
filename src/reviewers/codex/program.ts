import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Effort } from '../../schemas/review.ts'
import { orElse } from '../../system/errors.ts'
import type { ReviewProgram } from '../failure.ts'
import type { ProgramSetup } from '../program-cache.ts'

export const codexProgram: ReviewProgram = {
  name: 'Codex',
  install: 'npm i -g @openai/codex',
  update: 'npm i -g @openai/codex@latest',
  probe: 'codex exec --help',
  countsThread: true,
}

/** The user's environment without foreign variables: a provider of their own may need any of the others. */
export function codexEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.test(name)))
  const key = env.OPENAI_API_KEY ?? ''
  return key === '' || isLoggedIn(env) ? kept : { ...kept, CODEX_API_KEY: key }
}

/** Of Claude Code, of an outer Codex, and variables that affect every program. */
const foreign = /^(CLAUDE.*|AI_AGENT|NODE_OPTIONS|RUST_LOG|CODEX_(THREAD_ID|SESSION_ID|TOOL_CALL_ID|CI|SANDBOX.*))$/

/** A key would win over a login, and be billed for what a subscription covers. */
const isLoggedIn = (env: NodeJS.ProcessEnv): boolean =>
  ['CODEX_API_KEY', 'CODEX_ACCESS_TOKEN'].some((name) => (env[name] ?? '') !== '') ||
  existsSync(join(codexHome(env), 'auth.json')) ||
  keepsLoginElsewhere(readUserConfig(env))

const keepsLoginElsewhere = (config: string): boolean =>
  /^\s*cli_auth_credentials_store\s*=\s*["'](keyring|auto)["']/m.test(config)

/** The folders from the root up to its repository, which Codex searches for a project. */
export function projectFolders(root: string): string[] {
  const start = realpathSync(root)
  const found: string[] = []
  for (let folder = start; ; folder = dirname(folder)) {
    found.push(folder)
    if (existsSync(join(folder, '.git'))) return found
    if (dirname(folder) === folder) return [start]
  }
}

export const projectSkills = (folders: readonly string[]): string[] =>
  folders
    .flatMap((folder) => ['.agents', '.codex'].flatMap((name) => skillsBelow(join(folder, name, 'skills'), 4)))
    .slice(0, 300)

function skillsBelow(folder: string, depth: number): string[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name)
    if (name === 'SKILL.md') return existsSync(path) ? [...new Set([path, realpathSync(path)])] : []
    return depth > 0 ? skillsBelow(path, depth - 1) : []
  })
}

const namesIn = (folder: string): string[] => orElse(() => readdirSync(folder).slice(0, 1_000), [])

/** Also used while the gate compiles its configuration, where importing `node:os` would cost a millisecond. */
export const codexHome = (env: NodeJS.ProcessEnv): string =>
  env.CODEX_HOME || join(env.HOME || process.getBuiltinModule('node:os').homedir(), '.codex')

/** The user's config.toml; '' where there is none. */
export const readUserConfig = (env: NodeJS.ProcessEnv): string =>
  orElse(() => readFileSync(join(codexHome(env), 'config.toml'), 'utf8'), '')

/** The MCP servers that config.toml names, by a table or by a dotted key on a line. */
export function mcpServersIn(config: string): string[] {
  const names = new Set<string>()
  let table = ''
  for (const line of config.split('\n')) {
    const header = /^\s*\[\s*([^\]#]*?)\s*\]/.exec(line)?.[1]
    if (header !== undefined) table = header
    const path = header ?? `${table === '' ? '' : `${table}.`}${/^\s*([\w\s."'-]+?)\s*=/.exec(line)?.[1] ?? ''}`
    const name = /^mcp_servers\s*\.\s*["']?([\w-]+)["']?\s*(?:\.|$)/.exec(path)?.[1]
    if (name !== undefined) names.add(name)
  }
  return [...names]
}

export type CodexSetup = ProgramSetup & {
  /** Of Codex: the instructions of a review take their place, or follow them. */
  readonly instructions?: 'replace' | 'keep'
  readonly limits?: Partial<CodexLimits>
}

export type CodexLimits = typeof defaultLimits

const defaultLimits = {
  /** Reasoning is silent, at the most effort for all of a pass. */
  silenceMs: 600_000,
  /** How long Codex may wait for a network. It has no limit of its own. */
  networkMs: 15_000,
  maxOutputBytes: 8 * 1024 * 1024,
}

export const codexLimits = ({ limits }: CodexSetup): CodexLimits => ({ ...defaultLimits, ...limits })

/** The command line of `codex exec`: read-only, without the settings of the project under review. */

type CodexRequest = {
  readonly cwd: string
  readonly resume: string | null
  readonly keepsThread: boolean
  readonly model: string | null
  readonly schemaFile: string | null
  readonly answerFile: string
  /** `key=value`, as `-c` takes them. */
  readonly settings: readonly string[]
  /** The user's rules can take a command out of the sandbox. */
  readonly canIgnoreRules: boolean
}

/**
 * The options stand before `resume`, which does not accept all of them and inherits none: without `-s`, a thread that
 * began read-only may write. The prompt comes on stdin.
 */
export const codexArgs = (request: CodexRequest): string[] => [
  'exec',
  '--json',
  ...['-s', 'read-only'],
  '--skip-git-repo-check',
  ...['-C', request.cwd],
  ...['-o', request.answerFile],
  ...(request.canIgnoreRules ? ['--ignore-rules'] : []),
  ...(request.keepsThread ? [] : ['--ephemeral']),
  ...(request.model === null ? [] : [`--model=${request.model}`]),
  ...(request.schemaFile === null ? [] : ['--output-schema', request.schemaFile]),
  ...request.settings.flatMap((setting) => ['-c', setting]),
  ...(request.resume === null ? [] : ['resume', request.resume]),
  '-',
]

type SettingsInput = {
  readonly effort: Effort | null
  /** Replaces Codex's own instructions; null: it keeps them. */
  readonly instructionsFile: string | null
  /** Known to this Codex, which reports an unknown one as an error. */
  readonly features: readonly string[]
  readonly mayReadFiles: boolean
  /** The folders that Codex takes for the project under review. */
  readonly projects: readonly string[]
  readonly skills: readonly string[]
  readonly mcpServers: readonly string[]
}

/** For `-c`: the command line takes precedence over every configuration file. */
export const codexSettings = (input: SettingsInput): string[] => [
  ...baseSettings,
  ...[...unneededFeatures, ...(input.mayReadFiles ? [] : readingFeatures)]
    .filter((feature) => input.features.includes(feature))
    .map((feature) => `features.${feature}=false`),
  // MCP servers run outside the sandbox.
  ...input.mcpServers.map((name) => `mcp_servers.${name}.enabled=false`),
  ...(input.projects.length === 0 ? [] : [`projects={${input.projects.map(asUntrusted).join(',')}}`]),
  ...(input.skills.length === 0 ? [] : [`skills.config=[${input.skills.map(asDisabled).join(',')}]`]),
  ...(input.instructionsFile === null ? [] : [`model_instructions_file=${quoted(input.instructionsFile)}`]),
  ...(input.effort === null ? [] : [`model_reasoning_effort=${quoted(input.effort)}`]),
]

const baseSettings = [
  // The project under review must not instruct its reviewer: no AGENTS.md, no list of skills.
  'project_doc_max_bytes=0',
  'skills.include_instructions=false',
  'skills.bundled.enabled=false',
  // Keys stay with Codex; a login shell could bring them back.
  'shell_environment_policy.inherit="core"',
  'shell_environment_policy.ignore_default_excludes=false',
  'allow_login_shell=false',
  'web_search="disabled"',
  'notify=[]',
  'analytics.enabled=false',
  'otel.metrics_exporter="none"',
  'check_for_update_on_startup=false',
]

/** Each costs time at every start, uses the network, or runs a program of the user's. */
const unneededFeatures = [
  'apps',
  'goals',
  'hooks',
  'image_generation',
  'memories',
  'multi_agent',
  'multi_agent_v2',
  'plugins',
  'remote_plugin',
  'shell_snapshot',
  'tool_suggest',
]

/** Every tool that can read a file. */
const readingFeatures = ['shell_tool', 'view_image', 'code_mode', 'js_repl']

/** A trusted project brings its own configuration, with servers, hooks and rules. */
const asUntrusted = (folder: string): string => `${quoted(folder)}={trust_level="untrusted"}`

/** Otherwise `$name` in a text would call the skill of that name. */
const asDisabled = (path: string): string => `{path=${quoted(path)},enabled=false}`

/** A JSON string is a TOML string, except that TOML wants DEL escaped. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007f')
