import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { gitEnvironment, maxOutputBytes } from './environment.ts'
import { isNotFound, isTransient, systemErrorCode } from './errors.ts'
import type { GitDirs } from './git-dirs.ts'
import { homeDir } from './paths.ts'
import { sha256 } from './sha256.ts'

type RepositorySetup = { configs: { [path: string]: string }; hooks: { [path: string]: string } }

/**
 * Every file that tells git what to run for this worktree: the repository's config, the worktree's, what they include,
 * those of its submodules and of the repositories inside of it, and the hooks.
 */
export function readRepositorySetup(root: string, gitDirs: GitDirs): RepositorySetup {
  const setup: RepositorySetup = { configs: {}, hooks: {} }
  // A linked worktree has its submodules in its own git directory.
  const listed = [gitDirs.common, gitDirs.own].flatMap((dir) => submodulesOf(setup, dir))
  const embedded = embeddedIn(setup, root, gitDirs.own)
  const modules = [...new Set([...listed, ...embedded.map(({ gitDir }) => gitDir)])]
  const dirs = modules.flatMap((dir) => [dir, commonOf(dir)])
  for (const path of [
    join(gitDirs.common, 'config'),
    join(gitDirs.own, 'config.worktree'),
    ...dirs.flatMap((dir) => [join(dir, 'config'), join(dir, 'config.worktree')]),
    ...userGitConfigs(),
  ])
    addConfig(setup, path, 0)
  const hookDirs = [gitDirs.common, ...dirs].map((dir) => join(dir, 'hooks'))
  const roots = [root, ...embedded.map((inside) => inside.root)]
  for (const dir of [...hookDirs, ...roots.flatMap((at) => configuredHookDirs(at, setup))]) addHooks(setup, dir)
  return setup
}

/**
 * Whether `paths` are all that the setup came from, so that it is the same as long as they are. Not where something leads on:
 * a link, an included file (there or not), a folder of hooks that is named, a repository inside of this one.
 */
