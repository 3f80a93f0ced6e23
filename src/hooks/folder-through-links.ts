import { statSync } from 'node:fs'
import { errnoOf } from '../store/store-error.ts'

/** What tells a folder from any other, by whatever links it is reached; null: no folder that anybody can enter. */
export function folderThroughLinks(path: string): string | null {
  try {
    const stat = statSync(path, { bigint: true })
    return stat.isDirectory() ? `${stat.dev} ${stat.ino}` : null
  } catch (error) {
    if (noFolder.includes(errnoOf(error) ?? '')) return null
    throw error
  }
}

/** A link may lead nowhere, in circles, through a file, or to where this user may not go. */
const noFolder = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']
