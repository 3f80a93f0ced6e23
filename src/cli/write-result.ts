import { basename, dirname, extname, join, resolve } from 'node:path'
import type { PassRecord } from '../review/review-request.ts'
import { writeWhole } from '../store/write-whole.ts'

export const writeResult = (file: string, text: string): void =>
  writeWhole(dirname(resolve(file)), basename(file), text, undefined, 0o644)

/** `review.json` → `review-pass-1.json` and so on, so that a verdict can be understood afterwards. */
export function passesBeside(file: string, passes: readonly PassRecord[]): void {
  const stem = join(dirname(file), basename(file, extname(file)))
  for (const pass of passes) writeResult(`${stem}-pass-${pass.pass}.json`, `${JSON.stringify(pass, null, 2)}\n`)
}
