import { basename } from 'node:path'
import { type NextAction, nextAction } from '../src/plan/next-action.ts'
import { StoreError } from '../src/state/files.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { listSessions } from '../src/state/sessions.ts'
import { systemErrorCode } from '../src/system/errors.ts'
import { type GitDirs, readGitDirs } from '../src/system/git-dirs.ts'
import { findRepository, listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { shellWord } from '../src/text/shell-word.ts'
import { readStanding } from './standing.ts'

/** A worktree with a gate, for the lists of `open` and `status`. */
export type GatedWorktree = {
  root: string
  branch: string | null
  /** Where its plan stands, and what comes next. */
  next: NextAction
  /** When a session was last active there. */
  lastUsed: string | null
  /** Starts Claude Code there. */
  command: string
}

/** Of the repository of a folder, the one that was used last first. */
export async function listGated(cwd: string): Promise<GatedWorktree[]> {
  const repository = await findRepository(cwd)
  const all = (await listWorktrees(repository.dir)).map(({ path, branch }) => ({ root: resolveLinks(path), branch }))
  const gated = all.flatMap(({ root, branch }) => {
    const gitDirs = readGitDirs(root)
    if (gitDirs === null || readInstallRecord(gitDirs.own).kind !== 'read') return []
    const { next, last } = stateOf(root, gitDirs)
    const prefix = `${repository.name}-`
    const name = basename(root).startsWith(prefix) ? basename(root).slice(prefix.length) : root
    const isUnique = all.filter((other) => basename(other.root) === basename(root)).length === 1
    const command = `plan-gate open ${shellWord(isUnique ? name : root)}`
    return [{ root, branch, next, lastUsed: last, command }]
  })
  return gated.sort((a, b) => (b.lastUsed ?? '').localeCompare(a.lastUsed ?? ''))
}

/** One worktree that cannot be read does not hide the others. */
function stateOf(root: string, gitDirs: GitDirs): { next: NextAction; last: string | null } {
  try {
    const [last] = listSessions(root)
    const next = nextAction(readStanding(root, gitDirs, { drift: false }))
    return { next, last: last?.session?.last_seen_at ?? null }
  } catch (error) {
    if (!(error instanceof StoreError) && systemErrorCode(error) === null) throw error
    const why = error instanceof Error ? error.message : String(error)
    return { next: { state: 'damaged', text: `It cannot be read: ${why}`, command: 'plan-gate doctor' }, last: null }
  }
}
