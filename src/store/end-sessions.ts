import type { Session } from '../schemas/session.ts'
import { listSessions } from './list-sessions.ts'
import { saveJson } from './save-file.ts'

/** Whoever was heard of since then has ended with the program that ran them. One that goes on says so again. */
export function endSessions(root: string, since: Date, now: Date): void {
  for (const { folder, lastSeenMs, session } of listSessions(root))
    if (session !== null && lastSeenMs >= since.getTime())
      saveJson(root, `${folder}/session.json`, { ...session, ended_at: now.toISOString() } satisfies Session)
}
