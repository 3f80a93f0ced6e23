import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { restoredVariables, startVariables } from './cleared-variables.ts'
import { withAbsolutePath } from './find-program.ts'
import { readGitDirs } from './git-dirs.ts'

/** Set by a hook of the plugin, for which CLAUDE_PROJECT_DIR is the gate: where the session was started, which may be below. */
export const sessionDirVariable = 'PLAN_GATE_SESSION_DIR'

/** The folder of this session and those between it and the worktree's root; none where it was started in the root. */
export function foldersBelow(root: string): string[] {
  const folders: string[] = []
  for (let dir = resolve(process.env[sessionDirVariable] ?? root); dir !== root; dir = dirname(dir)) {
    folders.push(dir)
    if (dir === dirname(dir)) break
  }
  return folders
}

/**
 * The environment as the user made it. Inside a session of Claude Code, it holds the `env` of the settings that the
 * worktree and its main checkout bring along, and goes on to hold what they no longer say. Where /proc tells what Claude
 * Code was started with, that counts, with the user's own settings; elsewhere the names that the settings have now are
 * removed. API keys stay: projects may have a key of their own, and a key redirects nothing.
 */
export function userEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const dir = env.CLAUDE_PROJECT_DIR
  if (dir === undefined || dir === '') return env
  const started = initialEnvironment(env.CLAUDE_PID)
  const foreign = new Set(
    [dir, env[sessionDirVariable] ?? dir].flatMap(projectFiles).flatMap((file) => envBlock(file).map(([name]) => name)),
  )
  const kept = Object.entries(env).filter(([name]) => isKey.test(name) || (started === null && !foreign.has(name)))
  const own = new Map([...kept, ...(started ?? [])])
  // From the password file, because `homedir` reads HOME.
  const home = own.get('HOME') ?? process.getBuiltinModule('node:os').userInfo().homedir
  own.set('HOME', home)
  const configDir = own.get('CLAUDE_CONFIG_DIR') || join(home, '.claude')
  const returned = new Set([...foreign, ...restoredVariables()])
  for (const [name, value] of [join(configDir, 'settings.json'), managedSettings].flatMap(envBlock))
    if (started !== null || returned.has(name)) own.set(name, value)
  for (const name of startVariables()) own.delete(name)
  for (const [name, value] of kept) if (isKey.test(name)) own.set(name, value)
  return Object.fromEntries(own)
}

/** Of the machine's administrator. */
const managedSettings =
  process.platform === 'darwin'
    ? '/Library/Application Support/ClaudeCode/managed-settings.json'
    : '/etc/claude-code/managed-settings.json'

const isKey = /_API_KEY$|^CODEX_ACCESS_TOKEN$/

/** The settings that a session of this folder loads, beside the user's own. */
export function projectFiles(dir: string): string[] {
  const files = [join(dir, '.claude/settings.json'), join(dir, '.claude/settings.local.json')]
  try {
    const mainRoot = readGitDirs(dir)?.mainRoot ?? null
    return mainRoot === null ? files : [...files, join(mainRoot, '.claude/settings.local.json')]
  } catch {
    return files
  }
}

type Variable = readonly [name: string, value: string]

/** Claude Code takes its settings into its environment later, and sets CLAUDE_PID itself, whatever they say. */
function initialEnvironment(pid: string | undefined): Variable[] | null {
  if (pid === undefined || !/^\d+$/.test(pid)) return null
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return entries.flatMap((entry): Variable[] => {
      const [name = '', ...rest] = entry.split('=')
      return name === '' ? [] : [[name, rest.join('=')]]
    })
  } catch {
    return null
  }
}

/** Of a settings file. One that Claude Code cannot read sets nothing. */
function envBlock(file: string): Variable[] {
  try {
    // A named pipe would block.
    if (!statSync(file).isFile()) return []
    const { env } = JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, '')) as { env?: unknown }
    return typeof env === 'object' && env !== null
      ? Object.entries(env).map(([name, value]) => [name, String(value)])
      : []
  } catch {
    return []
  }
}

/**
 * Of git's variables: who commits, how a remote is reached, and where the user keeps their configuration. The others
 * (GIT_EXTERNAL_DIFF, GIT_TRACE, GIT_EXEC_PATH, GIT_GLOB_PATHSPECS …) start programs, write files or change what a
 * command of ours means. No command of ours needs an editor.
 */
const passes = (name: string): boolean => !/^(?:GIT_.*|EDITOR|VISUAL|PAGER)$/.test(name) || usersGit.test(name)
const usersGit =
  /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|SSH(?:_COMMAND|_VARIANT)?|SSL_.*|HTTP_.*|ASKPASS|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|TEST_ASSUME_DIFFERENT_OWNER)$/

/** The user's, with English messages, no pager, no prompt, and no lock for git's own convenience. */
export const gitEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(withAbsolutePath(userEnvironment(process.env))).filter(([name]) => passes(name)),
  ),
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
  GIT_OPTIONAL_LOCKS: '0',
})

/** Of git; more than any repository makes it say. */
export const maxOutputBytes = 256 * 1024 * 1024
export const notOnPath = 'git is not on PATH'
