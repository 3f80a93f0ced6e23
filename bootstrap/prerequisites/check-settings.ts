import { join } from 'node:path'
import { readThreats } from '../../src/hooks/read-threats.ts'
import { readThroughLinks } from '../../src/hooks/read-through-links.ts'
import { readGitDirs } from '../../src/system/git-dirs.ts'
import { findThreats } from '../install/find-threats.ts'
import { localSettings } from '../install/plan-install.ts'
import { type CheckResult, failed, warning } from './row.ts'

/**
 * Settings from beyond the worktree that would switch its gate off; none is the usual case. The main checkout's local
 * file counts in each of its worktrees. What users have in their own settings is theirs to decide.
 */
export function checkSettings(root: string): CheckResult[] {
  const mainRoot = readGitDirs(root)?.mainRoot ?? null
  const lent = mainRoot === null ? [] : threatsIn(join(mainRoot, localSettings))
  const own = readThreats(root).filter(({ whose }) => whose === 'user')
  return [
    ...lent.map(({ file, what, remedy }) => failed('settings', `${file}: ${what}`, remedy)),
    ...own.map(({ file, what, remedy }) => warning('settings', `${file}: ${what}`, remedy)),
  ]
}

function threatsIn(file: string) {
  const read = readThroughLinks(file)
  return findThreats(read.kind === 'read' ? read.bytes.toString('utf8') : '').map((threat) => ({ ...threat, file }))
}
