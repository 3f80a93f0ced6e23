import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { errnoOf, StoreError } from './store-error.ts'

export type FolderCheck = { kind: 'absent' } | { kind: 'folder' } | Refused

/** `errno`: the system would not tell; without one it did, and what is there is not what it must be. */
export type Refused = { kind: 'refused'; why: string; errno?: string }

/**
 * Is every component below the root a real folder? Node has no `openat`, so what is checked here could be swapped before
 * it is used; whoever can do that can write the files themselves.
 */
export function checkFolder(root: string, folder: string): FolderCheck {
  for (const path of foldersDownTo(folder)) {
    const entry = lstatEntry(root, path)
    if (entry.kind !== 'entry') return entry
    if (!entry.stat.isDirectory())
      return { kind: 'refused', why: `${path} is ${describe(entry.stat)}, not a directory` }
  }
  return { kind: 'folder' }
}

/** `a/b/c` → `a`, `a/b`, `a/b/c`. */
export const foldersDownTo = (folder: string): string[] =>
  folder === '.' ? [] : folder.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))

export function lstatEntry(root: string, path: string): { kind: 'absent' } | { kind: 'entry'; stat: Stats } | Refused {
  try {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false })
    return stat ? { kind: 'entry', stat } : { kind: 'absent' }
  } catch (error) {
    const errno = errnoOf(error)
    return { kind: 'refused', why: `${path} cannot be looked at (${errno})`, errno }
  }
}

/** For whoever goes on from the answer: what cannot be looked at is not taken for absent. */
export function pathExists(root: string, path: string): boolean {
  const entry = lstatEntry(root, path)
  if (entry.kind === 'refused') throw new StoreError(path, `cannot be looked at (${entry.errno})`)
  return entry.kind === 'entry'
}

export function describe(stat: Stats): string {
  if (stat.isSymbolicLink()) return 'a symbolic link'
  if (stat.isDirectory()) return 'a directory'
  if (stat.isFIFO()) return 'a named pipe'
  if (stat.isSocket()) return 'a socket'
  if (stat.isFile()) return 'a file'
  return 'a device'
}
