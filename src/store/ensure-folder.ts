import { mkdirSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, foldersDownTo, lstatEntry } from './check-folder.ts'
import { reviewDir } from './review-paths.ts'
import { errnoOf, StoreError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'

/** Makes what is missing below the root. Plans and what was said about them are for their owner alone. */
export function ensureFolder(root: string, folder: string): void {
  for (const path of foldersDownTo(folder)) {
    const entry = lstatEntry(root, path)
    if (entry.kind === 'entry' && entry.stat.isDirectory()) continue
    if (entry.kind === 'absent') makeFolder(root, path)
    else
      throw new StoreError(
        path,
        entry.kind === 'entry' ? `is ${describe(entry.stat)}, not a directory` : `cannot be looked at (${entry.errno})`,
      )
  }
}

function makeFolder(root: string, path: string): void {
  try {
    mkdirSync(join(root, path), { mode: isReview(path) ? 0o700 : 0o777 })
  } catch (error) {
    // Another hook made it first; if something else did, the next step refuses it.
    if (errnoOf(error) === 'EEXIST') return
    throw new StoreError(path, `cannot be made (${errnoOf(error)})`, undefined, error)
  }
  syncFolder(join(root, posix.dirname(path)))
}

const isReview = (path: string): boolean => path === reviewDir || path.startsWith(`${reviewDir}/`)
