import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, parse, resolve, sep } from 'node:path'
import { join } from 'node:path/posix'
import { systemErrorCode } from './errors.ts'

type ResolvedPath =
  | { kind: 'resolved'; path: string; real: string; hardLinks: number }
  | { kind: 'unresolvable'; path: string; why: string; errno?: string }

const maxLinks = 40

const maxLength = 4_096

/**
 * Like `realpath`, but also for a path that does not exist yet: a write through a dangling link creates the file that the
 * link names.
 */
export function resolvePath(given: string): ResolvedPath {
  if (given.length > maxLength)
    return { kind: 'unresolvable', path: given.slice(0, 200), why: 'it is longer than any path may be' }
  const path = resolve(given)
  if (process.platform === 'win32' && mayBeShortName(path))
    return { kind: 'unresolvable', path, why: 'a name in it may be the short form of another one' }
  let pending = namesOf(path)
  let real = parse(path).root
  let hardLinks = 1
  let links = 0
  try {
    while (pending.length > 0) {
      const [name = '', ...rest] = pending
      const candidate = join(real, name)
      const found = lstatSync(candidate, { throwIfNoEntry: false })
      if (found?.isSymbolicLink()) {
        links += 1
        if (links > maxLinks) return { kind: 'unresolvable', path, why: 'its symbolic links form a loop' }
        const destination = resolve(dirname(candidate), readlinkSync(candidate))
        pending = [...namesOf(destination), ...rest]
        real = parse(destination).root
        continue
      }
      real = candidate
      hardLinks = found?.isFile() ? found.nlink : 1
      pending = rest
    }
    return { kind: 'resolved', path, real, hardLinks }
  } catch (error) {
    const errno = systemErrorCode(error) ?? 'an unknown error'
    return { kind: 'unresolvable', path, why: `it cannot be resolved (${errno})`, errno }
  }
}

/** `CLAUDE~1` opens `.claude` on Windows, and `lstat` does not say so; nor is a path below `\\?\` taken apart. */
export const mayBeShortName = (path: string): boolean => /~\d|^\\\\[?.]\\/.test(path)

const namesOf = (path: string): string[] =>
  path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((name) => name !== '')

export const slashed = (path: string): string => (process.platform === 'win32' ? path.replaceAll('\\', '/') : path)

/** Where Claude Code keeps the user's own settings, plans and transcripts. */
export const claudeDir = (): string => process.env.CLAUDE_CONFIG_DIR || join(homeDir(), '.claude')

/** Its record of projects, the trusted ones among them. */
export const claudeStateFile = (): string => join(process.env.CLAUDE_CONFIG_DIR || homeDir(), '.claude.json')

/** HOME first: `node:os` takes a millisecond to load. */
export const homeDir = (): string => process.env.HOME || process.getBuiltinModule('node:os').homedir()
