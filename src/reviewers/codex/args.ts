/** The command line of `codex exec`: read-only, without the settings of the project under review. */
import type { Effort } from '../../schemas/review.ts'

type CodexRequest = {
  readonly cwd: string
  /** The id of the thread to continue. */
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
  /** Skill files of the project. */
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
