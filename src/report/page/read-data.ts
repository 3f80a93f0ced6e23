import { unpackText } from '../pack-texts.ts'
import type { PageData } from '../page-data.ts'

let read: PageData | undefined

/** Parsed when it is first asked for. */
export function readData(): PageData {
  read ??= JSON.parse(document.getElementById('page-data')?.textContent ?? '') as PageData
  return read
}

export const linesOf = (index: number): readonly string[] => unpackText(readData().plans, index)
