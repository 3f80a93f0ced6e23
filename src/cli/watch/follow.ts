import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Denial, LedgerEvent } from '../../schemas/records.ts'
import { errnoOf } from '../../state/files.ts'
import { readEvents } from '../../state/ledger.ts'
import { configFile, planPath, reviewDir, reviewPaths, settingsFiles } from '../../state/own-paths.ts'
import { fileSignature } from '../../state/records.ts'
import { type ProgressRead, readProgress } from '../../state/revisions.ts'
import { listSessions, readDenialsIn } from '../../state/sessions.ts'
import { readGitDirs } from '../../system/git-dirs.ts'
import { readStatus, type StatusHere } from '../status.ts'

const pollMs = 1_000

/** One save causes several events. */
const debounceMs = 50

/**
 * Calls `onChange` soon after a change, debounced, and once a second in any case: network folders have no change events,
 * and the number of watched folders is limited.
 */
export function followChanges(root: string, onChange: () => void): { end: () => void } {
  const watchers = new Map<string, FSWatcher>()
  let pending: NodeJS.Timeout | undefined
  const notify = (): void => {
    pending = undefined
    onChange()
  }
  const updateWatchers = (): void => {
    const wanted = new Map(foldersToWatch(root).flatMap((folder) => keyOf(folder)))
    for (const [key, watcher] of watchers)
      if (!wanted.has(key)) {
        watcher.close()
        watchers.delete(key)
      }
    for (const [key, folder] of wanted) {
      if (watchers.has(key)) continue
      const watcher = tryWatch(folder, () => {
        pending ??= setTimeout(notify, debounceMs)
      })
      if (watcher !== null) watchers.set(key, watcher)
    }
  }
  updateWatchers()
  const poll = setInterval(() => {
    updateWatchers()
    onChange()
  }, pollMs)
  return {
    end: () => {
      clearInterval(poll)
      clearTimeout(pending)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

/** Only the latest sessions. */
function foldersToWatch(root: string): string[] {
  try {
    const sessions = listSessions(root).slice(0, 3)
    return [reviewDir, 'docs', ...sessions.map(({ folder }) => folder)].map((folder) => join(root, folder))
  } catch {
    return []
  }
}

/** By inode: the watcher of a removed folder does not see a new one of the same name. */
function keyOf(folder: string): [string, string][] {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() ? [[`${found.dev}:${found.ino}:${folder}`, folder]] : []
}

function tryWatch(folder: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}

export type Watched = { readonly root: string; readonly here: WatchContext | null }

/** The state of an existing worktree. */
export type WatchContext = {
  readonly status: StatusHere
  readonly progress: ProgressRead
  readonly events: readonly LedgerEvent[]
  /** Why the ledger cannot be read. */
  readonly unreadable: string | null
  /** By session. */
  readonly denials: readonly { readonly folder: string; readonly list: readonly Denial[] }[]
}

/** Returns a function that reads the worktree. It only reads files that have changed since the last call. */
export function openWatched(root: string): () => Watched {
  const record = cached(
    () => recordFiles(root),
    () => readRecord(root),
  )
  const progress = cached(
    () => [join(root, reviewPaths.progress)],
    () => readProgress(root),
  )
  const denials = cached(
    () => listSessions(root).map(({ folder }) => join(root, folder, 'denials.jsonl')),
    () => listSessions(root).map(({ folder }) => ({ folder, list: readDenialsIn(root, folder) })),
  )
  let last: Watched = { root, here: null }
  return () => {
    try {
      const gitDirs = readGitDirs(root)
      const here = gitDirs === null ? null : { ...record(), progress: stillRunning(progress()), denials: denials() }
      last = { root, here }
    } catch (error) {
      // A file was removed meanwhile; the next poll reads again.
      if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) throw error
      if (!existsSync(join(root, '.git'))) last = { root, here: null }
    }
    return last
  }

  /** Not cached: a process that dies changes no file. */
  function stillRunning(read: ProgressRead): ProgressRead {
    return read.kind === 'running' ? readProgress(root) : read
  }
}

function cached<T>(files: () => readonly string[], read: () => T): () => T {
  let seen: { signature: string; value: T } | null = null
  return () => {
    const signature = fileSignature(files())
    if (seen?.signature !== signature) seen = { signature, value: read() }
    return seen.value
  }
}

/** The counter is written last, after the other files of a revision. */
const recordFiles = (root: string): string[] =>
  [
    '.git',
    planPath,
    configFile,
    reviewPaths.ledger,
    reviewPaths.counter,
    reviewPaths.approval,
    reviewPaths.history,
    ...settingsFiles,
  ].map((path) => join(root, path))

function readRecord(root: string): Pick<WatchContext, 'status' | 'events' | 'unreadable'> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw Object.assign(new Error('the worktree is gone'), { code: 'ENOENT' })
  const read = readEvents(root)
  return {
    status: readStatus(root, gitDirs),
    events: read.kind === 'read' ? read.events : [],
    unreadable: read.kind === 'refused' ? read.why : null,
  }
}
