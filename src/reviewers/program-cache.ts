/** What is known of a program by its identity, cached for all reviews of this user. */
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/** The user's cache folder by the XDG rules, which ignore a relative path. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const xdg = env.XDG_CACHE_HOME ?? ''
  if (isAbsolute(xdg)) return join(xdg, 'plan-gate')
  const home = env.HOME ?? ''
  return join(isAbsolute(home) ? home : homedir(), '.cache', 'plan-gate')
}

/** `name` is the program's, for the file. */
type Identified = { readonly name: string; readonly identity: string }

/** null: no cache entry, or one that other users could have written. */
export function readCached<T>(
  folder: string,
  { name, identity }: Identified,
  parse: (text: string) => T | null,
): T | null {
  try {
    if (!isPrivateFolder(folder)) return null
    // A FIFO would block, and a link would be followed.
    const file = openSync(
      pathOf(folder, name, identity),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
    try {
      const stat = fstatSync(file)
      if (!stat.isFile() || !isPrivate(stat) || stat.size > 256 * 1024) return null
      return parse(readFileSync(file, 'utf8'))
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

/** Atomic: two processes may write at once. A failure to write is ignored. */
export function writeCached(folder: string, { name, identity }: Identified, value: unknown): void {
  const temporary = join(folder, `.${name}-${process.pid}-${randomBytes(6).toString('hex')}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!isPrivateFolder(folder)) return
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600, flag: 'wx' })
    renameSync(temporary, pathOf(folder, name, identity))
  } catch {
    // Where the parent is no folder, there is nothing to remove.
    if (existsSync(temporary)) rmSync(temporary, { force: true })
  }
}

const pathOf = (folder: string, name: string, identity: string): string =>
  join(folder, `${name}-${identity.slice(0, 32)}.json`)

/** Another user who can write there could forge the capabilities. */
export function isPrivateFolder(folder: string): boolean {
  const stat = lstatSync(folder)
  return stat.isDirectory() && isPrivate(stat)
}

export const isPrivate = ({ uid, mode }: Stats): boolean =>
  process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)

/**
 * Identifies a program without starting it. npm gives the launcher the same size and time in every version, so the
 * package.json beside it counts as well. null: there is no such program.
 */
export function identifyProgram(program: string): string | null {
  try {
    const path = realpathSync(program)
    const { size, mtimeMs, ino } = statSync(path)
    const packages = ['package.json', join('..', 'package.json')].map((name) => readOr(join(dirname(path), name)))
    return createHash('sha256')
      .update(JSON.stringify([1, path, size, mtimeMs, ino, ...packages]))
      .digest('hex')
  } catch {
    return null
  }
}

function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').slice(0, 100_000)
  } catch {
    return null
  }
}
