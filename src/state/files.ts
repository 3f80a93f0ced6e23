/**
 * Files below a root: read without following links, written atomically. Reads return a value for what is missing or
 * refused; writes throw, so that no caller can miss that, say, an approval was not revoked.
 */
import {
  closeSync,
  constants,
  cpSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { basename, join, posix } from 'node:path'
import { describeError, type FromSchema, firstError, type Schema } from '../schemas/schema.ts'
import { reviewDir, reviewPaths } from './own-paths.ts'

/** The sorted names in a folder; none where it is missing. Throws where it cannot be listed, as that is not empty. */
export function listNames(root: string, folder: string): string[] {
  const check = checkFolder(root, folder)
  if (check.kind === 'refused' && check.errno !== undefined) throw cannotList(folder, check.errno)
  if (check.kind !== 'folder') return []
  try {
    return readdirSync(join(root, folder)).sort()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw cannotList(folder, errnoOf(error), error)
  }
}

const cannotList = (folder: string, errno: string, cause?: unknown): StoreError =>
  new StoreError(folder, `cannot be listed (${errno})`, undefined, cause)

type FolderCheck = { kind: 'absent' } | { kind: 'folder' } | Refused

/** With `errno` the system refused to read it; without, the entry is of the wrong kind or form. */
export type Refused = { kind: 'refused'; why: string; errno?: string }

/**
 * Whether every component below the root is a real folder. Node has no `openat`, so one could be swapped between check and
 * use; but a process that can do that can write the files themselves.
 */
export function checkFolder(root: string, folder: string): FolderCheck {
  for (const path of foldersDownTo(folder)) {
    const entry = lstatEntry(root, path)
    if (entry.kind !== 'entry') return entry
    if (!entry.stat.isDirectory())
      return { kind: 'refused', why: `${path} is ${describeStat(entry.stat)}, not a directory` }
  }
  return { kind: 'folder' }
}

/** `a/b/c` → `a`, `a/b`, `a/b/c`. */
const foldersDownTo = (folder: string): string[] =>
  folder === '.' ? [] : folder.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))

export function lstatEntry(root: string, path: string): { kind: 'absent' } | { kind: 'entry'; stat: Stats } | Refused {
  try {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false })
    return stat ? { kind: 'entry', stat } : { kind: 'absent' }
  } catch (error) {
    const errno = errnoOf(error)
    return { kind: 'refused', why: `${path} cannot be read (${errno})`, errno }
  }
}

/** Throws where the path cannot be read: that is not an absent one. */
export function pathExists(root: string, path: string): boolean {
  const entry = lstatEntry(root, path)
  if (entry.kind === 'refused') throw new StoreError(path, `cannot be read (${entry.errno})`)
  return entry.kind === 'entry'
}

export function describeStat(stat: Stats): string {
  if (stat.isSymbolicLink()) return 'a symbolic link'
  if (stat.isDirectory()) return 'a directory'
  if (stat.isFIFO()) return 'a named pipe'
  if (stat.isSocket()) return 'a socket'
  if (stat.isFile()) return 'a file'
  return 'a device'
}

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly path: string
  readonly next: string

  constructor(path: string, why: string, next = 'Fix that, then try again.', cause?: unknown) {
    super(`${path} ${why}. ${next}`, { cause })
    this.path = path
    this.next = next
  }
}

export const errnoOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'unknown error'
}

export function putFile(root: string, path: string, content: string | Uint8Array, mode: number): void {
  ensureFolder(root, posix.dirname(path))
  writeAtomic(root, path, content, mode)
}

/** Plans and their reviews are readable for their owner only. */
export function ensureFolder(root: string, folder: string): void {
  for (const path of foldersDownTo(folder)) {
    const entry = lstatEntry(root, path)
    if (entry.kind === 'entry' && entry.stat.isDirectory()) continue
    if (entry.kind === 'absent') makeFolder(root, path)
    else
      throw new StoreError(
        path,
        entry.kind === 'entry' ? `is ${describeStat(entry.stat)}, not a directory` : `cannot be read (${entry.errno})`,
      )
  }
}

function makeFolder(root: string, path: string): void {
  try {
    mkdirSync(join(root, path), { mode: isReview(path) ? 0o700 : 0o777 })
  } catch (error) {
    // Another hook made it first; anything but a folder is refused by the next check.
    if (errnoOf(error) === 'EEXIST') return
    throw new StoreError(path, `cannot be made (${errnoOf(error)})`, undefined, error)
  }
  syncFolder(join(root, posix.dirname(path)))
}

