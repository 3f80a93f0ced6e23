import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ProgramSetup } from '../program-cache.ts'

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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, 1_000)
  } catch {
    return []
  }
}

/** Also used while the gate compiles its configuration, where importing `node:os` would cost a millisecond. */
export const codexHome = (env: NodeJS.ProcessEnv): string =>
  env.CODEX_HOME || join(env.HOME || process.getBuiltinModule('node:os').homedir(), '.codex')

/** The user's config.toml; '' where there is none. */
export function readUserConfig(env: NodeJS.ProcessEnv): string {
  try {
    return readFileSync(join(codexHome(env), 'config.toml'), 'utf8')
  } catch {
    return ''
  }
}

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
