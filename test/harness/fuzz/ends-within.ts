import { Script } from 'node:vm'

const holder = globalThis as { fuzzWork?: (() => unknown) | undefined }
const runWork = new Script('globalThis.fuzzWork()')

/** Runs synchronous work that may never end, and says whether it did. */
export function endsWithin(ms: number, work: () => unknown): boolean {
  holder.fuzzWork = work
  try {
    runWork.runInThisContext({ timeout: ms })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  } finally {
    holder.fuzzWork = undefined
  }
}
