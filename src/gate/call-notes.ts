/**
 * What the gate depends on, as it was before each tool call that could write: one small file per running call in the git
 * directory. What differs after the call changed during it.
 */
import { closeSync, constants, writeSync } from 'node:fs'
import { join } from 'node:path'
import {
  ensureFolder,
  isAlive,
  listNames,
  lstatEntry,
  openRegular,
  readAnyJson,
  removePath,
  StoreError,
} from '../state/files.ts'
import { configFile, gitDirFolder, planPath, reviewPaths } from '../state/own-paths.ts'
import { fileSignature } from '../state/records.ts'

const watched = { approval: reviewPaths.approval, config: configFile, plan: planPath } as const

type Watched = keyof typeof watched

/** Signatures as `fileSignature` makes them. `client`: the pid of the Claude Code that runs the call. */
type CallNote = { readonly [name in Watched]: string } & { readonly client: number | null }

/** Whether it is another file than before the call. Its content may be the same. */
export type ChangedDuringCall = { readonly [name in Watched]: boolean }

const folder = `${gitDirFolder}/calls`

/** Ids come from the hook's input, and stay apart on disks that ignore case. */
const notePath = (id: string): string => `${folder}/${Buffer.from(id).toString('hex').slice(0, 128) || 'unnamed'}.json`

export const signatureOf = (root: string, name: Watched): string => fileSignature([join(root, watched[name])])

const currentClient = (): number | null => Number(process.env.CLAUDE_PID) || null

/** Before the call. A disk that is full does not keep an approved call from running: without a note, less is known after it. */
export function noteCall(gitDir: string, id: string, root: string): void {
  const note: CallNote = {
    approval: signatureOf(root, 'approval'),
    config: signatureOf(root, 'config'),
    plan: signatureOf(root, 'plan'),
    client: currentClient(),
  }
  try {
    write(gitDir, notePath(id), JSON.stringify(note))
  } catch (error) {
    if (!(error instanceof StoreError) && !(error instanceof Error && 'code' in error)) throw error
  }
}

/** On the gate's hot path: one write, no fsync. A crash leaves a note that is not JSON, which is none. */
function write(gitDir: string, path: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC
  let opened = openRegular(gitDir, path, flags)
  if (opened.kind === 'absent') {
    ensureFolder(gitDir, folder)
    opened = openRegular(gitDir, path, flags)
  }
  if (opened.kind !== 'opened') return
  try {
    writeSync(opened.fd, text)
  } finally {
    closeSync(opened.fd)
  }
}

/** After the call: what changed during it. Null where nothing was noted before it. */
export function endCall(gitDir: string, id: string, root: string): ChangedDuringCall | null {
  const note = readNote(gitDir, notePath(id))
  if (note === null) return null
  removePath(gitDir, notePath(id))
  return changedSince(note, root)
}

const changedSince = (note: CallNote, root: string): ChangedDuringCall => ({
  approval: note.approval !== signatureOf(root, 'approval'),
  config: note.config !== signatureOf(root, 'config'),
  plan: note.plan !== signatureOf(root, 'plan'),
})

/** What changed since each call that is running now, of any session in this worktree. Empty: no call runs. */
export const changedDuringRunningCalls = (gitDir: string, root: string): readonly ChangedDuringCall[] =>
  listNotes(gitDir).flatMap(({ note }) =>
    note !== null && (note.client === null || isAlive(note.client)) ? [changedSince(note, root)] : [],
  )

/**
 * Removes the notes of calls that never ended: the user refused them in the dialog or interrupted them, or the session
 * crashed. For moments at which this session runs no call. What changed since them is returned: it may have been them.
 */
export function sweepCalls(gitDir: string, root: string): readonly ChangedDuringCall[] {
  const client = currentClient()
  return listNotes(gitDir).flatMap(({ path, note, ageMs }) => {
    const isRunning = note !== null && note.client !== null && note.client !== client && isAlive(note.client)
    if (isRunning && ageMs < maxAgeMs) return []
    removePath(gitDir, path)
    return note === null ? [] : [changedSince(note, root)]
  })
}

/** Pids are reused. */
const maxAgeMs = 24 * 3_600_000

const listNotes = (gitDir: string): { path: string; note: CallNote | null; ageMs: number }[] =>
  listNames(gitDir, folder).map((name) => {
    const path = `${folder}/${name}`
    const entry = lstatEntry(gitDir, path)
    return { path, note: readNote(gitDir, path), ageMs: entry.kind === 'entry' ? Date.now() - entry.stat.mtimeMs : 0 }
  })

function readNote(gitDir: string, path: string): CallNote | null {
  const value = readAnyJson(gitDir, path) as Partial<CallNote> | null
  const isNote =
    typeof value?.approval === 'string' && typeof value.config === 'string' && typeof value.plan === 'string'
  return isNote ? { ...(value as CallNote), client: typeof value.client === 'number' ? value.client : null } : null
}
