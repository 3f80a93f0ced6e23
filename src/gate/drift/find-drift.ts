/** The state of one changed path: what git says of it, and a digest of its content (null where there is none). */
type PathState = { readonly status: string; readonly digest: string | null }

/** A worktree at one moment: its commit, and every path that differs from it. Paths are bytes, spelled in latin1. */
export type TreeState = {
  readonly head: string
  readonly paths: { readonly [path: string]: PathState }
}

export type Drift = { readonly path: string; readonly what: string }

/**
 * What changed between two looks. Contents count: a second change to a file that was dirty already is a change, and a
 * change that is taken back is none.
 */
export function findDrift(before: TreeState, now: TreeState): Drift[] {
  const moved =
    before.head === now.head ? [] : [{ path: 'HEAD', what: `moved from ${short(before.head)} to ${short(now.head)}` }]
  const paths = [...new Set([...Object.keys(before.paths), ...Object.keys(now.paths)])].sort()
  return [...moved, ...paths.flatMap((path) => driftOf(path, stateOf(before, path), stateOf(now, path)))]
}

/** A file may be called `constructor`. */
const stateOf = ({ paths }: TreeState, path: string): PathState | undefined =>
  Object.hasOwn(paths, path) ? paths[path] : undefined

function driftOf(path: string, before: PathState | undefined, now: PathState | undefined): Drift[] {
  if (before?.status === now?.status && before?.digest === now?.digest) return []
  if (now === undefined) return [{ path, what: 'is back to what is committed' }]
  return [{ path, what: wordFor(now, before) }]
}

function wordFor(now: PathState, before: PathState | undefined): string {
  if (now.status.startsWith('?')) return before === undefined ? 'created' : 'changed (untracked)'
  if (now.digest === null && now.status.includes('D')) return 'deleted'
  if (now.status.startsWith('u')) return 'in conflict'
  if (before !== undefined && before.digest === now.digest) return 'staged or unstaged'
  return before === undefined && now.status[0] === 'A' ? 'created' : 'changed'
}

const short = (commit: string): string => commit.slice(0, 8) || 'no commit'
