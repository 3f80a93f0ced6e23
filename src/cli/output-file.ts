import { accessSync, constants, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { assertRegularOrAbsent, errnoOf, StoreError, writeAtomic } from '../state/files.ts'
import { isNotFound, UserError } from '../system/errors.ts'

export const writeResult = (file: string, text: string): void =>
  writeAtomic(dirname(resolve(file)), basename(file), text, 0o644)

/** Throws where a result could not be written, as long as nothing has been done for it. */
export function checkOutput(file: string, flag = '--output'): void {
  const folder = dirname(resolve(file))
  const why = folderProblem(folder) ?? fileProblem(folder, file)
  if (why !== null)
    throw new UserError(`No result can be written to ${file}: ${why}`, `Give another file with ${flag}.`)
}

function folderProblem(folder: string): string | null {
  try {
    accessSync(folder, constants.W_OK)
    return statSync(folder).isDirectory() ? null : `${folder} is no folder that can be written to.`
  } catch (error) {
    const code = errnoOf(error)
    return `${folder} is no folder that can be written to${isNotFound(code) ? '' : ` (${code})`}.`
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
