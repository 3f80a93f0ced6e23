import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { Failure } from '../schemas/review.ts'
import { readRegular, writeAtomic } from '../state/files.ts'
import { orElse } from '../system/errors.ts'
import { cancelledFailure, failureOf, type ReviewProgram } from './failure.ts'
import { type GroupOutcome, runInGroup } from './process.ts'

/** What a program can do: found out once for each version of it, and cached for all reviews of this user. */

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
  } catch {}
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

const readOr = (path: string): string | null => orElse(() => readFileSync(path, 'utf8').slice(0, 100_000), null)

export type ProgramSetup = {
  readonly program: string
  readonly env: NodeJS.ProcessEnv
  /** The user's cache of plan-gate; null: nothing is kept. */
  readonly cacheDir: string | null
  /** The parent of the temporary folder; null: the system's own. */
  readonly scratch: string | null
}

export type Within = { readonly timeoutMs: number; readonly signal: AbortSignal }

export type RunHelp = (...args: readonly string[]) => Promise<GroupOutcome>

/** Read once for each version of a program and cached: starting it costs more than all other preparations of a review. */
export async function readCapabilitiesOf<T>(
  { name, install }: ReviewProgram,
  { program, cacheDir }: ProgramSetup,
  env: NodeJS.ProcessEnv,
  { timeoutMs, signal }: Within,
  parse: (text: string) => T | null,
  find: (run: RunHelp) => Promise<T | { readonly failure: Failure }>,
): Promise<T | { readonly failure: Failure }> {
  const identity = identifyProgram(program)
  if (identity === null)
    return {
      failure: failureOf(
        'not-installed',
        `${name} was not found: ${program}.`,
        `Install it (${install}), or use another reviewer.`,
      ),
    }
  const key = { name: name.toLowerCase(), identity }
  const cached = cacheDir === null ? null : readCached(cacheDir, key, parse)
  if (cached !== null) return cached
  const limits = { timeoutMs: Math.min(timeoutMs, 15_000), silenceMs: null, maxOutputBytes: 256 * 1024 }
  const found = await find((...args) => runInGroup(program, args, { cwd: tmpdir(), env, input: '', signal, ...limits }))
  const isFailure = typeof found === 'object' && found !== null && 'failure' in found
  if (!isFailure && cacheDir !== null) writeCached(cacheDir, key, found)
  return found
}

/** The failure of a program that did not even show its help. */
export function failureOfHelp({ name, probe, install }: ReviewProgram, outcome: GroupOutcome): Failure {
  const nextStep = `Try \`${probe}\` yourself; reinstall it (${install}), or use another reviewer.`
  if (outcome.kind === 'cancelled') return cancelledFailure
  return outcome.kind === 'timed-out' || outcome.kind === 'silent'
    ? failureOf('timeout', `${name} did not even show its help in time.`, nextStep)
    : failureOf('not-installed', `${name} does not run.`, nextStep)
}

/** Help texts list a flag at the start of its own line: `  -s, --sandbox <MODE>` or `      --json`. */
export function missingFlags(help: string, required: readonly string[]): string[] {
  const known = new Set([...help.matchAll(/^ +(?:-[a-zA-Z], )?(--[a-z][a-z-]*)/gm)].map(([, flag]) => flag))
  return required.filter((flag) => !known.has(flag))
}
