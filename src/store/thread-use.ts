import validate from '../schemas/generated/thread-use.js'
import type { ThreadUse } from '../schemas/thread-use.ts'
import { readJson } from './read-json.ts'
import { reviewPaths } from './review-paths.ts'
import { saveJson } from './save-file.ts'

/** Null where it is not known for this thread; its next turn then has no count of its own. */
export function readThreadUse(root: string, thread: string): ThreadUse['used'] | null {
  const read = readJson(root, reviewPaths.threadUse, validate, 64 * 1024)
  return read.kind === 'read' && read.value.thread === thread ? read.value.used : null
}

export const writeThreadUse = (root: string, use: ThreadUse): void => saveJson(root, reviewPaths.threadUse, use)
