import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Denial } from '../../schemas/denial.ts'
import type { LedgerEvent } from '../../schemas/ledger-event.ts'
import type { Status } from '../../schemas/output/status.ts'
import { listSessions } from '../../store/list-sessions.ts'
import { type ProgressRead, readProgress } from '../../store/progress.ts'
import { readDenialsIn } from '../../store/read-denials.ts'
import { readEvents } from '../../store/read-events.ts'
import { reviewPaths } from '../../store/review-paths.ts'
import { signatureOf } from '../../store/seen-files.ts'
import { errnoOf } from '../../store/store-error.ts'
import { readGitDirs } from '../../system/git-dirs.ts'
import { readStatus } from '../read-status.ts'

export type Watched = { readonly root: string; readonly here: Here | null }

/** What there is to be seen in a worktree that is there. */
export type Here = {
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
  const record = remembering(
    () => recordFiles(root),
    () => readRecord(root),
  )
  const progress = remembering(
    () => [join(root, reviewPaths.progress)],
    () => readProgress(root),
  )
  const denials = remembering(
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

function remembering<T>(files: () => readonly string[], read: () => T): () => T {
  let seen: { signature: string; value: T } | null = null
  return () => {
    const signature = signatureOf(files())
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

function readRecord(root: string): Pick<Here, 'status' | 'events' | 'unreadable'> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw Object.assign(new Error('the worktree is gone'), { code: 'ENOENT' })
  const read = readEvents(root)
  return {
    status: readStatus(root, gitDirs),
    events: read.kind === 'read' ? read.events : [],
    unreadable: read.kind === 'refused' ? read.why : null,
  }
}
