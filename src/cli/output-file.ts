import { accessSync, constants, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { assertRegularOrAbsent, errnoOf, StoreError, writeAtomic } from '../state/files.ts'
import { isNotFound, UserError } from '../system/errors.ts'

export const writeResult = (file: string, content: string | Uint8Array): void =>
  writeAtomic(dirname(resolve(file)), basename(file), content, 0o644)

/** Fails before the work is done if its result could not be written. */
export function checkOutput(file: string, flag = '--output'): void {
  const folder = dirname(resolve(file))
  const why = folderProblem(folder) ?? fileProblem(folder, file)
  if (why !== null)
    throw new UserError(`The result cannot be written to ${file}: ${why}`, `Give another file with ${flag}.`)
}

function folderProblem(folder: string): string | null {
  try {
    accessSync(folder, constants.W_OK)
    return statSync(folder).isDirectory() ? null : `${folder} is not a writable folder.`
  } catch (error) {
    const code = errnoOf(error)
    return `${folder} is not a writable folder${isNotFound(code) ? '' : ` (${code})`}.`
  }
}

function fileProblem(folder: string, file: string): string | null {
  try {
    assertRegularOrAbsent(folder, basename(file))
    return null
  } catch (error) {
    if (error instanceof StoreError) return error.message
    throw error
  }
}
