import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseSettings } from '../protocol/settings.ts'
import { type Expected, settingsThreats, type Threat } from '../protocol/settings-threats.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { readRegular } from '../store/read-regular.ts'
import { readGitDirs } from '../system/git-dirs.ts'

export type FileThreat = Threat & { file: string; whose: 'project' | 'local' | 'main checkout' | 'user' }

/**
 * Everything in the settings that a session in this worktree reads which would switch the gate off. The main
 * checkout's settings.local.json counts for a linked worktree too, and more than the worktree's own.
 */
export function readThreats(root: string): FileThreat[] {
  const gitDirs = readGitDirs(root)
  const mainRoot = gitDirs?.mainRoot ?? null
  const record = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  const ours = record?.kind === 'read' && record.value.settings.path !== '' ? record.value.settings : null
  const installed = parseSettings(Buffer.from(ours?.after ?? '', 'base64').toString('utf8'))
  const expectedIn = (path: string): Expected =>
    ours?.path === path && installed.kind === 'settings'
      ? { kind: 'all', installed: installed.settings }
      : { kind: 'none' }
  return [
    ...threatsIn(root, '.claude/settings.json', 'project', expectedIn('.claude/settings.json')),
    ...threatsIn(root, '.claude/settings.local.json', 'local', expectedIn('.claude/settings.local.json')),
    ...(mainRoot === null || mainRoot === root
      ? []
      : threatsIn(mainRoot, '.claude/settings.local.json', 'main checkout', { kind: 'none' })),
    ...threatsIn(process.env.CLAUDE_CONFIG_DIR ?? join(homedir(), '.claude'), 'settings.json', 'user', {
      kind: 'none',
    }),
  ]
}

function threatsIn(dir: string, path: string, whose: FileThreat['whose'], expected: Expected): FileThreat[] {
  const file = join(dir, path)
  const read = readRegular(dir, path)
  // Users keep their own settings behind links; only in the worktree is a link a trap.
  if (read.kind === 'refused' && (whose === 'project' || whose === 'local'))
    return [{ file, whose, what: read.why, remedy: 'Replace it by a plain file.' }]
  const text = read.kind === 'read' ? read.bytes.toString('utf8') : null
  return settingsThreats(text, expected).map((threat) => ({ ...threat, file, whose }))
}
