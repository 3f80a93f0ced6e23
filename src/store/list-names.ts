import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkFolder } from './check-folder.ts'
import { errnoOf, StoreError } from './store-error.ts'

/** The names in a folder, in order; none where it is missing. One that cannot be looked into is not empty: that throws. */
export function listNames(root: string, folder: string): string[] {
  const check = checkFolder(root, folder)
  if (check.kind === 'refused' && check.errno !== undefined) throw unlistable(folder, check.errno)
  if (check.kind !== 'folder') return []
  try {
    return readdirSync(join(root, folder)).sort()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw unlistable(folder, errnoOf(error), error)
  }
}

const unlistable = (folder: string, errno: string, cause?: unknown): StoreError =>
  new StoreError(folder, `cannot be looked into (${errno})`, undefined, cause)