export const isAllOf = (setup: RepositorySetup, paths: readonly string[]): boolean =>
  Object.keys(setup.hooks).length === 0 &&
  Object.keys(setup.configs).every((path) => paths.includes(path)) &&
  !Object.values(setup.configs).some((text) => /path/i.test(text)) &&
  !paths.some((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())

export const userGitConfigs = (): string[] => [
  join(homeDir(), '.gitconfig'),
  join(process.env.XDG_CONFIG_HOME || join(homeDir(), '.config'), 'git/config'),
]

const maxDepth = 10

/** The git directories `modules/<name>`, where a name may have slashes and a submodule may have submodules. */
function submodulesOf(setup: RepositorySetup, gitDir: string, depth = 0): string[] {
  const modules = join(gitDir, 'modules')
  if (depth > maxDepth || !isFolder(modules)) return []
  return gitDirsBelow(setup, modules, 0)
}

function gitDirsBelow(setup: RepositorySetup, dir: string, depth: number): string[] {
  if (depth > maxDepth) return []
  const names = namesIn(setup, dir)
  if (names.includes('HEAD')) return [dir, ...submodulesOf(setup, dir, depth + 1)]
  return names.flatMap((name) => (isFolder(join(dir, name)) ? gitDirsBelow(setup, join(dir, name), depth + 1) : []))
}

type Embedded = { readonly root: string; readonly gitDir: string }

/** git looks into each repository that stands where the index has a commit; only git reads an index. */
function embeddedIn(setup: RepositorySetup, root: string, own: string, depth = 0): Embedded[] {
  const index = join(own, 'index')
  const isSplit = namesIn(setup, own).some((name) => name.startsWith('sharedindex.'))
  if (depth > maxDepth || (!isSplit && !bytesOf(index)?.includes(commitMode))) return []
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const safe = [
    `--git-dir=${own}`,
    `--work-tree=${root}`,
    '-c',
    'core.fsmonitor=false',
    '-c',
    'core.hooksPath=/dev/null',
  ]
  const run = spawnSync('git', [...safe, 'ls-files', '--stage', '-z'], {
    ...{ cwd: root, env: gitEnvironment(), maxBuffer: maxOutputBytes, timeout: 5_000, encoding: 'utf8' },
  })
  if (run.status !== 0) setup.configs[index] = unreadable
  return (run.stdout ?? '').split('\0').flatMap((entry) => {
    if (!entry.startsWith('160000 ')) return []
    const inside = join(root, entry.slice(entry.indexOf('\t') + 1))
    const at = join(inside, '.git')
    const gitDir = linkedGitDir(at)
    // It may be made later; and in a name that is no text it cannot be looked for.
    if (gitDir === null) setup.configs[at] = inside.includes('\ufffd') ? `${unreadable} ${performance.now()}` : ''
    return gitDir === null ? [] : [{ root: inside, gitDir }, ...embeddedIn(setup, inside, gitDir, depth + 1)]
  })
}

/** Of a linked worktree. */
function commonOf(gitDir: string): string {
  const named = textOf(join(gitDir, 'commondir'))?.trim()
  return named ? resolve(gitDir, named) : gitDir
}

/** How an index of any version has the mode of a commit. */
const commitMode = Buffer.from([0, 0, 0xe0, 0])

function linkedGitDir(at: string): string | null {
  if (statSync(at, { throwIfNoEntry: false })?.isDirectory()) return at
  const [, named = null] = /^gitdir: (.+)$/m.exec(textOf(at) ?? '') ?? []
  return named && resolve(dirname(at), named)
}

function bytesOf(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    // git says what is wrong with it.
    return isAbsent(error) ? null : commitMode
  }
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

function addConfig(setup: RepositorySetup, path: string, depth: number): void {
  if (setup.configs[path] !== undefined || depth > maxDepth) return
  const text = textOf(path)
  if (text === null) return
  setup.configs[path] = text
  // `path =` of any section, not only of `include`: comparing a file too many does no harm.
  for (const included of valuesOf(text, 'path'))
    addConfig(setup, resolve(dirname(path), expandHome(included)), depth + 1)
}

const configuredHookDirs = (root: string, setup: RepositorySetup): string[] =>
  Object.values(setup.configs).flatMap((text) =>
    valuesOf(text, 'hooksPath').map((dir) => resolve(root, expandHome(dir))),
  )

const expandHome = (path: string): string => path.replace(/^~\//, `${homeDir()}/`)

/** Of any section. git reads what is more than a plain value, such as one with a comment behind it. */
function valuesOf(text: string, key: string): string[] {
  const lines = text.split('\n').filter((line) => new RegExp(`\\b${key}\\b`, 'i').test(line))
  if (lines.some((line) => /[#;"\\]/.test(line)) || /\\\r?\n/.test(text))
    return (entriesOf(text) ?? []).flatMap((entry) => {
      const end = entry.indexOf('\n')
      return entry.slice(0, end).toLowerCase().endsWith(`.${key.toLowerCase()}`) ? [entry.slice(end + 1)] : []
    })
  const plain = new RegExp(`\\b${key}[ \\t]*=[ \\t]*(.+?)[ \\t\\r]*$`, 'i')
  return lines.flatMap((line) => plain.exec(line)?.[1] ?? [])
}

/** By git itself, a key and its value each; null where it cannot read the text. */
export function entriesOf(text: string): string[] | null {
  const args = ['config', '--file', '-', '--no-includes', '--list', '--null']
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const run = spawnSync('git', args, { input: text, env: gitEnvironment(), encoding: 'utf8', timeout: 25_000 })
  return run.status === 0 ? run.stdout.split('\0').slice(0, -1) : null
}

const maxConfigBytes = 1024 * 1024

/** An unreadable or oversized file gets a text that no parser accepts, so that it counts as changed and not as absent. */
function textOf(path: string): string | null {
  try {
    const stat = statSync(path)
    return stat.isFile() && stat.size <= maxConfigBytes ? readFileSync(path, 'utf8') : unreadable
  } catch (error) {
    return isAbsent(error) ? null : unreadable
  }
}

const unreadable = '[unreadable'

/** The hooks that read-only git commands run. */
const readingHooks = ['post-index-change', 'reference-transaction', 'fsmonitor-watchman', 'query-watchman']

/** A hook that is not executable is recorded, too: a later `chmod` does not change its folder. */
function addHooks(setup: RepositorySetup, dir: string): void {
  for (const name of namesIn(setup, dir)) {
    if (!readingHooks.includes(name)) continue
    const path = join(dir, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile()) setup.hooks[path] = `${(stat.mode & 0o111) === 0 ? '-' : 'x'} ${sha256(readFileSync(path))}`
  }
}

/** An unreadable folder is recorded as such: it has changed if it could be read before. */
function namesIn(setup: RepositorySetup, dir: string): string[] {
  try {
    return readdirSync(dir).sort()
  } catch (error) {
    if (!isAbsent(error)) setup.configs[dir] = unreadable
    return []
  }
}

/** Throws for a transient error, which must not be recorded as the state of the file. */
function isAbsent(error: unknown): boolean {
  const errno = systemErrorCode(error)
  if (isTransient(errno)) throw error
  return isNotFound(errno)
}
