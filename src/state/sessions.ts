import { rmSync } from 'node:fs'
import { join } from 'node:path'
import validate from '../schemas/generated/session.js'
import type { Session } from '../schemas/records.ts'
import { listNames, lstatEntry, readJson, saveJson, sweepTemporaries, throwIfUnreadable } from './files.ts'
import { reviewPaths } from './own-paths.ts'
import { sessionFolder } from './session-folder.ts'

/** Whoever was heard of since then has ended with the program that ran them. One that goes on says so again. */
export function endSessions(root: string, since: Date, now: Date): void {
  for (const { folder, lastSeenMs, session } of listSessions(root))
    if (session !== null && lastSeenMs >= since.getTime())
      saveJson(root, `${folder}/session.json`, { ...session, ended_at: now.toISOString() } satisfies Session)
}

/** `session` is null where only denials were recorded, or the file is of no use, as `why` says. */
type ListedSession = { folder: string; lastSeenMs: number; session: Session | null; why: string | null }

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

/** Keeps the newest. rmSync removes links, it does not go through them. */
export function pruneSessions(root: string, keep = 50): void {
  const sessions = listSessions(root)
  for (const { folder } of sessions.slice(0, keep)) sweepTemporaries(root, folder)
  for (const { folder } of sessions.slice(keep)) rmSync(join(root, folder), { recursive: true, force: true })
}

type Heartbeat = Omit<Session, 'started_at' | 'last_seen_at'>

const quietMs = 15_000

/** That this session is alive. Called by any hook, so it writes only when there is something to say. */
export function recordSession(root: string, heartbeat: Heartbeat, now: Date): void {
  const path = `${sessionFolder(heartbeat.session_id)}/session.json`
  const read = readJson(root, path, validate)
  const known = read.kind === 'read' ? read.value : undefined
  if (known && isSame(known, heartbeat) && now.getTime() - Date.parse(known.last_seen_at) < quietMs) return
  const started_at = known?.started_at ?? now.toISOString()
  saveJson(root, path, { ...heartbeat, started_at, last_seen_at: now.toISOString() } satisfies Session)
}

const isSame = (known: Session, { session_id, client_version, source, cwd }: Heartbeat): boolean =>
  known.session_id === session_id &&
  known.client_version === client_version &&
  known.source === source &&
  known.cwd === cwd
