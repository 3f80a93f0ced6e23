/** `plan-gate/closed/<session>` in the git directory: sessions in which the gate stays closed, approval or not. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { listNames, putFile, readRegular, removePath } from '../state/files.ts'
import { gitDirFolder } from '../state/own-paths.ts'
import { sessionName } from '../state/sessions.ts'
import { printable } from '../text/clean.ts'

const folder = `${gitDirFolder}/closed`
const markPath = (session: string): string => `${folder}/${sessionName(session)}`

/** `why`: one line, for people. */
export function closeGate(gitDir: string, session: string, why: string): void {
  for (const name of listNames(gitDir, folder)) if (isOld(join(gitDir, folder, name))) openGate(gitDir, name)
  putFile(gitDir, markPath(session), why, 0o600)
}

/** Why the gate is closed in this session; null where it is not. A mark that cannot be read closes it, too. */
export function gateClosedFor(gitDir: string, session: string | undefined): string | null {
  if (session === undefined) return null
  const read = readRegular(gitDir, markPath(session), 64 * 1024)
  if (read.kind === 'absent') return null
  return read.kind === 'read' ? read.bytes.toString('utf8') : read.why
}

export const closedSessions = (gitDir: string): readonly { readonly session: string; readonly why: string }[] =>
  listNames(gitDir, folder).map((session) => ({ session, why: gateClosedFor(gitDir, session) ?? '' }))

export const openGate = (gitDir: string, session: string): void => removePath(gitDir, markPath(session))

const loadsUntrusted = 'this session was not started by plan-gate, and it may load what nobody has agreed to: '

/** `ids` of what a session loads that the user has not agreed to; none ends this mark, and no other. */
export function closeUntrusted(gitDir: string, session: string, ids: readonly string[]): void {
  if (ids.length === 0) {
    if (gateClosedFor(gitDir, session)?.startsWith(loadsUntrusted) === true) openGate(gitDir, session)
    return
  }
  const named = [
    ...ids.slice(0, 5).map((id) => printable(id, 60)),
    ...(ids.length > 5 ? [`${ids.length - 5} more`] : []),
  ]
  const remedy = '`plan-gate trust` lists what it is and allows it; `plan-gate open` starts a session without it'
  closeGate(gitDir, session, `${loadsUntrusted}${named.join(', ')} (${remedy})`)
}

/** Once the user has agreed to all of it. */
export function openTrusted(gitDir: string): void {
  for (const { session, why } of closedSessions(gitDir)) if (why.startsWith(loadsUntrusted)) openGate(gitDir, session)
}

/** Claude Code forgets a session that was not used for a month. */
const isOld = (path: string): boolean =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > 60 * 24 * 3_600_000
