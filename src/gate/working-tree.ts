import { join } from 'node:path'
import type { TreeBaseline } from '../schemas/records.ts'
import { lstatEntry } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import { configFile, installRecordPath, isOwnPath } from '../state/own-paths.ts'
import {
  fileSignature,
  isUnchangedSinceCheck,
  readRepositoryBaseline,
  readTreeBaseline,
  recordCheck,
  removeTreeBaseline,
  writeTreeBaseline,
} from '../state/records.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { readTreeState, type TreeStateRead, unreadable } from '../system/hook-git.ts'
import { entriesOf, isAllOf, readRepositorySetup, userGitConfigs } from '../system/repository-setup.ts'
import { sha256 } from '../system/sha256.ts'
import { printable } from '../text/clean.ts'
import { gitSandbox } from './sandbox/rules.ts'

/** One changed path: git's status letters and a digest of the content (null where there is none). */
type PathState = { readonly status: string; readonly digest: string | null }

/** Snapshot of a worktree: its commit and every path that differs from it. Paths are bytes, as latin1. */
export type TreeState = { readonly head: string; readonly paths: { readonly [path: string]: PathState } }

export type Drift = { readonly path: string; readonly what: string }

/** Contents count: a second change to a dirty file is a change, and a reverted change is none. */
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
  if (now.digest === unreadable) return 'cannot be read'
  if (before?.digest === unreadable) return 'could not be read before'
  if (now.status.startsWith('?')) return before === undefined ? 'created' : 'changed (untracked)'
  if (now.digest === null && now.status.includes('D')) return 'deleted'
  if (now.status.startsWith('u')) return 'in conflict'
  if (before !== undefined && before.digest === now.digest) return 'staged or unstaged'
  return before === undefined && now.status[0] === 'A' ? 'created' : 'changed'
}

/** A file can be called HEAD, too. */
export const isNewCommit = ({ path, what }: Drift): boolean => path === 'HEAD' && what.startsWith('moved from ')

const short = (commit: string): string => commit.slice(0, 8) || 'no commit'

export type DriftCheck =
  | { kind: 'none' }
  | { kind: 'found'; drift: readonly Drift[] }
  | { kind: 'unknown'; why: string }

const timeoutMs = 25_000

/** Takes a snapshot of the worktree; refused where git itself could be made to run a program. */
export function readWorkingTree(root: string, gitDirs: GitDirs): TreeStateRead {
  const { changed } = readGitKeys(root, gitDirs)
  if (changed.length > 0)
    return {
      kind: 'failed',
      why: `git's configuration changed since this worktree was opened: ${changed.slice(0, 5).join(', ')}`,
    }
  return readTreeState(root, {
    isLeftOut: (path) => path === configFile || isOwnPath(path),
    timeoutMs,
    sandbox: gitSandbox(gitDirs.own),
  })
}

/** Compares with the baseline, and changes nothing: an unknown baseline stays unknown until the user accepts what is there. */
export function checkDrift(gitDir: string, now: TreeStateRead): DriftCheck {
  if (now.kind === 'failed') return { kind: 'unknown', why: now.why }
  const known = readTreeBaseline(gitDir)
  if (known.kind === 'refused') return { kind: 'unknown', why: known.why }
  if (known.kind === 'absent') return { kind: 'unknown', why: `no baseline is recorded${whyForgotten}` }
  const drift = findDrift(known.value, now)
  return drift.length === 0 ? { kind: 'none' } : { kind: 'found', drift }
}

/** Drift is told at each call until it is reverted or accepted, and recorded once. */
export async function reportDrift(root: string, gitDir: string, now: TreeStateRead): Promise<DriftCheck> {
  const check = checkDrift(gitDir, now)
  const known = check.kind === 'found' ? readTreeBaseline(gitDir) : null
  if (check.kind === 'found' && known?.kind === 'read') await recordOnce(root, gitDir, known.value, check.drift)
  return check
}

async function recordOnce(root: string, gitDir: string, baseline: TreeBaseline, drift: readonly Drift[]) {
  const reported = sha256(JSON.stringify(drift))
  if (baseline.reported === reported) return
  await appendEvent(root, { type: 'drift-found', paths: drift.map(({ path }) => printablePath(path)) })
  writeTreeBaseline(gitDir, { ...baseline, reported })
}

/** Work under an approval is no drift: it is the new baseline, or without a snapshot there is none. */
export function rebaselineOrForget(gitDir: string, now: TreeStateRead): void {
  if (now.kind === 'failed') {
    removeTreeBaseline(gitDir)
    whyForgotten = `: ${now.why}`
  } else rebaseline(gitDir, now)
}

/** For the check of the same process that follows. */
let whyForgotten = ''

/** At the install, and once more when `bootstrap` has set the worktree up: what is there is the user's own. */
export function recordFirstBaseline(root: string, gitDirs: GitDirs): void {
  if (readTreeBaseline(gitDirs.own).kind === 'absent') rebaseline(gitDirs.own, readWorkingTree(root, gitDirs))
}

/** Makes this snapshot the baseline. Never called because a session starts, nor by a command that only reads. */
export function rebaseline(gitDir: string, now: TreeStateRead): DriftCheck {
  if (now.kind === 'failed') return { kind: 'unknown', why: now.why }
  writeTreeBaseline(gitDir, { head: now.head, paths: now.paths, reported: null })
  return { kind: 'none' }
}

