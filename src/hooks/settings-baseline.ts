import { join } from 'node:path'
import { readRegular } from '../store/read-regular.ts'
import { writeSettingsBaseline } from '../store/worktree-baseline.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { readThreats } from './read-threats.ts'

/**
 * Remembers the settings files while they leave the gate whole, so that a command which breaks them can be undone.
 * With a threat in one of them nothing is remembered: the older memory is the better one.
 */
export function rememberSettings(root: string): void {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null || readThreats(root).some(({ whose }) => whose !== 'user')) return
  const main =
    gitDirs.mainRoot === null || gitDirs.mainRoot === root
      ? []
      : [[gitDirs.mainRoot, '.claude/settings.local.json'] as const]
  const files = [[root, '.claude/settings.json'] as const, [root, '.claude/settings.local.json'] as const, ...main]
  const texts = files.map(([dir, path]) => ({ path: join(dir, path), read: readRegular(dir, path) }))
  // null means that there was none, and a file that comes later is taken away for it.
  if (texts.some(({ read }) => read.kind === 'refused')) return
  writeSettingsBaseline(gitDirs.own, {
    files: Object.fromEntries(
      texts.map(({ path, read }) => [path, read.kind === 'read' ? read.bytes.toString('utf8') : null]),
    ),
  })
}
