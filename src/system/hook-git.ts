import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { gitEnvironment, maxOutputBytes, notOnPath } from './environment.ts'
import { isTransient, systemErrorCode } from './errors.ts'

type PathState = { status: string; digest: string | null }

export type TreeStateRead =
  | { kind: 'read'; head: string; paths: { [path: string]: PathState } }
  | { kind: 'failed'; why: string }

/** `isLeftOut`: of paths as git names them, in latin1. */
type Options = { isLeftOut: (path: string) => boolean; timeoutMs: number; sandbox: GitSandbox | null }

/**
 * One `git status`, with a digest of each path that it lists. A rename counts as a deletion and a creation, ignored files
 * are skipped, names are bytes, and dirty submodules are read, too.
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
  const ran = gitSync(root, statusArgs, options.timeoutMs, {}, options.sandbox)
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
    const folder = Buffer.from(entry.path, 'latin1').toString('utf8')
    const inside = readTree(`${root}/${folder}`, options, `${prefix}${entry.path}/`)
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

/** `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path` or `? path`; null for headers and the end. */
function parseRecord(record: string): StatusRecord | null {
  if (record.startsWith('? ')) return { path: record.slice(2), status: '?', dirtySubmodule: false }
  const fields = record.startsWith('1 ') ? 8 : record.startsWith('u ') ? 10 : 0
  if (fields === 0) return null
  const parts = record.split(' ')
  const sub = parts[2] ?? 'N...'
  const status = fields === 10 ? `u ${parts[1]}` : `${parts[1]} ${parts.slice(5, 8).join(' ')} ${sub}`
  return { path: parts.slice(fields).join(' '), status, dirtySubmodule: sub[0] === 'S' && /[MU]/.test(sub.slice(2)) }
}

/** Of a regular file's content and executable bit, or of a link's target; null if there is no content. */
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
    return errno === 'ENOENT' ? null : unreadable
  }
}

/** In place of a digest, of what may not be read. */
export const unreadable = 'unreadable'

/** One buffer for all files: bounds the memory for a large file, and for a hundred thousand files. */
let buffer: Buffer | null = null

function fileDigest(path: Buffer): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return 'special'
    const hash = process
      .getBuiltinModule('node:crypto')
      .createHash('sha256')
      .update((stat.mode & 0o111) === 0 ? '-' : 'x')
    buffer ??= Buffer.allocUnsafe(1 << 20)
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer))
      hash.update(buffer.subarray(0, count))
    return hash.digest('hex')
  } finally {
    closeSync(fd)
  }
}

type GitRun =
  | { kind: 'ended'; exitCode: number; stdout: Buffer; stderr: string }
  | { kind: 'not-found' }
  /** It took too long or said too much. */
  | { kind: 'stopped'; why: string }

/** Programs that a repository makes git run can change nothing there. `files` are its descriptors from 3 on. */
export type GitSandbox = {
  readonly engine: string
  readonly args: readonly string[]
  readonly files: readonly string[]
}

/**
 * git for the hooks, where loading simple-git would cost more than git itself. Bytes come out, because names of files are
 * bytes. Synchronous: a hook has nothing else to do meanwhile, and it is 2 ms faster to set up.
 */
export function gitSync(
  cwd: string,
  args: readonly string[],
  timeoutMs: number,
  env: { readonly [name: string]: string } = {},
  sandbox: GitSandbox | null = null,
): GitRun {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const files = sandbox?.files.map((path) => openSync(path, 'r')) ?? []
  const [file, words] =
    sandbox === null ? ['git', args] : [sandbox.engine, [...sandbox.args, '--chdir', cwd, '--', 'git', ...args]]
  const run = spawnSync(file, words, {
    cwd,
    env: { ...gitEnvironment(), ...env },
    timeout: timeoutMs,
    maxBuffer: maxOutputBytes,
    stdio: ['ignore', 'pipe', 'pipe', ...files],
  })
  for (const fd of files) closeSync(fd)
  const code = (run.error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOENT' && existsSync(cwd)) return { kind: 'not-found' }
  if (code === 'ETIMEDOUT') return { kind: 'stopped', why: `git ${args[0]} did not end within ${timeoutMs / 1000} s` }
  if (code !== undefined) return { kind: 'stopped', why: `git ${args[0]} could not be run in ${cwd} (${code})` }
  if (run.status === null) return { kind: 'stopped', why: `git ${args[0]} was ended by ${run.signal}` }
  return {
    kind: 'ended',
    exitCode: run.status,
    stdout: run.stdout,
    stderr: run.stderr.toString('utf8').slice(0, 20_000).trim(),
  }
}

export function gitSyncOrThrow(...call: Parameters<typeof gitSync>): string {
  const run = gitSync(...call)
  if (run.kind === 'ended' && run.exitCode === 0) return run.stdout.toString('utf8')
  throw new Error(
    run.kind === 'ended' ? run.stderr || `exit code ${run.exitCode}` : run.kind === 'stopped' ? run.why : notOnPath,
  )
}

/** Set by git for its hooks, one of which may have started us: they would point every git at that repository. */
export const isGitLocation = (name: string): boolean =>
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|NAMESPACE|PREFIX)$/.test(name)
