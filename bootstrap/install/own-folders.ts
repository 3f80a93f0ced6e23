import { dirname } from 'node:path/posix'

/** Every folder on the way to these files, outermost first. */
export function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths) for (let dir = dirname(path); dir !== '.'; dir = dirname(dir)) folders.add(dir)
  return [...folders].sort((a, b) => a.length - b.length)
}
