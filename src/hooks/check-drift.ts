import { type Drift, findDrift } from '../gate/drift/find-drift.ts'
import { planPath } from '../gate/place-of.ts'
import { printable } from '../gate/printable.ts'
import type { InstallRecord } from '../schemas/install-record.ts'
import type { TreeBaseline } from '../schemas/worktree-baseline.ts'
import { appendEvent } from '../store/append-event.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { sha256 } from '../store/sha256.ts'
import { readTreeBaseline, writeTreeBaseline } from '../store/worktree-baseline.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { readTreeState } from '../system/read-tree-state.ts'

export type DriftCheck =
  | { kind: 'none' }
  | { kind: 'found'; drift: readonly Drift[] }
  | { kind: 'unknown'; why: string }

const timeoutMs = 25_000

/**
 * Did something change that no tool of Claude's may change before an approval? Until it is taken back, or the user
 * accepts it, each look finds it again; it is put on record once.
 */
export async function checkDrift(root: string, gitDir: string, record: InstallRecord | null): Promise<DriftCheck> {
  const now = await readTreeState(root, { isLeftOut: isLeftOut(record), timeoutMs })
  if (now.kind === 'failed') return { kind: 'unknown', why: now.why }
  const known = readTreeBaseline(gitDir)
  if (known.kind !== 'read') {
    writeTreeBaseline(gitDir, { head: now.head, paths: now.paths, reported: null })
    return { kind: 'none' }
  }
  const drift = findDrift(known.value, now)
  if (drift.length === 0) return { kind: 'none' }
  await recordOnce(root, gitDir, known.value, drift)
  return { kind: 'found', drift }
}

async function recordOnce(
  root: string,
  gitDir: string,
  baseline: TreeBaseline,
  drift: readonly Drift[],
): Promise<void> {
  const reported = sha256(JSON.stringify(drift))
  if (baseline.reported === reported) return
  writeTreeBaseline(gitDir, { ...baseline, reported })
  await appendEvent(root, { type: 'drift-found', paths: drift.map(({ path }) => readable(path)) })
}

/** Takes the worktree as it is for being in order: at the start of a session, when an approval ends, when the user says so. */
export async function acceptTree(root: string, gitDir: string, record: InstallRecord | null): Promise<DriftCheck> {
  const now = await readTreeState(root, { isLeftOut: isLeftOut(record), timeoutMs })
  if (now.kind === 'failed') return { kind: 'unknown', why: now.why }
  writeTreeBaseline(gitDir, { head: now.head, paths: now.paths, reported: null })
  return { kind: 'none' }
}

export async function acceptTreeHere(root: string): Promise<DriftCheck> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) return { kind: 'unknown', why: 'there is no git repository' }
  const record = readInstallRecord(gitDirs.own)
  return acceptTree(root, gitDirs.own, record.kind === 'read' ? record.value : null)
}

/** The plan may change, and what is ours (or Claude Code's own) is compared with the install, not with a baseline. */
const isLeftOut = (record: InstallRecord | null) => {
  const own = new Set([
    planPath,
    '.claude/settings.json',
    '.claude/settings.local.json',
    ...(record?.files ?? []).map(({ path }) => path),
  ])
  return (path: string): boolean =>
    own.has(path) || path.startsWith('.claude/review/') || path.startsWith('.claude/hooks/plan-gate/')
}

/** Paths are bytes in latin1; people read UTF-8. */
export const readable = (path: string): string => printable(Buffer.from(path, 'latin1').toString('utf8'), 200)

/** What Claude is told. */
export function describeDrift(drift: readonly Drift[]): string {
  const shown = drift.slice(0, 30).map(({ path, what }) => `  ${readable(path)}: ${what}`)
  const more = drift.length > shown.length ? [`  … and ${drift.length - shown.length} more`] : []
  return [
    'plan-gate: files changed although no plan is approved:',
    ...shown,
    ...more,
    'Tell the user. If this session did it, ask them to put it back; if it was theirs, they run `plan-gate drift accept`.',
  ].join('\n')
}
