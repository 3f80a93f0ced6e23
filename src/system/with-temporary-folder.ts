import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** For as long as an act lasts, and gone after it, also where a signal ends it. */
export async function withTemporaryFolder<T>(purpose: string, act: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `plan-gate-${purpose}-`)))
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', remove)
  try {
    return await act(folder)
  } finally {
    process.off('exit', remove)
    remove()
  }
}
