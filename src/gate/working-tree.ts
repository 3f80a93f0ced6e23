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
import { readTreeState, type TreeStateRead } from '../system/hook-git.ts'
import { readRepositorySetup, userGitConfigs } from '../system/repository-setup.ts'
import { sha256 } from '../system/sha256.ts'
import { printable } from '../text/clean.ts'
import { type Drift, findChangedKeys, findDrift, type RepositorySetup } from './drift.ts'
import { gitSandbox } from './sandbox/rules.ts'

export type DriftCheck =
  | { kind: 'none' }
  | { kind: 'found'; drift: readonly Drift[] }
  | { kind: 'unknown'; why: string }

const timeoutMs = 25_000

/** Takes a snapshot of the worktree; refused where git itself could be made to run a program. */
export function readWorkingTree(root: string, gitDirs: GitDirs): TreeStateRead {
  const untrusted = changedGitConfigKeys(root, gitDirs)
  if (untrusted.length > 0)
    return {
      kind: 'failed',
      why: `git's configuration changed since this worktree was opened: ${untrusted.slice(0, 5).join(', ')}`,
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
  if (known.kind === 'absent') return { kind: 'unknown', why: 'no baseline is recorded' }
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

async function recordOnce(
  root: string,
  gitDir: string,
  baseline: TreeBaseline,
  drift: readonly Drift[],
): Promise<void> {
  const reported = sha256(JSON.stringify(drift))
  if (baseline.reported === reported) return
  await appendEvent(root, { type: 'drift-found', paths: drift.map(({ path }) => printablePath(path)) })
  writeTreeBaseline(gitDir, { ...baseline, reported })
}

/**
 * When an approval ends, the work done under it is the new baseline. If the snapshot fails, the baseline is unknown, so that
 * allowed work is not reported as drift.
 */
export function rebaselineOrForget(gitDir: string, now: TreeStateRead): void {
  if (now.kind === 'failed') removeTreeBaseline(gitDir)
  else rebaseline(gitDir, now)
}

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

/** What changed in git's configuration and hooks since the worktree was opened. */
export function changedGitConfigKeys(root: string, gitDirs: GitDirs): string[] {
  const signature = fileSignature(watchedPaths(gitDirs))
  if (isUnchangedSinceCheck(gitDirs.own, 'repository', signature)) return []
  const baseline = readRepositoryBaseline(gitDirs.own)
  if (baseline.kind === 'refused') return [`(the record of what was configured cannot be used: ${baseline.why})`]
  if (baseline.kind === 'absent') return isInstalled(gitDirs) ? ['(the record of what was configured is gone)'] : []
  const setup = readRepositorySetup(root, gitDirs)
  const untrusted = findChangedKeys(baseline.value, setup)
  if (untrusted.length === 0 && isFullyWatched(setup, gitDirs)) recordCheck(gitDirs.own, 'repository', signature)
  return untrusted
}

/**
 * A partial clone fetches what it lacks by whatever its configuration names. Any mention counts: a partial clone that is
 * not seen would run a program.
 */
export const promisorKeys = (root: string, gitDirs: GitDirs): string[] =>
  Object.entries(readRepositorySetup(root, gitDirs).configs).flatMap(([path, text]) =>
    /promisor|partialclone/i.test(text) ? [`promisor in ${path}`] : [],
  )

/** A gate that came with the repository and was never installed here has no baseline. */
const isInstalled = ({ own }: GitDirs): boolean => lstatEntry(own, installRecordPath).kind !== 'absent'

/** Files and folders that can tell git what to run. A folder's times change when an entry is added. */
const watchedPaths = ({ own, common }: GitDirs): string[] => [
  join(common, 'config'),
  join(own, 'config.worktree'),
  join(common, 'hooks'),
  join(common, 'modules'),
  join(own, 'modules'),
  ...userGitConfigs(),
]

/** Whether the watched paths are everything: no hooks (whose content can change in place) and no included files. */
const isFullyWatched = (setup: RepositorySetup, gitDirs: GitDirs): boolean =>
  Object.keys(setup.hooks).length === 0 &&
  Object.keys(setup.configs).every((path) => watchedPaths(gitDirs).includes(path))
