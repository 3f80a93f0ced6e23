import type { Effort } from '../../schemas/backend.ts'

export type SettingsFor = {
  readonly effort: Effort | null
  /** What this Codex knows; a feature that it does not know would be reported as a mistake. */
  readonly features: readonly string[]
  readonly mayReadFiles: boolean
  /** The folders that Codex takes for the project under review. */
  readonly projects: readonly string[]
  /** Files of skills that the project brings along. */
  readonly skills: readonly string[]
  readonly mcpServers: readonly string[]
}

/** What a reviewer is given by `-c`: a command line wins over every configuration file. */
export const codexSettings = (given: SettingsFor): string[] => [
  ...always,
  ...[...unneeded, ...(given.mayReadFiles ? [] : reading)]
    .filter((feature) => given.features.includes(feature))
    .map((feature) => `features.${feature}=false`),
  // They run outside the sandbox.
  ...given.mcpServers.map((name) => `mcp_servers.${name}.enabled=false`),
  ...(given.projects.length === 0 ? [] : [`projects={${given.projects.map(asUntrusted).join(',')}}`]),
  ...(given.skills.length === 0 ? [] : [`skills.config=[${given.skills.map(asDisabled).join(',')}]`]),
  ...(given.effort === null ? [] : [`model_reasoning_effort=${quoted(given.effort)}`]),
]

const always = [
  // What is under review must not instruct who reviews it: neither AGENTS.md nor a list of skills.
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

/** Each costs time at every start, looks outside, or runs something of the user's. */
const unneeded = [
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

/** Every tool that can look at a file. */
const reading = ['shell_tool', 'view_image', 'code_mode', 'js_repl']

/** A trusted project brings its own configuration, with servers, hooks and rules. */
const asUntrusted = (folder: string): string => `${quoted(folder)}={trust_level="untrusted"}`

/** A text that says `$name` would otherwise call the skill of that name. */
const asDisabled = (path: string): string => `{path=${quoted(path)},enabled=false}`

/** A JSON string is a TOML string too, but for DEL, which TOML wants escaped. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007f')
