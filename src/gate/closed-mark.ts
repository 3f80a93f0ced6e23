import { statSync } from 'node:fs'
import { join } from 'node:path'
import { listNames, putFile, readRegular, removePath } from '../state/files.ts'
import { gitDirFolder } from '../state/own-paths.ts'
import { sessionName } from '../state/sessions.ts'
import { printable } from '../text/clean.ts'
import { parseJson } from '../text/json.ts'

/** `plan-gate/closed/<session>` in the git directory: sessions in which the gate stays closed, approval or not. */

const folder = `${gitDirFolder}/closed`
const markPath = (session: string): string => `${folder}/${sessionName(session)}`

type Mark = {
  /** One line, for people. */
  readonly why: string
  /** What it ends with: nothing, the user's consent, a start in the root, or the end of the checks at the start. */
  readonly cause: 'bypassed' | 'untrusted' | 'below' | 'unchecked'
  /** Whether a command that only reads may run something else in this session. */
  readonly turnsCommands: boolean
}

export function closeGate(
  gitDir: string,
  session: string,
  why: string,
  { cause = 'bypassed', turnsCommands = false }: Partial<Mark> = {},
): void {
  for (const name of listNames(gitDir, folder)) if (isOld(join(gitDir, folder, name))) openGate(gitDir, name)
  if (cause !== 'bypassed' && gateClosedFor(gitDir, session)?.cause === 'bypassed') return
  const told = turnsCommands ? `${why}; it can make any command run something else` : why
  putFile(gitDir, markPath(session), JSON.stringify({ why: told, cause, turnsCommands } satisfies Mark), 0o600)
}

/** Null where the gate is not closed in this session. A mark that cannot be read closes it, too, and for every command. */
export function gateClosedFor(gitDir: string, session: string | undefined): Mark | null {
  if (session === undefined) return null
  const read = readRegular(gitDir, markPath(session), 64 * 1024)
  if (read.kind === 'absent') return null
  const mark = read.kind === 'read' ? (parseJson(read.bytes.toString('utf8')) as Mark | undefined) : undefined
  if (typeof mark?.why === 'string' && typeof mark.turnsCommands === 'boolean') return mark
  const why = read.kind === 'read' ? `${markPath(session)} in the git directory is damaged` : read.why
  return { why, cause: 'bypassed', turnsCommands: true }
}

export const closedSessions = (gitDir: string): readonly { readonly session: string; readonly why: string }[] =>
  listNames(gitDir, folder).flatMap((session) => {
    const why = gateClosedFor(gitDir, session)?.why
    return why === undefined ? [] : [{ session, why }]
  })

export const openGate = (gitDir: string, session: string): void => removePath(gitDir, markPath(session))

/** While a session starts: whatever ends the checks before their end leaves it closed. `closeUntrusted` ends it. */
export const closeUnchecked = (gitDir: string, session: string): void =>
  closeGate(
    gitDir,
    session,
    'what this session loads was not checked to the end when it started (`plan-gate doctor` looks for the cause; `plan-gate open` starts one that loads nothing of the repository)',
    { cause: 'unchecked', turnsCommands: true },
  )

/** `files`: relative to the root. */
export const loadsBelow = (files: readonly string[]): string =>
  `this session was started in a folder below the worktree’s root, and loads from there what nobody is asked about: ${shortList(files)} (\`plan-gate open\` starts a session in the root, without it)`

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
  if (below.length > 0) closeGate(gitDir, session, loadsBelow(below), { cause: 'below', turnsCommands: true })
  else if (ids.length > 0) {
    const why = `this session was not started by plan-gate, and it may load what nobody has agreed to: ${shortList(ids)} (\`plan-gate trust\` lists what it is and allows it; \`plan-gate open\` starts a session without it)`
    closeGate(gitDir, session, why, { cause: 'untrusted', turnsCommands: !ids.every((id) => loadedByCall.test(id)) })
  } else if (!['bypassed', undefined].includes(gateClosedFor(gitDir, session)?.cause)) openGate(gitDir, session)
}

/** Judged when it is called, or a program of its own. Variables, hooks, plugins and settings act on what others start. */
const loadedByCall = /^(?:skill|agent|command|output-style|mcp):/

const shortList = (names: readonly string[]): string =>
  [
    ...names.slice(0, 5).map((name) => printable(name, 60)),
    ...(names.length > 5 ? [`${names.length - 5} more`] : []),
  ].join(', ')

/** Once the user has agreed to all of it. */
export function openTrusted(gitDir: string): void {
  for (const name of listNames(gitDir, folder))
    if (gateClosedFor(gitDir, name)?.cause === 'untrusted') openGate(gitDir, name)
}

/** Claude Code forgets a session that was not used for a month. */
const isOld = (path: string): boolean =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > 60 * 24 * 3_600_000
