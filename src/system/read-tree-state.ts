import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { runGitNow } from './spawn-git.ts'
import { isPassing, systemFailure } from './system-failure.ts'

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
    if (systemFailure(error) === null) throw error
    return { kind: 'failed', why: (error as Error).message }
  }
}

function readTree(root: string, options: Options, prefix: string): TreeStateRead {
  const ran = runGitNow(root, statusArgs, options.timeoutMs)
  if (ran.kind !== 'ended') return { kind: 'failed', why: ran.kind === 'stopped' ? ran.why : 'git is not on PATH' }
  if (ran.exitCode !== 0) return { kind: 'failed', why: ran.stderr || `git status ended with ${ran.exitCode}` }
  // Without a prototype, a file named __proto__ is a file like any other.
  const paths: { [path: string]: PathState } = Object.create(null)
  const state = { kind: 'read' as const, head: '', paths }
  for (const record of ran.stdout.toString('latin1').split('\0')) {
    if (record.startsWith('# branch.oid ')) state.head = record.slice('# branch.oid '.length)
    const entry = parseRecord(record)
    if (entry === null || options.isLeftOut(prefix + entry.path)) continue
    state.paths[prefix + entry.path] = { status: entry.status, digest: digestOf(root, entry.path) }
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
export function digestOf(root: string, path: string): string | null {
  const full = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
  try {
    const stat = lstatSync(full)
    if (stat.isSymbolicLink()) return `link ${readlinkSync(full, 'latin1')}`
    if (!stat.isFile()) return stat.isDirectory() ? null : 'special'
    return fileDigest(full)
  } catch (error) {
    const errno = systemFailure(error)
    if (isPassing(errno)) throw error
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
