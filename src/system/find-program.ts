import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path/posix'
import { isNotFound, systemErrorCode } from './errors.ts'

export const findProgram = (name: string, env?: NodeJS.ProcessEnv): string | null => locateProgram(name, env).path

export type ProgramLookup = { readonly path: string } | { readonly path: null; readonly why: string }

/** Searches PATH as a shell does, except that relative entries are skipped. A name with a slash is a path. */
export function locateProgram(name: string, env: NodeJS.ProcessEnv = process.env): ProgramLookup {
  const isPath = isAbsolute(name) || name.includes('/')
  let why = isPath ? `${name} is not there` : `\`${name}\` is not on PATH`
  for (const candidate of isPath ? [resolve(name)] : candidatePaths(name, env)) {
    const errno = notExecutableReason(candidate)
    if (errno === null) return { path: candidate }
    // A program that is there and cannot be run explains more than one that is absent.
    if (!isNotFound(errno)) why = `${candidate} cannot be started (${errno})`
  }
  return { path: null, why }
}

function candidatePaths(name: string, env: NodeJS.ProcessEnv): string[] {
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : ['']
  return absoluteEntries(env.PATH ?? '').flatMap((dir) =>
    endings.map((ending) => join(dir, name + ending.toLowerCase())),
  )
}

function notExecutableReason(path: string): string | null {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? null : 'ENOENT'
  } catch (error) {
    return systemErrorCode(error) ?? 'unknown error'
  }
}

/** A relative entry of PATH is resolved against the working directory, which may be a repository with a `git` of its own. */
export const relativeEntries = (path: string | undefined): string[] =>
  path === undefined || path === '' ? [] : path.split(delimiter).filter((entry) => !isAbsolute(entry))

const absoluteEntries = (path: string): string[] => path.split(delimiter).filter((entry) => isAbsolute(entry))

/** The environment without relative entries in PATH. */
export const withAbsolutePath = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  env.PATH === undefined || relativeEntries(env.PATH).length === 0
    ? env
    : { ...env, PATH: absoluteEntries(env.PATH).join(delimiter) }
