import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { absoluteEntries } from './search-path.ts'

/** Where the shell would find a program, but for folders that are not absolute; null when nowhere. A name with a separator is taken as a path. */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | null {
  if (isAbsolute(name) || name.includes('/')) return isExecutable(resolve(name)) ? resolve(name) : null
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : ['']
  for (const dir of absoluteEntries(env.PATH ?? ''))
    for (const ending of endings) {
      const candidate = join(dir, name + ending.toLowerCase())
      if (isExecutable(candidate)) return candidate
    }
  return null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
