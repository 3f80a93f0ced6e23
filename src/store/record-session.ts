import validate from '../schemas/generated/session.js'
import type { Session } from '../schemas/session.ts'
import { readJson } from './read-json.ts'
import { saveJson } from './save-file.ts'
import { sessionFolder } from './session-folder.ts'

export type Heartbeat = Omit<Session, 'started_at' | 'last_seen_at'>

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
