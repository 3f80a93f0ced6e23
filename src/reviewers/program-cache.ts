/** What is known of a program by its identity, cached for all reviews of this user. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { readRegular, writeAtomic } from '../state/files.ts'

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
export function readCached<T>(folder: string, program: Identified, parse: (text: string) => T | null): T | null {
  try {
    const name = fileOf(program)
    if (!isPrivateFolder(folder) || !isPrivate(lstatSync(join(folder, name)))) return null
    const read = readRegular(folder, name, 256 * 1024)
    return read.kind === 'read' ? parse(read.bytes.toString('utf8')) : null
  } catch {
    return null
  }
}

/** Two processes may write at once. */
export function writeCached(folder: string, program: Identified, value: unknown): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (isPrivateFolder(folder)) writeAtomic(folder, fileOf(program), JSON.stringify(value))
  } catch {
    // It is found out once more the next time.
  }
}

const fileOf = ({ name, identity }: Identified): string => `${name}-${identity.slice(0, 32)}.json`

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
