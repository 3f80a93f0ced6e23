/** One changed path: git's status letters and a digest of the content (null where there is none). */
type PathState = { readonly status: string; readonly digest: string | null }

/** Snapshot of a worktree: its commit and every path that differs from it. Paths are bytes, as latin1. */
export type TreeState = { readonly head: string; readonly paths: { readonly [path: string]: PathState } }

export type Drift = { readonly path: string; readonly what: string }

/**
 * Differences between two snapshots. Contents count: a second change to a dirty file is a change, and a reverted change
 * is none.
 */
export function findDrift(before: TreeState, now: TreeState): Drift[] {
  const moved =
    before.head === now.head ? [] : [{ path: 'HEAD', what: `moved from ${short(before.head)} to ${short(now.head)}` }]
  const paths = [...new Set([...Object.keys(before.paths), ...Object.keys(now.paths)])].sort()
  return [...moved, ...paths.flatMap((path) => compareState(path, stateAt(before, path), stateAt(now, path)))]
}

/** `Object.hasOwn`: a file may be called `constructor`. */
const stateAt = ({ paths }: TreeState, path: string): PathState | undefined =>
  Object.hasOwn(paths, path) ? paths[path] : undefined

function compareState(path: string, before: PathState | undefined, now: PathState | undefined): Drift[] {
  if (before?.status === now?.status && before?.digest === now?.digest) return []
  if (now === undefined) return [{ path, what: 'is back to what is committed' }]
  return [{ path, what: describeChange(now, before) }]
}

function describeChange(now: PathState, before: PathState | undefined): string {
  if (now.status.startsWith('?')) return before === undefined ? 'created' : 'changed (untracked)'
  if (now.digest === null && now.status.includes('D')) return 'deleted'
  if (now.status.startsWith('u')) return 'in conflict'
  if (before !== undefined && before.digest === now.digest) return 'staged or unstaged'
  return before === undefined && now.status[0] === 'A' ? 'created' : 'changed'
}

/** A file can be called HEAD, too. */
export const isNewCommit = ({ path, what }: Drift): boolean => path === 'HEAD' && what.startsWith('moved from ')

const short = (commit: string): string => commit.slice(0, 8) || 'no commit'

/**
 * What can make git run a program: the text of each config file and a digest of each hook; null for a file that was
 * removed.
 */
export type RepositorySetup = {
  readonly configs: { readonly [path: string]: string }
  readonly hooks: { readonly [path: string]: string }
}

/**
 * Keys by which even `git status` or `git diff` starts a program or reads another configuration file. Those that were
 * set when the worktree was opened are the user's own.
 */
const programKeys =
  /^(?:alias\..+|core\.(?:alternaterefscommand|askpass|attributesfile|editor|fsmonitor|gitproxy|hookspath|pager|sshcommand|worktree)|credential\..+|diff\.external|diff\..+\.(?:command|textconv)|extensions\..+|filter\..+\.(?:clean|process|smudge)|gpg\.(?:.+\.)?program|hook\..+|include\.path|includeif\..+|interactive\.difffilter|log\.showsignature|merge\..+\.driver|pager\..+|remote\..+\.(?:promisor|uploadpack|vcs)|sequence\.editor|submodule\..+\.update|uploadpack\.packobjectshook|url\..+)$/

/** Exactly what `git lfs install` writes. */
const gitLfsFilter = new Set([
  'filter.lfs.clean=git-lfs clean -- %f',
  'filter.lfs.smudge=git-lfs smudge -- %f',
  'filter.lfs.process=git-lfs filter-process',
])

/** The names of keys and hooks that are new or changed. */
export function findChangedKeys(before: RepositorySetup, now: RepositorySetup): string[] {
  const configs = Object.entries(now.configs).flatMap(([path, text]) =>
    before.configs[path] === text ? [] : newKeys(path, before.configs[path] ?? '', text),
  )
  const hooks = Object.entries(now.hooks).flatMap(([path, digest]) =>
    before.hooks[path] === digest ? [] : [`the hook ${nameOf(path)}`],
  )
  return [...new Set([...configs, ...hooks])]
}

function newKeys(path: string, before: string, now: string): string[] {
  const [old, entries] = [parseGitConfig(before), parseGitConfig(now)]
  if (entries === null) return [`${path} (it cannot be read)`]
  const known = new Set((old ?? []).map(asText))
  return entries
    .filter(
      (entry) =>
        programKeys.test(entry.key.toLowerCase()) && !known.has(asText(entry)) && !gitLfsFilter.has(asText(entry)),
    )
    .map(({ key }) => key)
}

const asText = ({ key, value }: ConfigEntry): string => `${key}=${value}`
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

type ConfigEntry = { readonly key: string; readonly value: string }

/**
 * Entries of a git config file, keys in lower case except for the middle part, as git names them
 * (`diff.MyDriver.textconv`). Null where the text is not plainly of that form (fail closed).
 */
export function parseGitConfig(text: string): ConfigEntry[] | null {
  const entries: ConfigEntry[] = []
  let section = ''
  for (const line of logicalLines(text)) {
    const header = /^\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?\]/.exec(line)
    const rest = (header === null ? line : line.slice(header[0].length)).trim()
    if (header !== null) section = sectionName(header[1] ?? '', header[2])
    if (rest === '' || /^[#;]/.test(rest)) continue
    const entry = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=([\s\S]*))?$/.exec(rest)
    if (entry === null || section === '') return null
    // A key without `=` means true.
    entries.push({
      key: `${section}.${entry[1]?.toLowerCase()}`,
      value: entry[2] === undefined ? 'true' : valueText(entry[2]),
    })
  }
  return entries
}

/** Joins lines that end with a backslash. */
const logicalLines = (text: string): string[] =>
  text
    .replace(/\r\n/g, '\n')
    .replace(/\\\n/g, '\u0000')
    .split('\n')
    .map((line) => line.replaceAll('\u0000', '').trim())

const sectionName = (name: string, sub: string | undefined): string =>
  sub === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${sub.replace(/\\(.)/g, '$1')}`

/** Without quotes and comments; enough to compare two values. */
const valueText = (raw: string): string =>
  raw
    .replace(/"((?:[^"\\]|\\.)*)"|[#;].*$/g, (whole, quoted: string | undefined) =>
      whole.startsWith('"') ? (quoted ?? '') : '',
    )
    .trim()
