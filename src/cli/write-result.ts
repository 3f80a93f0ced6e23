import { accessSync, constants, lstatSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { PassRecord } from '../review/review-request.ts'
import { errnoOf, StoreError } from '../store/store-error.ts'
import { refuseAllButRegular, writeWhole } from '../store/write-whole.ts'
import { isAbsence } from '../system/system-failure.ts'
import { UserError } from '../system/user-error.ts'

export const writeResult = (file: string, text: string): void =>
  writeWhole(dirname(resolve(file)), basename(file), text, undefined, 0o644)

/** Throws where a result could not be written, as long as nothing has been done for it. */
export function checkOutput(file: string, flag = '--output'): void {
  const folder = dirname(resolve(file))
  const why = whyNotFolder(folder) ?? whyNotFile(folder, file)
  if (why !== null)
    throw new UserError(`No result can be written to ${file}: ${why}`, `Give another file with ${flag}.`)
}

function whyNotFolder(folder: string): string | null {
  try {
    accessSync(folder, constants.W_OK)
    return statSync(folder).isDirectory() ? null : `${folder} is no folder that can be written to.`
  } catch (error) {
    const code = errnoOf(error)
    return `${folder} is no folder that can be written to${isAbsence(code) ? '' : ` (${code})`}.`
  }
}

function whyNotFile(folder: string, file: string): string | null {
  try {
    refuseAllButRegular(folder, basename(file))
    return null
  } catch (error) {
    if (error instanceof StoreError) return error.message
    throw error
  }
}

/**
 * `review.json` → `review-pass-1.json` and so on, so that a verdict can be understood afterwards. In the order of asking:
 * a pass that failed is kept beside the one that took its place. What an earlier review left behind goes.
 */
export function passesBeside(file: string, passes: readonly PassRecord[]): void {
  const nameOf = (n: number): string => join(dirname(file), `${basename(file, extname(file))}-pass-${n}.json`)
  for (const [index, pass] of passes.entries()) writeResult(nameOf(index + 1), `${JSON.stringify(pass, null, 2)}\n`)
  for (let n = passes.length + 1; isFile(nameOf(n)); n++) rmSync(nameOf(n))
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