/** Paths are bytes as latin1; people read UTF-8. */
export const printablePath = (path: string): string => printable(Buffer.from(path, 'latin1').toString('utf8'), 200)

/** For Claude; null where there is nothing to tell. */
export function formatDrift(check: DriftCheck): string | null {
  if (check.kind === 'none') return null
  if (check.kind === 'unknown')
    return `plan-gate: could not check whether files changed without an approved plan: ${check.why}. Tell the user before you go on; once they have looked, \`plan-gate drift accept\` records what is there.`
  const { drift } = check
  const shown = drift.slice(0, 30).map(({ path, what }) => `  ${printablePath(path)}: ${what}`)
  const more = drift.length > shown.length ? [`  … and ${drift.length - shown.length} more`] : []
  return [
    'plan-gate: files changed although no plan is approved:',
    ...shown,
    ...more,
    'Tell the user. If this session did it, ask them to put it back; if it was theirs, they run `plan-gate drift accept`.',
  ].join('\n')
}

/** Keys and hooks by which git may run a program. */
export type GitKeys = {
  /** New or changed since the worktree was opened; those that the user had then are not among them. */
  readonly changed: readonly string[]
  /** A partial clone fetches by what its configuration names. Any mention counts: one that is not seen would run it. */
  readonly promisor: readonly string[]
}

/** Only a repository in which there is neither is not read again. */
export function readGitKeys(root: string, gitDirs: GitDirs): GitKeys {
  const signature = fileSignature(watchedPaths(gitDirs))
  if (isUnchangedSinceCheck(gitDirs.own, 'git-keys', signature)) return { changed: [], promisor: [] }
  const baseline = readRepositoryBaseline(gitDirs.own)
  const setup = readRepositorySetup(root, gitDirs)
  const promisor = Object.entries(setup.configs).flatMap(([path, text]) =>
    /promisor|partialclone/i.test(text) ? [`promisor in ${path}`] : [],
  )
  if (baseline.kind === 'refused')
    return { changed: [`(the record of what was configured cannot be used: ${baseline.why})`], promisor }
  if (baseline.kind === 'absent')
    return { changed: isInstalled(gitDirs) ? ['(the record of what was configured is gone)'] : [], promisor }
  const changed = findChangedKeys(baseline.value, setup)
  if (changed.length === 0 && promisor.length === 0 && isAllOf(setup, watchedPaths(gitDirs)))
    recordCheck(gitDirs.own, 'git-keys', signature)
  return { changed, promisor }
}

/** A gate that came with the repository and was never installed here has no baseline. */
const isInstalled = ({ own }: GitDirs): boolean => lstatEntry(own, installRecordPath).kind !== 'absent'

/** Files and folders that can tell git what to run. A folder's times change when an entry is added. */
const watchedPaths = ({ own, common }: GitDirs): string[] => [
  join(common, 'config'),
  join(own, 'config.worktree'),
  join(own, 'index'),
  join(common, 'hooks'),
  join(common, 'modules'),
  join(own, 'modules'),
  ...userGitConfigs(),
]

/** What can make git run a program: the text of each config file and a digest of each hook. */
export type RepositorySetup = Readonly<ReturnType<typeof readRepositorySetup>>

/** These name no program and no file. By others even `git status` starts one; those of the first day are the user's. */
const harmlessKeys =
  /^(?:(?:advice|author|branch|color|column|committer|pull|push|rerere|status|user)\.(?!sort$).+|(?:commit|tag)\.gpgsign|core\.(?:autocrlf|bare|eol|filemode|ignorecase|logallrefupdates|precomposeunicode|quotepath|repositoryformatversion|symlinks|untrackedcache)|diff\.(?:algorithm|colormoved|renames)|fetch\.prune(?:tags)?|gc\.auto|init\.defaultbranch|log\.(?:date|decorate)|merge\.conflictstyle|protocol\..+\.allow|rebase\.auto(?:squash|stash)|remote\.(?:pushdefault|.+\.(?:fetch|gh-resolved|prune|pushurl|tagopt|url))|submodule\..+\.(?:active|url))$/

/** Exactly what `git lfs install` writes. */
const gitLfsFilter = new Set([
  'filter.lfs.clean\ngit-lfs clean -- %f',
  'filter.lfs.smudge\ngit-lfs smudge -- %f',
  'filter.lfs.process\ngit-lfs filter-process',
])

/** The names of keys and hooks that are new or changed. */
export function findChangedKeys(before: RepositorySetup, now: RepositorySetup): string[] {
  const configs = Object.entries(now.configs).flatMap(([path, text]) =>
    before.configs[path] === text ? [] : newKeys(path, before.configs[path] ?? '', text),
  )
  const hooks = Object.entries(now.hooks).flatMap(([path, digest]) =>
    before.hooks[path] === digest ? [] : [`the hook ${path.slice(path.lastIndexOf('/') + 1)}`],
  )
  return [...new Set([...configs, ...hooks])]
}

function newKeys(path: string, before: string, now: string): string[] {
  const entries = entriesOf(now)
  if (entries === null) return [`${path} (it cannot be read)`]
  const known = new Set(entriesOf(before) ?? [])
  return entries
    .filter((entry) => !known.has(entry) && !gitLfsFilter.has(entry))
    .map((entry) => entry.split('\n', 1)[0] ?? '')
    .filter((key) => !harmlessKeys.test(key.toLowerCase()))
}