const isReview = (path: string): boolean => path === reviewDir || path.startsWith(`${reviewDir}/`)

/** Makes a rename in it survive a power cut. Windows and some network disks do not support it. */
export function syncFolder(path: string): void {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch {
    return
  }
  try {
    fsyncSync(fd)
  } catch {
  } finally {
    closeSync(fd)
  }
}

/** Whenever the process dies, the file has the old content or the new one, never a part. Its folder must exist. */
export function writeAtomic(root: string, path: string, content: string | Uint8Array, mode = 0o600): void {
  assertRegularOrAbsent(root, path)
  const temporary = join(root, temporaryName(path))
  try {
    writeSynced(temporary, content, mode)
    renameSync(temporary, join(root, path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new StoreError(path, `cannot be written (${errnoOf(error)})`, undefined, error)
  }
  syncFolder(join(root, posix.dirname(path)))
}

/** A rename would replace a link rather than follow it, but a link was put there on purpose. */
export function assertRegularOrAbsent(root: string, path: string): void {
  const folder = checkFolder(root, posix.dirname(path))
  if (folder.kind === 'absent') throw new StoreError(posix.dirname(path), 'does not exist')
  if (folder.kind === 'refused') throw new StoreError(path, `cannot be written: ${folder.why}`)
  const entry = lstatEntry(root, path)
  if (entry.kind === 'refused') throw new StoreError(path, `cannot be written: ${entry.why}`)
  if (entry.kind === 'entry' && !entry.stat.isFile()) {
    throw new StoreError(path, `is ${describeStat(entry.stat)}, not a regular file`, 'Remove it, then try again.')
  }
}

function writeSynced(path: string, content: string | Uint8Array, mode: number): void {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    writeFileSync(fd, content)
    // `openSync` would apply the umask.
    fchmodSync(fd, mode)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Beside the file, so that the rename stays on one file system; with the writer's pid, so that a stale file can be told from
 * one in use. O_EXCL makes it safe, not the randomness, hence no node:crypto.
 */
const temporaryName = (path: string): string =>
  `${posix.dirname(path)}/.${posix.basename(path)}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`

/** The pid in such a name, or undefined for any other name. */
const writerOf = (name: string): number | undefined => {
  const pid = /^\..+\.(\d+)\.[0-9a-z]+\.tmp$/.exec(name)?.[1]
  return pid === undefined ? undefined : Number(pid)
}

export type JsonRead<T> = { kind: 'absent' } | { kind: 'read'; value: T } | Refused

export function readJson<const S extends Schema>(
  root: string,
  path: string,
  schema: S,
  maxBytes?: number,
): JsonRead<FromSchema<S>> {
  const read = readRegular(root, path, maxBytes)
  if (read.kind !== 'read') return read
  if (read.bytes.length === 0) return { kind: 'refused', why: `${path} is empty` }
  let value: unknown
  try {
    value = JSON.parse(withoutByteOrderMark(read.bytes.toString('utf8')))
  } catch (error) {
    return { kind: 'refused', why: `${path} is not JSON: ${error instanceof Error ? error.message : error}` }
  }
  const error = firstError(schema, value)
  if (error === null) return { kind: 'read', value: value as FromSchema<S> }
  return {
    kind: 'refused',
    why: `${path} has the wrong form: ${error.instancePath.slice(1) || 'it'} ${describeError(error)}`,
  }
}

export function readAnyJson(root: string, path: string): unknown {
  const read = readJson(root, path, anyJson)
  return read.kind === 'read' ? read.value : null
}

/** For a file whose reader checks each field by itself. */
export const anyJson = {} as const satisfies Schema

/** Editors on Windows write one. */
const withoutByteOrderMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

export type RegularRead = { kind: 'absent' } | { kind: 'read'; bytes: Buffer } | Refused

const defaultMaxBytes = 8 * 1024 * 1024

/** The bytes of a regular file, without following links. On the gate's hot path: one open, one read. */
export function readRegular(root: string, path: string, maxBytes = defaultMaxBytes): RegularRead {
  const opened = openRegular(root, path, constants.O_RDONLY)
  if (opened.kind !== 'opened') return opened
  try {
    if (opened.size > maxBytes) return { kind: 'refused', why: `${path} is larger than ${maxBytes} bytes` }
    return { kind: 'read', bytes: readFileSync(opened.fd) }
  } catch (error) {
    const errno = errnoOf(error)
    return { kind: 'refused', why: `${path} cannot be read (${errno})`, errno }
  } finally {
    closeSync(opened.fd)
  }
}

export type OpenedRegular = { kind: 'absent' } | { kind: 'opened'; fd: number; size: number } | Refused

/** Opens a regular file that no link leads to. Checks before it opens, and what it opened; never blocks on a pipe. */
export function openRegular(root: string, path: string, flags: number): OpenedRegular {
  const folder = checkFolder(root, posix.dirname(path))
  if (folder.kind !== 'folder') return folder
  const entry = lstatEntry(root, path)
  if (entry.kind === 'refused') return entry
  if (entry.kind === 'absent' && (flags & constants.O_CREAT) === 0) return entry
  if (entry.kind === 'entry' && !entry.stat.isFile()) return notAFile(path, describeStat(entry.stat))

  let fd: number
  try {
    fd = openSync(join(root, path), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT') return { kind: 'absent' }
    if (code === 'ELOOP') return notAFile(path, 'a symbolic link')
    return { kind: 'refused', why: `${path} cannot be opened (${code})`, errno: code }
  }
  const stat = fstatSync(fd)
  const isWritten = (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0
  if (stat.isFile() && !(isWritten && stat.nlink > 1)) return { kind: 'opened', fd, size: stat.size }
  closeSync(fd)
  // A write would also appear under the other name, wherever that is.
  return stat.isFile()
    ? { kind: 'refused', why: `${path} has a second name (a hard link)` }
    : notAFile(path, describeStat(stat))
}

const notAFile = (path: string, kind: string): OpenedRegular => ({
  kind: 'refused',
  why: `${path} is ${kind}, not a regular file`,
})

/** An unreadable file is not an absent one. */
export function throwIfUnreadable(path: string, read: { readonly kind: string; readonly errno?: string }): void {
  if (read.kind === 'refused' && read.errno !== undefined) throw new StoreError(path, `cannot be read (${read.errno})`)
}

/** Removes the entry at a path below a root, or the first component on the way to it that is no real folder. */
export function removePath(root: string, path: string): void {
  const steps = foldersDownTo(path)
  const obstacle = steps.slice(0, -1).find((step) => {
    const found = lstatSync(join(root, step), { throwIfNoEntry: false })
    return found !== undefined && !found.isDirectory()
  })
  rmSync(join(root, obstacle ?? path), { recursive: true, force: true })
}

export function saveFile(root: string, path: string, content: string | Uint8Array): void {
  ensureReviewDir(root, posix.dirname(path))
  writeAtomic(root, path, content)
}

export const saveJson = (root: string, path: string, value: unknown): void =>
  saveFile(root, path, `${JSON.stringify(value, null, 2)}\n`)

/** `.claude/review`, or a folder in it, with the .gitignore that keeps it out of `git status`. */
export function ensureReviewDir(root: string, folder: string = reviewDir): void {
  ensureFolder(root, folder)
  if (lstatEntry(root, reviewPaths.ignore).kind === 'absent') writeAtomic(root, reviewPaths.ignore, '*\n')
}

/** Removes the temporary files of killed writers; with `file`, only those of that file. */
export function sweepTemporaries(root: string, folder: string, file: string | null = null): void {
  if (checkFolder(root, folder).kind !== 'folder') return
  const now = Date.now()
  for (const name of readdirSync(join(root, folder))) {
    const writer = writerOf(name)
    if (writer === undefined || !name.startsWith(`.${file ?? ''}`)) continue
    const entry = lstatEntry(root, `${folder}/${name}`)
    if (entry.kind !== 'entry' || !entry.stat.isFile()) continue
    if (isStale(writer, now - entry.stat.mtimeMs)) rmSync(join(root, folder, name), { force: true })
  }
}

/** A writer in a container seems dead from outside, hence the grace period; pids are reused, hence the hour. */
const isStale = (writer: number, ageMs: number): boolean => ageMs > 3_600_000 || (ageMs > 10_000 && !isAlive(writer))

/** Signal 0 only checks. EPERM: the process is alive and belongs to another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}

/** Everything in `.claude/review` except locks and temporary files. */
export function copyReviews(root: string, destination: string): void {
  const locks = [reviewPaths.lock, reviewPaths.ledgerLock].map((path) => join(root, path))
  cpSync(join(root, reviewDir), destination, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !locks.includes(source) && !/^\..*\.tmp$/.test(basename(source)) && isCopied(source),
  })
}

function isCopied(source: string): boolean {
  const stat = lstatSync(source)
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()
}
