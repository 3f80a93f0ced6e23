import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { listSessions } from './list-sessions.ts'
import { sweepTemporaries } from './sweep-temporaries.ts'

/** Keeps the newest. rmSync removes links, it does not go through them. */
export function pruneSessions(root: string, keep = 50): void {
  const sessions = listSessions(root)
  for (const { folder } of sessions.slice(0, keep)) sweepTemporaries(root, folder)
  for (const { folder } of sessions.slice(keep)) rmSync(join(root, folder), { recursive: true, force: true })
}
