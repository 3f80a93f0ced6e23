import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path/posix'
import { isNotFound, systemErrorCode } from './errors.ts'

export type ProgramLookup = { readonly path: string } | { readonly path: null; readonly why: string }

/** The same, without a word on why it is nowhere. */
export const findProgram = (name: string, env?: NodeJS.ProcessEnv): string | null => locateProgram(name, env).path

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

/** A folder that is not absolute is looked for where one stands, which may be a repository with a `git` of its own. */
export const relativeEntries = (path: string | undefined): string[] =>
  path === undefined || path === '' ? [] : path.split(delimiter).filter((entry) => !isAbsolute(entry))

const absoluteEntries = (path: string): string[] => path.split(delimiter).filter((entry) => isAbsolute(entry))

/** The environment for a program that is to find others only where their folder is named in full. */
export const withAbsolutePath = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  env.PATH === undefined || relativeEntries(env.PATH).length === 0
    ? env
    : { ...env, PATH: absoluteEntries(env.PATH).join(delimiter) }

/** Where the shell would find a program, but for folders that are not absolute. A name with a separator is taken as a path. */
export function locateProgram(name: string, env: NodeJS.ProcessEnv = process.env): ProgramLookup {
  const isPath = isAbsolute(name) || name.includes('/')
  let why = isPath ? `${name} is not there` : `\`${name}\` is not on PATH`
  for (const candidate of isPath ? [resolve(name)] : candidatePaths(name, env)) {
    const trouble = notExecutableReason(candidate)
    if (trouble === null) return { path: candidate }
    // What is there and cannot be run says more than what is not there.
    if (!isNotFound(trouble)) why = `${candidate} cannot be started (${trouble})`
  }
  return { path: null, why }
}
