import { join } from 'node:path'
import { readThreats } from '../../src/hooks/read-threats.ts'
import { readGitDirs } from '../../src/system/git-dirs.ts'
import { localSettings } from '../install/plan-install.ts'
import { failed, type Row, warning } from './row.ts'

/**
 * Settings from beyond the worktree that would switch its gate off; none is the usual case. The main checkout's local
 * file counts in each of its worktrees. What users have in their own settings is theirs to decide.
 */
export function checkSettings(root: string): Row[] {
  const mainRoot = readGitDirs(root)?.mainRoot ?? null
  const lent = mainRoot === null ? null : join(mainRoot, localSettings)
  return readThreats(root).flatMap(({ file, what, remedy, whose }) => {
    if (whose === 'user') return [warning('settings', `${file}: ${what}`, remedy)]
    return file === lent ? [failed('settings', `${file}: ${what}`, remedy)] : []
  })
}
