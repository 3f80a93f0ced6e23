import { sha256 } from '../system/sha256.ts'
import { reviewPaths } from './own-paths.ts'

export const reflectPath = (sessionId: string): string => `${sessionFolder(sessionId)}/reflect.json`

/** The id comes from the hook's input: one that could mean another place, or no name at all, is hashed. */
export const sessionFolder = (id: string): string =>
  `${reviewPaths.sessions}/${/^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : sha256(id)}`
