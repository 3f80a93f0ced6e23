/** Claude Code in a bubblewrap: beside its tools, which only read, the kernel lets it write next to nothing. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findEngine } from '../../gate/sandbox/engine.ts'
import { isHidden, isolation, kernelFiles, neededOfRun } from '../../gate/sandbox/profiles.ts'

type Places = {
  readonly program: string
  readonly home: string
  readonly configDir: string
  /** Where `.credentials.json` is. */
  readonly loginDir: string
  /** The working directory. */
  readonly cwd: string
  /** Files of this turn, which are read. */
  readonly folder: string
  /** A program that brings the key may ask an agent for it. */
  readonly needsAgents: boolean
  /** Where its session is written; null: nowhere. */
  readonly sessions: string | null
}

/** The arguments of bwrap up to the program. */
export function sandboxArgs(places: Places): string[] {
  const { program, home, configDir, loginDir, cwd, folder, needsAgents, sessions } = places
  const readOnly = (path: string): string[] => ['--ro-bind', path, path]
  const programs = [dirname(program), dirname(real(program))]
  const read = [home, configDir, loginDir, ...programs, cwd, folder].filter((path) => existsSync(path)).map(real)
  return [
    ...isolation,
    '--disable-userns',
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...kernelFiles,
    ...['--tmpfs', '/var/tmp', '--tmpfs', '/tmp', '--setenv', 'TMPDIR', '/tmp'],
    ...(needsAgents ? [] : ['--tmpfs', '/run', ...neededOfRun.flatMap((path) => ['--ro-bind-try', path, path])]),
    ...[...new Set(read)].filter(isHidden).flatMap(readOnly),
    ...loginArgs(real(loginDir)),
    ...(sessions === null ? [] : ['--bind', sessions, sessions, '--bind', sessions, join(real(configDir), 'projects')]),
    ...['--chdir', real(cwd)],
    '--',
  ]
}

/**
 * A login that is renewed has to be kept, since the old one ends with that; Claude Code writes it to a new file beside
 * the old, so the folder is writable, and what else is in it is not.
 */
function loginArgs(dir: string): string[] {
  if (!existsSync(join(dir, '.credentials.json'))) return []
  const others = readdirSync(dir, { withFileTypes: true }).filter(
    (entry) => entry.name !== '.credentials.json' && !entry.isSymbolicLink(),
  )
  return [
    ...['--bind', dir, dir],
    ...others.map(({ name }) => join(dir, name)).flatMap((path) => ['--ro-bind-try', path, path]),
  ]
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Whether this machine lets the sandbox be made, with these very arguments, and the program is there in it. */
export const canSandbox = (engine: string, args: readonly string[], program: string): boolean =>
  spawnSync(engine, [...args, 'test', '-x', program], { stdio: 'ignore', timeout: 5_000 }).status === 0

/** For people: how Claude is kept from writing. */
export function describeConfinement(engine: string | null = findEngine()): string {
  const everything = ['--unshare-user', '--unshare-pid', '--disable-userns', '--ro-bind', '/', '/', '--']
  return engine !== null && canSandbox(engine, everything, '/')
    ? 'in a read-only sandbox (bubblewrap)'
    : 'read-only by its tools alone: there is no bubblewrap that works here'
}
