/** Compares what was changed with what the approved plan names. */
import { basename } from 'node:path'
import { inScope, type ScopeEntry } from '../gate/scope.ts'
import type { ChangedFile } from '../system/worktree-diff.ts'

/** Each row is a line of a list. */
export type Trace = {
  /** Files changed that the plan does not name. */
  readonly unplanned: readonly string[]
  /** Entries of the plan without a change, or without one of the kind that they announce. */
  readonly undone: readonly string[]
}

/** null when nothing is to be said, or the plan names nothing that could be compared. */
export function tracePlan(planned: readonly ScopeEntry[], changed: readonly ChangedFile[]): Trace | null {
  if (planned.length === 0) return null
  const unplanned = changed.flatMap((file) => unplannedIn(file, planned))
  const undone = planned.flatMap((entry) => undoneIn(entry, changed))
  return unplanned.length + undone.length === 0 ? null : { unplanned, undone }
}

/** A file that moved touches two paths, and each has to be named. */
function unplannedIn({ path, from, status }: ChangedFile, planned: readonly ScopeEntry[]): string[] {
  const isCovered = [path, ...manifestsOf(path)].some((each) => inScope(each, planned))
  if (from === null) return isCovered ? [] : [`${path} (${status})`]
  if (isCovered) return inScope(from, planned) ? [] : [`${from} (moved to ${path})`]
  return [`${path} (moved from ${from})`]
}

/** A plan names a manifest; its lock file follows from it. */
const manifestsOfLocks: { readonly [name: string]: readonly string[] } = {
  'package-lock.json': ['package.json'],
  'npm-shrinkwrap.json': ['package.json'],
  'yarn.lock': ['package.json'],
  'pnpm-lock.yaml': ['package.json', 'pnpm-workspace.yaml'],
  'bun.lock': ['package.json'],
  'bun.lockb': ['package.json'],
  'Cargo.lock': ['Cargo.toml'],
  'go.sum': ['go.mod'],
  'poetry.lock': ['pyproject.toml'],
  'uv.lock': ['pyproject.toml'],
  'Gemfile.lock': ['Gemfile'],
  'composer.lock': ['composer.json'],
}

function manifestsOf(path: string): string[] {
  const name = basename(path)
  const manifests = Object.hasOwn(manifestsOfLocks, name) ? (manifestsOfLocks[name] ?? []) : []
  return manifests.map((manifest) => `${path.slice(0, -name.length)}${manifest}`)
}

function undoneIn(entry: ScopeEntry, changed: readonly ChangedFile[]): string[] {
  const touched = changed.flatMap((file) => pathChanges(file).filter(({ path }) => inScope(path, [entry])))
  if (touched.some(({ what }) => expectedChanges[entry.mark].includes(what))) return []
  const mark = entry.mark === 'unstated' ? '' : `, ${entry.mark}`
  const [other] = touched
  return [
    `${entry.pattern} (line ${entry.line} of the plan${mark}): ${other === undefined ? 'no change' : otherChange[other.what]}`,
  ]
}

type PathChange = 'added' | 'changed' | 'deleted' | 'moved-away' | 'moved-here'

const pathChanges = ({ path, from, status }: ChangedFile): { readonly path: string; readonly what: PathChange }[] =>
  status === 'renamed' && from !== null
    ? [
        { path: from, what: 'moved-away' },
        { path, what: 'moved-here' },
      ]
    : [{ path, what: status === 'renamed' ? 'changed' : status }]

/** What counts as done. git reports a move as a deletion and an addition when much else changed in the file. */
const expectedChanges: { readonly [mark in ScopeEntry['mark']]: readonly PathChange[] } = {
  new: ['added', 'changed', 'moved-here'],
  changed: ['added', 'changed', 'moved-here'],
  deleted: ['deleted', 'moved-away'],
  renamed: ['added', 'deleted', 'moved-away', 'moved-here'],
  unstated: ['added', 'changed', 'deleted', 'moved-away', 'moved-here'],
}

const otherChange: { readonly [what in PathChange]: string } = {
  added: 'it was added instead',
  changed: 'it is still there, with changes',
  deleted: 'it was deleted instead',
  'moved-away': 'it was moved away instead',
  'moved-here': 'another file was moved there instead',
}
