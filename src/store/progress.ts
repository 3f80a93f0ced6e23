import { rmSync } from 'node:fs'
import { join } from 'node:path'
import validate from '../schemas/generated/progress.js'
import type { Progress } from '../schemas/progress.ts'
import { checkFolder, type Refused } from './check-folder.ts'
import { isAlive } from './is-alive.ts'
import { readJson } from './read-json.ts'
import { reviewDir, reviewPaths } from './review-paths.ts'
import { saveJson } from './save-file.ts'

export type ProgressRead =
  | { kind: 'absent' }
  | { kind: 'running'; progress: Progress }
  | { kind: 'died'; progress: Progress }
  | Refused

export function readProgress(root: string): ProgressRead {
  const read = readJson(root, reviewPaths.progress, validate, 64 * 1024)
  if (read.kind !== 'read') return read
  return { kind: isAlive(read.value.pid) ? 'running' : 'died', progress: read.value }
}

export const writeProgress = (root: string, progress: Progress): void => saveJson(root, reviewPaths.progress, progress)

/** Never in the way: a review that ended has ended, whatever became of this file. */
export function clearProgress(root: string): void {
  if (checkFolder(root, reviewDir).kind !== 'folder') return
  try {
    rmSync(join(root, reviewPaths.progress), { force: true })
  } catch {
    // A reader sees that the pid is gone.
  }
}
