/**
 * What the gate depends on, as it was before each tool call that could write: one small file per running call in the git
 * directory. What differs after the call changed during it.
 */
import { closeSync, constants, unlinkSync, writeSync } from 'node:fs'
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
  unlinkSync(join(gitDir, notePath(id)))
  return {
    approval: note.approval !== signatureOf(root, 'approval'),
    config: note.config !== signatureOf(root, 'config'),
    plan: note.plan !== signatureOf(root, 'plan'),
  }
}

/**
 * Whether a tool call runs here, of any session. A call that the user refused in the dialog or interrupted leaves its note
 * until `sweepCalls`.
 */
export const isCallRunning = (gitDir: string): boolean => listNotes(gitDir).some(isRunning)

const isRunning = ({ note, ageMs }: ListedNote): boolean =>
  note !== null && ageMs < maxAgeMs && (note.client === null || isAlive(note.client))

/** At the start of a session: the calls of its own client are over, and those of clients that are gone. */
export function sweepCalls(gitDir: string): void {
  const client = currentClient()
  for (const listed of listNotes(gitDir))
    if (!isRunning(listed) || listed.note?.client === client || listed.note?.client === null)
      removePath(gitDir, listed.path)
}

/** Pids are reused. */
const maxAgeMs = 24 * 3_600_000

type ListedNote = { path: string; note: CallNote | null; ageMs: number }

const listNotes = (gitDir: string): ListedNote[] =>
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
