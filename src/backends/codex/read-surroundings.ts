import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folders from the root up to the repository that it is in, as Codex looks for a project. */
export function projectFolders(root: string): string[] {
  const start = realpathSync(root)
  const found: string[] = []
  for (let folder = start; ; folder = dirname(folder)) {
    found.push(folder)
    if (existsSync(join(folder, '.git'))) return found
    if (dirname(folder) === folder) return [start]
  }
}

/** The files of the skills that these folders bring along. */
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

/** Also asked while the gate compiles its configuration, and there `node:os` would cost a millisecond. */
export const codexHome = (env: NodeJS.ProcessEnv): string =>
  env.CODEX_HOME || join(env.HOME || process.getBuiltinModule('node:os').homedir(), '.codex')

/** The user's own configuration; '' where there is none. */
export function readUserConfig(env: NodeJS.ProcessEnv): string {
  try {
    return readFileSync(join(codexHome(env), 'config.toml'), 'utf8')
  } catch {
    return ''
  }
}

/** The servers that it names, in the ways in which TOML can name them on a line of their own. */
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
