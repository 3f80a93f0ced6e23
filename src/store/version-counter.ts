import { readRegular } from './read-regular.ts'
import { reviewPaths } from './review-paths.ts'
import { saveFile } from './save-file.ts'
import { noStep, type Step } from './step.ts'

/** How many revisions of this cycle were reviewed. `why` says why it is 0 where the file does not. */
export type Counter = { value: number; why: string | null }

export function readCounter(root: string): Counter {
  const path = reviewPaths.counter
  const read = readRegular(root, path, 64)
  switch (read.kind) {
    case 'absent':
      return { value: 0, why: `${path} does not exist` }
    case 'refused':
      return { value: 0, why: read.why }
    case 'read': {
      const text = read.bytes.toString('latin1')
      return /^\d{1,6}\n?$/.test(text) ? { value: Number(text), why: null } : { value: 0, why: `${path} has no number` }
    }
  }
}

export const writeCounter = (root: string, value: number, step: Step = noStep): void =>
  saveFile(root, reviewPaths.counter, `${value}\n`, step)
