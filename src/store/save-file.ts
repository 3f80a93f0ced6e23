import { posix } from 'node:path'
import { ensureReviewDir } from './ensure-review-dir.ts'
import { noStep, type Step } from './step.ts'
import { writeWhole } from './write-whole.ts'

/** `writeWhole` for a file in `.claude/review`, whose folder is made where it is missing. */
export function saveFile(root: string, path: string, content: string | Uint8Array, step: Step = noStep): void {
  ensureReviewDir(root, posix.dirname(path), step)
  writeWhole(root, path, content, step)
}

export const saveJson = (root: string, path: string, value: unknown, step: Step = noStep): void =>
  saveFile(root, path, `${JSON.stringify(value, null, 2)}\n`, step)
