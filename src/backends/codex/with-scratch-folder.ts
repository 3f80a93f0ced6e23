import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that only this user can look into, for as long as an act lasts. */
export async function withScratchFolder<T>(parent: string | null, act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(realpathSync(parent ?? tmpdir()), 'plan-gate-codex-'))
  const remove = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // What stays there is no reason to lose an answer.
    }
  }
  process.once('exit', remove)
  try {
    return await act(folder)
  } finally {
    process.off('exit', remove)
    remove()
  }
}
