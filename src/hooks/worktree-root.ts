import { dirname, join, resolve } from 'node:path'
import { hooksDir } from '../protocol/hook-entries.ts'

/**
 * The worktree that this hook guards. `cwd` moves with the session, so it is never asked. `CLAUDE_PROJECT_DIR` cannot
 * be set from a settings file; where it is missing, the place of the installed bundle tells.
 */
export function worktreeRoot(): string {
  const named = process.env.CLAUDE_PROJECT_DIR
  if (named !== undefined && named !== '') return resolve(named)
  const here = dirname(process.getBuiltinModule('node:url').fileURLToPath(import.meta.url))
  const root = resolve(here, '../../..')
  if (join(root, hooksDir) === here) return root
  throw new Error('CLAUDE_PROJECT_DIR is not set, so the worktree is not known')
}
