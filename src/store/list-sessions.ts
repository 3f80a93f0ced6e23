import validate from '../schemas/generated/session.js'
import type { Session } from '../schemas/session.ts'
import { lstatEntry } from './check-folder.ts'
import { listNames } from './list-names.ts'
import { readJson } from './read-json.ts'
import { throwIfUnreadable } from './refuse-unread.ts'
import { reviewPaths } from './review-paths.ts'

/** `session` is null where only denials were recorded, or the file is of no use, as `why` says. */
export type ListedSession = { folder: string; lastSeenMs: number; session: Session | null; why: string | null }

/** The one that was last heard of first. */
export function listSessions(root: string): readonly ListedSession[] {
  return listNames(root, reviewPaths.sessions)
    .flatMap((name) => listSession(root, `${reviewPaths.sessions}/${name}`))
    .sort((a, b) => b.lastSeenMs - a.lastSeenMs)
}

function listSession(root: string, folder: string): ListedSession[] {
  const entry = lstatEntry(root, folder)
  throwIfUnreadable(folder, entry)
  if (entry.kind !== 'entry' || !entry.stat.isDirectory()) return []
  const read = readJson(root, `${folder}/session.json`, validate)
  const session = read.kind === 'read' ? read.value : null
  const saidMs = session ? Date.parse(session.last_seen_at) : Number.NaN
  const why = read.kind === 'refused' ? read.why : null
  return [{ folder, lastSeenMs: Number.isNaN(saidMs) ? entry.stat.mtimeMs : saidMs, session, why }]
}
