import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { homeDir } from './claude-dir.ts'
import type { GitDirs } from './git-dirs.ts'
import { isAbsence, isPassing, systemFailure } from './system-failure.ts'

type RepositorySetup = { configs: { [path: string]: string }; hooks: { [path: string]: string } }

const maxConfigBytes = 1024 * 1024
const maxDepth = 10

/**
 * Every file that tells git what to run for this worktree, read without starting git: the repository's config, the
 * worktree's, what they include, those of its submodules, and the hooks.
 */
export function readRepositorySetup(root: string, gitDirs: GitDirs): RepositorySetup {
  const setup: RepositorySetup = { configs: {}, hooks: {} }
  // A linked worktree has its submodules in its own git directory.
  const modules = [...new Set([gitDirs.common, gitDirs.own].flatMap((dir) => submodulesOf(setup, dir)))]
  for (const path of [
    join(gitDirs.common, 'config'),
    join(gitDirs.own, 'config.worktree'),
    ...modules.map((module) => join(module, 'config')),
    ...userGitConfigs(),
  ])
    addConfig(setup, path, 0)
  const hookDirs = [gitDirs.common, ...modules].map((dir) => join(dir, 'hooks'))
  for (const dir of [...hookDirs, ...namedHookDirs(root, setup)]) addHooks(setup, dir)
  return setup
}

function addConfig(setup: RepositorySetup, path: string, depth: number): void {
  if (setup.configs[path] !== undefined || depth > maxDepth) return
  const text = textOf(path)
  if (text === null) return
  setup.configs[path] = text
  // Where `path =` stands in whatever section: a file too many that is compared does no harm.
  for (const named of valuesOf(text, 'path'))
    addConfig(setup, resolve(dirname(path), named.replace(/^~\//, `${homeDir()}/`)), depth + 1)
}

const namedHookDirs = (root: string, setup: RepositorySetup): string[] =>
  Object.values(setup.configs).flatMap((text) =>
    valuesOf(text, 'hooksPath').map((dir) => resolve(root, dir.replace(/^~\//, `${homeDir()}/`))),
  )

const valuesOf = (text: string, key: string): string[] =>
  [...text.matchAll(new RegExp(`^[^#;\\n]*?\\b${key}[ \\t]*=[ \\t]*"?([^"\\n]+?)"?[ \\t]*$`, 'gim'))].map(
    ([, value = '']) => value,
  )

/** Those that git runs while it only reads. One that cannot be run yet counts too: `chmod` leaves no trace in the folder. */
const readingHooks = ['post-index-change', 'reference-transaction', 'fsmonitor-watchman', 'query-watchman']

function addHooks(setup: RepositorySetup, dir: string): void {
  for (const name of namesIn(setup, dir)) {
    if (!readingHooks.includes(name)) continue
    const path = join(dir, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile()) setup.hooks[path] = `${(stat.mode & 0o111) === 0 ? '-' : 'x'} ${digestOf(readFileSync(path))}`
  }
}

const digestOf = (bytes: Buffer): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex')

/** What git reads for every repository of this user. */
export const userGitConfigs = (): string[] => [
  join(homeDir(), '.gitconfig'),
  join(process.env.XDG_CONFIG_HOME || join(homeDir(), '.config'), 'git/config'),
]

/** The git directories `modules/<name>`, where a name may have slashes and a submodule may have submodules. */
function submodulesOf(setup: RepositorySetup, gitDir: string, depth = 0): string[] {
  const modules = join(gitDir, 'modules')
  if (depth > maxDepth || lstatSync(modules, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return gitDirsBelow(setup, modules, 0)
}

function gitDirsBelow(setup: RepositorySetup, dir: string, depth: number): string[] {
  if (depth > maxDepth) return []
  const names = namesIn(setup, dir)
  if (names.includes('HEAD')) return [dir, ...submodulesOf(setup, dir, depth + 1)]
  return names.flatMap((name) =>
    lstatSync(join(dir, name), { throwIfNoEntry: false })?.isDirectory()
      ? gitDirsBelow(setup, join(dir, name), depth + 1)
      : [],
  )
}

/** What nobody can read, or too much of it, is a text that no parser takes: it counts as changed, not as absent. */
function textOf(path: string): string | null {
  try {
    const stat = statSync(path)
    return stat.isFile() && stat.size <= maxConfigBytes ? readFileSync(path, 'utf8') : unreadable
  } catch (error) {
    return isAbsent(error) ? null : unreadable
  }
}

const unreadable = '[unreadable'

/** A folder that nobody may look into is put down as that: it has changed, if one could before. */
function namesIn(setup: RepositorySetup, dir: string): string[] {
  try {
    return readdirSync(dir).sort()
  } catch (error) {
    if (!isAbsent(error)) setup.configs[dir] = unreadable
    return []
  }
}

/** Throws where the next look may be another one: that must not be put down for what is there. */
function isAbsent(error: unknown): boolean {
  const errno = systemFailure(error)
  if (isPassing(errno)) throw error
  return isAbsence(errno)
}
