import { join } from 'node:path'
import { parseSettings } from '../protocol/settings.ts'
import { type Role, settingsThreats, type Threat } from '../protocol/settings-threats.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { readRegular } from '../store/read-regular.ts'
import { claudeDir } from '../system/claude-dir.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { readThroughLinks } from './read-through-links.ts'

/** `file` is `path` below `dir`. */
export type FileThreat = Threat & {
  file: string
  dir: string
  path: string
  whose: 'project' | 'local' | 'main checkout' | 'user'
}

/**
 * Everything in the settings that a session in this worktree reads which would switch the gate off. The main
 * checkout's settings.local.json counts for a linked worktree too, and more than the worktree's own.
 */
export function readThreats(root: string): FileThreat[] {
  const gitDirs = readGitDirs(root)
  const mainRoot = gitDirs?.mainRoot ?? null
  const record = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  const ours = record?.kind === 'read' ? record.value.settings : null
  const parsed = parseSettings(Buffer.from(ours?.after ?? '', 'base64').toString('utf8'))
  const installed = parsed.kind === 'settings' ? parsed.settings : {}
  const others: Role = { kind: 'others', installed }
  const roleOf = (path: string): Role => (ours?.path === path ? { kind: 'carries', installed } : others)
  return [
    ...threatsIn(root, '.claude/settings.json', 'project', roleOf('.claude/settings.json')),
    ...threatsIn(root, '.claude/settings.local.json', 'local', roleOf('.claude/settings.local.json')),
    ...(mainRoot === null || mainRoot === root
      ? []
      : threatsIn(mainRoot, '.claude/settings.local.json', 'main checkout', others)),
    ...threatsIn(claudeDir(), 'settings.json', 'user', others),
  ]
}

function threatsIn(dir: string, path: string, whose: FileThreat['whose'], role: Role): FileThreat[] {
  const file = join(dir, path)
  // Users may keep their own settings behind links; in the worktree a link is a trap.
  const isOurs = whose === 'project' || whose === 'local'
  const read = isOurs ? readRegular(dir, path) : readThroughLinks(file)
  if (read.kind === 'refused')
    return [{ file, dir, path, whose, what: read.why, remedy: 'Replace it by a plain file.' }]
  const text = read.kind === 'read' ? read.bytes.toString('utf8') : null
  return settingsThreats(text, role, whose === 'user').map((threat) => ({ ...threat, file, dir, path, whose }))
}
