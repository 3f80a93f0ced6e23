import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Status } from '../../schemas/output.ts'
import type { Denial, LedgerEvent } from '../../schemas/records.ts'
import { errnoOf } from '../../state/files.ts'
import { readEvents } from '../../state/ledger.ts'
import { reviewDir, reviewPaths } from '../../state/own-paths.ts'
import { fileSignature } from '../../state/records.ts'
import { type ProgressRead, readProgress } from '../../state/revisions.ts'
import { listSessions, readDenialsIn } from '../../state/sessions.ts'
import { readGitDirs } from '../../system/git-dirs.ts'
import { readStatus } from '../status.ts'

const pollMs = 1_000

/** One save is several events: a temporary name, its end, the folder. */
const debounceMs = 50

/**
 * Calls `look` soon after something has changed, and once a second whatever the file system says: network folders tell
 * of nothing, and there is a limit to how many folders a user may watch.
 */
export function followChanges(root: string, look: () => void): { end: () => void } {
  const watchers = new Map<string, FSWatcher>()
  let soon: NodeJS.Timeout | undefined
  const lookNow = (): void => {
    soon = undefined
    look()
  }
  const arm = (): void => {
    const wanted = new Map(foldersToWatch(root).flatMap((folder) => keyOf(folder)))
    for (const [key, watcher] of watchers)
      if (!wanted.has(key)) {
        watcher.close()
        watchers.delete(key)
      }
    for (const [key, folder] of wanted) {
      if (watchers.has(key)) continue
      const watcher = tryWatch(folder, () => {
        soon ??= setTimeout(lookNow, debounceMs)
      })
      if (watcher !== null) watchers.set(key, watcher)
    }
  }
  arm()
  const poll = setInterval(() => {
    arm()
    look()
  }, pollMs)
  return {
    end: () => {
      clearInterval(poll)
      clearTimeout(soon)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

/** Where everything happens; of the sessions those that are at work now. */
function foldersToWatch(root: string): string[] {
  try {
    const sessions = listSessions(root).slice(0, 3)
    return [reviewDir, 'docs', ...sessions.map(({ folder }) => folder)].map((folder) => join(root, folder))
  } catch {
    return []
  }
}

/** A folder that was removed and made again is another one, and its old watcher hears nothing of it. */
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

/** What there is to be seen in a worktree that is there. */
export type WatchContext = {
  readonly status: Status
  readonly progress: ProgressRead
  readonly events: readonly LedgerEvent[]
  /** Why the record cannot be read, where it cannot. */
  readonly unreadable: string | null
  /** By session. */
  readonly denials: readonly { readonly folder: string; readonly list: readonly Denial[] }[]
}

/** A look at a worktree, as often as it is asked for: only what has changed since the last one is read again. */
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
      // A file went away between two looks at it. The next look comes in a second.
      if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) throw error
      if (!existsSync(join(root, '.git'))) last = { root, here: null }
    }
    return last
  }

  /** A process that ends without a word changes no file. */
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

/** The counter is written last, when all else about a revision is there. */
const recordFiles = (root: string): string[] =>
  [
    '.git',
    'docs/plan.md',
    'plan-gate.yaml',
    reviewPaths.ledger,
    reviewPaths.counter,
    reviewPaths.approval,
    reviewPaths.history,
    '.claude/settings.json',
    '.claude/settings.local.json',
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
