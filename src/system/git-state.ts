import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { homeDir } from './claude.ts'
import { isNotFound, isTransient, systemErrorCode } from './errors.ts'
import type { GitDirs } from './git-dirs.ts'
import { gitSync, notOnPath } from './hook-git.ts'

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
    if (stat?.isFile())
      setup.hooks[path] = `${(stat.mode & 0o111) === 0 ? '-' : 'x'} ${digestOfReadRepositorySetup(readFileSync(path))}`
  }
}

const digestOfReadRepositorySetup = (bytes: Buffer): string =>
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
  const errno = systemErrorCode(error)
  if (isTransient(errno)) throw error
  return isNotFound(errno)
}

type PathState = { status: string; digest: string | null }

export type TreeStateRead =
  | { kind: 'read'; head: string; paths: { [path: string]: PathState } }
  | { kind: 'failed'; why: string }

type Options = {
  /** Paths (as git names them, in latin1) that are not looked at. */
  isLeftOut: (path: string) => boolean
  timeoutMs: number
}

/**
 * One `git status`, and a digest of each path that it names. Renames are taken apart (a rename is a deletion and a
 * creation), ignored files are not looked at, names are kept as bytes, and a submodule that is dirty is looked into.
 */
export function readTreeState(root: string, options: Options): TreeStateRead {
  try {
    return readTree(root, options, '')
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return { kind: 'failed', why: (error as Error).message }
  }
}

function readTree(root: string, options: Options, prefix: string): TreeStateRead {
  const ran = gitSync(root, statusArgs, options.timeoutMs)
  if (ran.kind !== 'ended') return { kind: 'failed', why: ran.kind === 'stopped' ? ran.why : notOnPath }
  if (ran.exitCode !== 0) return { kind: 'failed', why: ran.stderr || `git status ended with ${ran.exitCode}` }
  // Without a prototype, a file named __proto__ is a file like any other.
  const paths: { [path: string]: PathState } = Object.create(null)
  const state = { kind: 'read' as const, head: '', paths }
  for (const record of ran.stdout.toString('latin1').split('\0')) {
    if (record.startsWith('# branch.oid ')) state.head = record.slice('# branch.oid '.length)
    const entry = parseRecord(record)
    if (entry === null || options.isLeftOut(prefix + entry.path)) continue
    state.paths[prefix + entry.path] = { status: entry.status, digest: digestOfPath(root, entry.path) }
    if (!entry.dirtySubmodule) continue
    const inside = readTree(`${root}/${latin1ToPath(entry.path)}`, options, `${prefix}${entry.path}/`)
    if (inside.kind === 'failed') return inside
    Object.assign(state.paths, inside.paths)
  }
  return state
}

const statusArgs = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--untracked-files=all',
  '--no-renames',
  '--ignore-submodules=none',
] as const

type StatusRecord = { path: string; status: string; dirtySubmodule: boolean }

/** `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`, `? path`. Headers and the end are none. */
function parseRecord(record: string): StatusRecord | null {
  if (record.startsWith('? ')) return { path: record.slice(2), status: '?', dirtySubmodule: false }
  const fields = record.startsWith('1 ') ? 8 : record.startsWith('u ') ? 10 : 0
  if (fields === 0) return null
  const parts = record.split(' ')
  const sub = parts[2] ?? 'N...'
  const status = fields === 10 ? `u ${parts[1]}` : `${parts[1]} ${parts.slice(5, 8).join(' ')} ${sub}`
  return { path: parts.slice(fields).join(' '), status, dirtySubmodule: sub[0] === 'S' && /[MU]/.test(sub.slice(2)) }
}

/** Of a regular file's bytes and whether it can be run, or of a link's destination; null for what has no content. */
export function digestOfPath(root: string, path: string): string | null {
  const full = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
  try {
    const stat = lstatSync(full)
    if (stat.isSymbolicLink()) return `link ${readlinkSync(full, 'latin1')}`
    if (!stat.isFile()) return stat.isDirectory() ? null : 'special'
    return fileDigest(full)
  } catch (error) {
    const errno = systemErrorCode(error)
    if (isTransient(errno)) throw error
    return errno === 'ENOENT' ? null : 'unreadable'
  }
}

/** In pieces, so that a large file does not become a large process; in one place, or a hundred thousand files would. */
let piece: Buffer | null = null

function fileDigest(path: Buffer): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return 'special'
    const hash = process
      .getBuiltinModule('node:crypto')
      .createHash('sha256')
      .update((stat.mode & 0o111) === 0 ? '-' : 'x')
    piece ??= Buffer.allocUnsafe(1 << 20)
    for (let count = readSync(fd, piece); count > 0; count = readSync(fd, piece)) hash.update(piece.subarray(0, count))
    return hash.digest('hex')
  } finally {
    closeSync(fd)
  }
}

const latin1ToPath = (path: string): string => Buffer.from(path, 'latin1').toString('utf8')
