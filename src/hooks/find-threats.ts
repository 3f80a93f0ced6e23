import { join } from 'node:path'
import { parseSettings } from '../protocol/settings.ts'
import { type Role, settingsThreats, type Threat } from '../protocol/settings-threats.ts'
import type { Refused } from '../store/check-folder.ts'
import { readRegular } from '../store/read-regular.ts'
import { claudeDir } from '../system/claude-dir.ts'
import { readThroughLinks } from './read-through-links.ts'

/** `file` is `path` below `dir`. */
export type FileThreat = Threat & {
  file: string
  dir: string
  path: string
  whose: 'project' | 'local' | 'main checkout' | 'user' | 'install record'
  /** Where it is not what stands in the file, but that the file cannot be read. */
  refused?: Refused
}

/** Which file our entries were written to, and what it held then, in base64. */
export type InstalledSettings = { readonly path: string; readonly after: string }

/** `readThreats` for who knows what was installed. */
export function findThreats(root: string, mainRoot: string | null, ours: InstalledSettings | null): FileThreat[] {
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
    return [{ file, dir, path, whose, what: read.why, remedy: 'Replace it by a plain file.', refused: read }]
  const text = read.kind === 'read' ? read.bytes.toString('utf8') : null
  return settingsThreats(text, role, whose === 'user').map((threat) => ({ ...threat, file, dir, path, whose }))
}
