import { accessSync, constants, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { assertRegularOrAbsent, errnoOf, StoreError, writeAtomic } from '../state/files.ts'
import { isNotFound, UserError } from '../system/errors.ts'

export const writeResult = (file: string, content: string | Uint8Array): void =>
  writeAtomic(dirname(resolve(file)), basename(file), content, 0o644)

/** Fails before the work is done if its result could not be written. */
export function checkOutput(file: string, flag = '--output'): void {
  const folder = dirname(resolve(file))
  const why = problemIn(folder, file)
  if (why !== null)
    throw new UserError(`The result cannot be written to ${file}: ${why}`, `Give another file with ${flag}.`)
}

function problemIn(folder: string, file: string): string | null {
  try {
    accessSync(folder, constants.W_OK)
    if (!statSync(folder).isDirectory()) return `${folder} is not a writable folder.`
    assertRegularOrAbsent(folder, basename(file))
    return null
  } catch (error) {
    if (error instanceof StoreError) return error.message
    const code = errnoOf(error)
    return `${folder} is not a writable folder${isNotFound(code) ? '' : ` (${code})`}.`
  }
}
