/** What the approved plan names, as `gate/scope` reads it: a file, a folder (ending in `/`) or a pattern. */
export type PlannedEntry = {
  readonly pattern: string
  readonly mark: 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'
  readonly line: number
}

/** `from`: what a renamed file was called before, otherwise null. */
export type ChangedFile = {
  readonly path: string
  readonly from: string | null
  readonly status: 'added' | 'changed' | 'deleted' | 'renamed'
}

/** Each row is said in words: what stands in it is ready to be listed. */
export type Trace = {
  /** Files changed that the plan does not name. */
  readonly unplanned: readonly string[]
  /** Entries of the plan that no change belongs to, or none of the kind that it announces. */
  readonly undone: readonly string[]
}

/** Whether an entry covers a path is for the gate to say, which holds writes to the same entries. */
export type Covers = (path: string, entry: PlannedEntry) => boolean

/** The diff of the worktree held against the plan. null when the plan names nothing that could be compared. */
export function tracePlan(
  planned: readonly PlannedEntry[],
  changed: readonly ChangedFile[],
  covers: Covers,
): Trace | null {
  if (planned.length === 0) return null
  const isPlanned = (path: string): boolean => planned.some((entry) => covers(path, entry))
  return {
    unplanned: changed.flatMap((file) => unplannedIn(file, isPlanned)),
    undone: planned.flatMap((entry) => undoneIn(entry, changed, covers)),
  }
}

/** A file that moved touches two paths, and each has to be named. */
function unplannedIn({ path, from, status }: ChangedFile, isPlanned: (path: string) => boolean): string[] {
  const isCovered = isPlanned(path) || followsFrom(path).some(isPlanned)
  if (from === null) return isCovered ? [] : [`${path} (${status})`]
  if (isCovered) return isPlanned(from) ? [] : [`${from} (moved to ${path})`]
  return [`${path} (moved from ${from})`]
}

/** A lock file says what its manifest asks for; nobody writes it into a plan. */
const locks: { readonly [name: string]: readonly string[] } = {
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

function followsFrom(path: string): string[] {
  const [, folder = '', name = ''] = /^(.*\/)?([^/]+)$/s.exec(path) ?? []
  const manifests = Object.hasOwn(locks, name) ? (locks[name] ?? []) : []
  return manifests.map((manifest) => `${folder}${manifest}`)
}

function undoneIn(entry: PlannedEntry, changed: readonly ChangedFile[], covers: Covers): string[] {
  const touched = changed.flatMap((file) => whatHappened(file).filter(({ path }) => covers(path, entry)))
  const accepted = kept[entry.mark]
  if (touched.some(({ what }) => accepted.includes(what))) return []
  const where = `${entry.pattern} (line ${entry.line} of the plan${marked[entry.mark]})`
  const [other] = touched
  return [other === undefined ? `${where}: no change` : `${where}: ${instead[other.what]}`]
}

type What = 'added' | 'changed' | 'deleted' | 'moved-away' | 'moved-here'

const whatHappened = ({ path, from, status }: ChangedFile): { readonly path: string; readonly what: What }[] =>
  status === 'renamed' && from !== null
    ? [
        { path: from, what: 'moved-away' },
        { path, what: 'moved-here' },
      ]
    : [{ path, what: status === 'renamed' ? 'changed' : status }]

const anything: readonly What[] = ['added', 'changed', 'deleted', 'moved-away', 'moved-here']

/** What counts as done. git sees a move as a deletion and an addition when much else changed in the file. */
const kept: { readonly [mark in PlannedEntry['mark']]: readonly What[] } = {
  new: ['added', 'changed', 'moved-here'],
  changed: ['added', 'changed', 'moved-here'],
  deleted: ['deleted', 'moved-away'],
  renamed: ['added', 'deleted', 'moved-away', 'moved-here'],
  unstated: anything,
}

const marked: { readonly [mark in PlannedEntry['mark']]: string } = {
  new: ', new',
  changed: ', changed',
  deleted: ', deleted',
  renamed: ', renamed',
  unstated: '',
}

const instead: { readonly [what in What]: string } = {
  added: 'it was added instead',
  changed: 'it is still there, with changes',
  deleted: 'it was deleted instead',
  'moved-away': 'it was moved away instead',
  'moved-here': 'another file was moved there instead',
}
