import { delimiter, isAbsolute } from 'node:path'

/** A folder that is not absolute is looked for where one stands, which may be a repository with a `git` of its own. */
export const relativeEntries = (path: string | undefined): string[] =>
  path === undefined || path === '' ? [] : path.split(delimiter).filter((entry) => !isAbsolute(entry))

export const absoluteEntries = (path: string): string[] => path.split(delimiter).filter((entry) => isAbsolute(entry))

/** The environment for a program that is to find others only where their folder is named in full. */
export const withAbsolutePath = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  env.PATH === undefined || relativeEntries(env.PATH).length === 0
    ? env
    : { ...env, PATH: absoluteEntries(env.PATH).join(delimiter) }
