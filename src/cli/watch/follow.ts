import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Denial, LedgerEvent } from '../../schemas/records.ts'
import { errnoOf } from '../../state/files.ts'
import { readEvents } from '../../state/ledger.ts'
import { configFile, planPath, reviewPaths, settingsFiles } from '../../state/own-paths.ts'
import { fileSignature } from '../../state/records.ts'
import { type ProgressRead, readProgress } from '../../state/revisions.ts'
import { listSessions, readDenialsIn } from '../../state/sessions.ts'
import { readGitDirs } from '../../system/git-dirs.ts'
import { readStatus, type StatusHere } from '../status.ts'

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
  const inRoot = (paths: readonly string[]): readonly string[] => paths.map((path) => join(root, path))
  const record = cached(
    () => inRoot(recordFiles),
    () => readRecord(root),
  )
  const progress = cached(
    () => inRoot([reviewPaths.progress]),
    () => readProgress(root),
  )
  const denials = cached(
    () => inRoot(listSessions(root).map(({ folder }) => `${folder}/denials.jsonl`)),
    () => listSessions(root).map(({ folder }) => ({ folder, list: readDenialsIn(root, folder) })),
  )
  let last: Watched = { root, here: null }
  return () => {
    try {
      if (readGitDirs(root) === null) last = { root, here: null }
      else {
        const read = progress()
        // A process that dies changes no file.
        const now = read.kind === 'running' ? readProgress(root) : read
        last = { root, here: { ...record(), progress: now, denials: denials() } }
      }
    } catch (error) {
      // A file was removed meanwhile; the next call reads again.
      if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) throw error
      if (!existsSync(join(root, '.git'))) last = { root, here: null }
    }
    return last
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
const recordFiles: readonly string[] = [
  '.git',
  planPath,
  configFile,
  reviewPaths.ledger,
  reviewPaths.counter,
  reviewPaths.approval,
  reviewPaths.history,
  ...settingsFiles,
]

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
