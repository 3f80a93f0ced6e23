import { posix } from 'node:path'
import { ensureFolder } from './ensure-folder.ts'
import { noStep } from './step.ts'
import { writeWhole } from './write-whole.ts'

/** A file anywhere below a root, whole, with this mode; its folder is made where it is missing. */
export function putFile(root: string, path: string, content: string | Uint8Array, mode: number): void {
  ensureFolder(root, posix.dirname(path))
  writeWhole(root, path, content, noStep, mode)
}
