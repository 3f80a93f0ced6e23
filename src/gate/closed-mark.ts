import { statSync } from 'node:fs'
import { join } from 'node:path'
import { listNames, putFile, readRegular, removePath } from '../state/files.ts'
import { gitDirFolder } from '../state/own-paths.ts'
import { sessionName } from '../state/sessions.ts'
import { printable } from '../text/clean.ts'

/** `plan-gate/closed/<session>` in the git directory: sessions in which the gate stays closed, approval or not. */

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

const startedBelow = 'this session was started in a folder below the worktree’s root, and loads from there '

/** `files`: relative to the root. */
export const loadsBelow = (files: readonly string[]): string =>
  `${startedBelow}what nobody is asked about: ${shortList(files)} (\`plan-gate open\` starts a session in the root, without it)`

/**
 * `ids` of what a session loads that the user has not agreed to, and files that it takes from a folder below; where there
 * is neither, these marks end, and no others.
 */
export function closeUntrusted(
  gitDir: string,
  session: string,
  ids: readonly string[],
  below: readonly string[],
): void {
  const remedy = '`plan-gate trust` lists what it is and allows it; `plan-gate open` starts a session without it'
  if (below.length > 0) closeGate(gitDir, session, loadsBelow(below) + reachesCommands)
  else if (ids.length > 0) {
    const why = `${loadsUntrusted}${shortList(ids)} (${remedy})`
    closeGate(gitDir, session, ids.every((id) => loadedByCall.test(id)) ? why : why + reachesCommands)
  } else if ([loadsUntrusted, startedBelow].some((mark) => gateClosedFor(gitDir, session)?.startsWith(mark)))
    openGate(gitDir, session)
}

const reachesCommands = '; it can make any command run something else'
/** Judged when it is called, or a program of its own. Variables, hooks, plugins and settings act on what others start. */
const loadedByCall = /^(?:skill|agent|command|output-style|mcp):/

/** Whether a command that only reads may not do so in the session that is closed for this reason. */
export const canTurnCommands = (why: string | null): boolean => why?.endsWith(reachesCommands) ?? false

const shortList = (names: readonly string[]): string =>
  [
    ...names.slice(0, 5).map((name) => printable(name, 60)),
    ...(names.length > 5 ? [`${names.length - 5} more`] : []),
  ].join(', ')

/** Once the user has agreed to all of it. */
export function openTrusted(gitDir: string): void {
  for (const { session, why } of closedSessions(gitDir)) if (why.startsWith(loadsUntrusted)) openGate(gitDir, session)
}

/** Claude Code forgets a session that was not used for a month. */
const isOld = (path: string): boolean =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > 60 * 24 * 3_600_000
