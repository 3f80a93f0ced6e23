import { closeSync, constants, writeSync } from 'node:fs'
import { join } from 'node:path'
import {
  ensureFolder,
  isAlive,
  listNames,
  lstatEntry,
  openRegular,
  readAnyJson,
  readRegular,
  removePath,
  StoreError,
} from '../state/files.ts'
import { configFile, gitDirFolder, planPath, reviewPaths } from '../state/own-paths.ts'
import { fileSignature } from '../state/records.ts'
import { systemErrorCode, UserError } from '../system/errors.ts'
import { sha256 } from '../system/sha256.ts'

/**
 * One small file in the git directory per running call that the gate has let through: what was judged, and for a call that
 * could change anything, what the gate depends on. What differs after the call changed during it.
 */

const watched = { approval: reviewPaths.approval, config: configFile, plan: planPath } as const

type Watched = keyof typeof watched

type CallNote = {
  readonly client: number | null
  /** The sha256 of the tool and its input. */
  readonly input: string
  readonly wasOpen: boolean
  /** Whether the user was asked. */
  readonly asked: boolean
  /** As `fileSignature` makes them; null for a call that changes only the file that it names. */
  readonly files: { readonly [name in Watched]: string } | null
}

const folder = `${gitDirFolder}/calls`

/** Ids come from the hook's input, and stay apart on disks that ignore case. */
const notePath = (id: string): string => `${folder}/${Buffer.from(id).toString('hex').slice(0, 128) || 'unnamed'}.json`

const ofEach = <T>(read: (name: Watched) => T): { [name in Watched]: T } => ({
  approval: read('approval'),
  config: read('config'),
  plan: read('plan'),
})

export const signatureOf = (root: string, name: Watched): string => fileSignature([join(root, watched[name])])

const currentClient = (): number | null => Number(process.env.CLAUDE_PID) || null

type Call = { readonly tool_name: string; readonly tool_input: object; readonly tool_use_id?: string }

const digestOf = ({ tool_name, tool_input }: Call): string => sha256(JSON.stringify([tool_name, tool_input]))

/** Before the call. Throws where it cannot be written: a call without a note would be taken for one that nobody judged. */
export function noteCall(
  gitDir: string,
  call: Call,
  root: string,
  judged: Pick<CallNote, 'wasOpen' | 'asked'> & { couldChangeAnything: boolean },
): void {
  const { couldChangeAnything, ...rest } = judged
  const files = couldChangeAnything ? ofEach((name) => signatureOf(root, name)) : null
  const note: CallNote = { client: currentClient(), input: digestOf(call), ...rest, files }
  write(gitDir, notePath(call.tool_use_id ?? ''), JSON.stringify(note))
}

/** On the gate's hot path: one write, no fsync. A crash leaves a note that is not JSON, which is none. */
function write(gitDir: string, path: string, text: string, mode = constants.O_TRUNC): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | mode
  let opened = openRegular(gitDir, path, flags)
  if (opened.kind === 'absent') {
    ensureFolder(gitDir, folder)
    opened = openRegular(gitDir, path, flags)
  }
  if (opened.kind !== 'opened') throw new StoreError(path, opened.kind === 'refused' ? opened.why : 'cannot be made')
  try {
    if (writeSync(opened.fd, text) < Buffer.byteLength(text)) throw new StoreError(path, 'cannot be written (ENOSPC)')
  } finally {
    closeSync(opened.fd)
  }
}

export type EndedCall = NonNullable<ReturnType<typeof endCall>>

/** After the call. Null where nothing was noted before it. */
export function endCall(gitDir: string, call: Call, root: string) {
  const path = notePath(call.tool_use_id ?? '')
  const note = readNote(gitDir, path)
  if (note === null) return null
  removePath(gitDir, path)
  recordEnd(gitDir, path)
  const { files, wasOpen, asked } = note
  return {
    /** Whether it is another file now, perhaps with the same content. Null for a call that changes only what it names. */
    changed: files && ofEach((name) => files[name] !== signatureOf(root, name)),
    /** Whether it ran with another input than was judged. */
    isRewritten: note.input !== digestOf(call),
    wasOpen,
    asked,
  }
}

function recordEnd(gitDir: string, path: string): void {
  try {
    write(gitDir, endedPath, `${path}\n`, constants.O_APPEND)
  } catch (error) {
    // On a full disk the checks after the call go on.
    if (systemErrorCode(error) === null && !(error instanceof StoreError)) throw error
  }
}

/** Where two settings files have entries of ours that differ, PostToolUse runs twice for a call. */
export function hasEnded(gitDir: string, { tool_use_id = '' }: Call): boolean {
  const read = readRegular(gitDir, endedPath, 64 * 1024 * 1024)
  return read.kind === 'read' && read.bytes.includes(`${notePath(tool_use_id)}\n`)
}

const endedPath = `${gitDirFolder}/ended-calls`

/** A call that the user refused in the dialog or interrupted leaves its note until `sweepCalls`. */
export const isCallRunning = (gitDir: string): boolean => listNotes(gitDir).some(isRunning)

/** Only the user decides: not a command of Claude's. The user's own `!` command runs while no tool does. */
export function assertNoToolCall(gitDir: string): void {
  if (process.env.CLAUDECODE === undefined || !isCallRunning(gitDir)) return
  throw new UserError(
    'This is a decision of the user, and a tool call of Claude Code is running.',
    'The user runs it in a terminal of their own.',
    1,
  )
}

const isRunning = (listed: ListedNote): boolean => listed.note?.files != null && isFresh(listed)

const isFresh = ({ note, ageMs }: ListedNote): boolean =>
  note !== null && ageMs < maxAgeMs && (note.client === null || isAlive(note.client))

/** At the start of a session its client's calls are over, and those of clients that are gone. */
export function sweepCalls(gitDir: string): void {
  const client = currentClient()
  removePath(gitDir, endedPath)
  for (const listed of listNotes(gitDir)) {
    const isOwn = listed.note?.client === client || listed.note?.client === null
    if (isFresh(listed) && !isOwn) continue
    removePath(gitDir, listed.path)
    if (isOwn) recordEnd(gitDir, listed.path)
  }
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
  const value = readAnyJson(gitDir, path) as CallNote | null
  return typeof value?.input === 'string' ? value : null
}
