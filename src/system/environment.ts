import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { delimiter, isAbsolute, join as joinPosix, resolve as resolvePosix } from 'node:path/posix'
import { isNotFound, systemErrorCode } from './errors.ts'
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

/**
 * What node 20 to 26, OpenSSL, ICU and glibc obey before any of our code runs: they load code, read or write a file that
 * it names, print beside the answer, or take stdin or stdout for a channel of their own (NODE_CHANNEL_FD).
 */
export const clearedVariables = (): string[] => [...startVariables(), ...restoredVariables()]

/** Of one process only. */
const startVariables = (): string[] =>
  (
    'NODE_OPTIONS NODE_PATH NODE_V8_COVERAGE NODE_COMPILE_CACHE NODE_REDIRECT_WARNINGS NODE_DEBUG NODE_DEBUG_NATIVE ' +
    'NODE_PENDING_DEPRECATION NODE_REPL_EXTERNAL_MODULE NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE NODE_UNIQUE_ID ' +
    'NODE_TEST_CONTEXT WATCH_REPORT_DEPENDENCIES'
  ).split(' ')

/** Hooks run without them, their reviewers with the user's own. */
const restoredVariables = (): string[] =>
  (
    'NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_MODULES ' +
    'OPENSSL_ENGINES SSLKEYLOGFILE NODE_ICU_DATA ICU_DATA ICU_TIMEZONE_FILES_DIR TZ TZDIR'
  ).split(' ')

export const findProgram = (name: string, env?: NodeJS.ProcessEnv): string | null => locateProgram(name, env).path

type ProgramLookup = { readonly path: string } | { readonly path: null; readonly why: string }

/** Searches PATH as a shell does, except that relative entries are skipped. A name with a slash is a path. */
export function locateProgram(name: string, env: NodeJS.ProcessEnv = process.env): ProgramLookup {
  const isPath = isAbsolute(name) || name.includes('/')
  let why = isPath ? `${name} is not there` : `\`${name}\` is not on PATH`
  for (const candidate of isPath ? [resolvePosix(name)] : candidatePaths(name, env)) {
    const errno = notExecutableReason(candidate)
    if (errno === null) return { path: candidate }
    // A program that is there and cannot be run explains more than one that is absent.
    if (!isNotFound(errno)) why = `${candidate} cannot be started (${errno})`
  }
  return { path: null, why }
}

function candidatePaths(name: string, env: NodeJS.ProcessEnv): string[] {
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : ['']
  return absoluteEntries(env.PATH ?? '').flatMap((dir) =>
    endings.map((ending) => joinPosix(dir, name + ending.toLowerCase())),
  )
}

export function notExecutableReason(path: string): string | null {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? null : 'ENOENT'
  } catch (error) {
    return systemErrorCode(error) ?? 'unknown error'
  }
}

/** A relative entry of PATH is resolved against the working directory, which may be a repository with a `git` of its own. */
export const relativeEntries = (path: string | undefined): string[] =>
  path === undefined || path === '' ? [] : path.split(delimiter).filter((entry) => !isAbsolute(entry))

const absoluteEntries = (path: string): string[] => path.split(delimiter).filter((entry) => isAbsolute(entry))

export const withAbsolutePath = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  env.PATH === undefined || relativeEntries(env.PATH).length === 0
    ? env
    : { ...env, PATH: absoluteEntries(env.PATH).join(delimiter) }
