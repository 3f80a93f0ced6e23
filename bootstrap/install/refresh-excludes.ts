import { readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { holdLock } from '../../src/store/hold-lock.ts'
import { installRecordPath, readInstallRecord } from '../../src/store/install-record.ts'
import { putFile } from '../../src/store/put-file.ts'
import { readRegular } from '../../src/store/read-regular.ts'
import { throwIfUnreadable } from '../../src/store/refuse-unread.ts'
import { sweepTemporaries } from '../../src/store/sweep-temporaries.ts'
import type { GitDirs } from '../../src/system/git-dirs.ts'
import { unlessAbsent } from '../../src/system/system-failure.ts'
import { UserError } from '../../src/system/user-error.ts'
import { withExcludeBlock } from './exclude-block.ts'

/**
 * Makes our block in the repository's `info/exclude` name just what its worktrees have installed now. All worktrees
 * share the file, so it is rewritten under a lock from their records, and goes away with the last of them.
 */
export async function refreshExcludes({ common }: GitDirs): Promise<void> {
  const rewrite = (): void => {
    sweepTemporaries(common, 'info', 'exclude')
    rewriteExclude(common)
  }
  const held = await holdLock(join(common, 'plan-gate-exclude.lock'), rewrite, { waitMs: 30_000 })
  if (held.kind === 'busy')
    throw new UserError(
      `${join(common, 'info/exclude')} was being changed for 30 s by another plan-gate.`,
      'Try again when that has ended.',
      1,
    )
}

function rewriteExclude(common: string): void {
  const read = readRegular(common, 'info/exclude')
  if (read.kind === 'refused')
    throw new UserError(
      `plan-gate cannot hide its files from git: ${read.why}.`,
      'Make it a plain file, then try again.',
    )
  // latin1 keeps every byte of a file in an encoding of its own.
  const text = read.kind === 'read' ? read.bytes.toString('latin1') : null
  const wanted = withExcludeBlock(text, livePatterns(common))
  if (wanted === text) return
  if (wanted === null) return removeExclude(common)
  const mode = text === null ? 0o644 : statSync(join(common, 'info/exclude')).mode & 0o7777
  putFile(common, 'info/exclude', Buffer.from(wanted, 'latin1'), mode)
}

function livePatterns(common: string): string[] {
  const worktrees = join(common, 'worktrees')
  const names = unlessAbsent(() => readdirSync(worktrees), [])
  const gitDirs = [common, ...names.map((name) => join(worktrees, name))]
  const patterns = gitDirs.flatMap((gitDir) => {
    const record = readInstallRecord(gitDir)
    // What it hides would show up there.
    throwIfUnreadable(join(gitDir, installRecordPath), record)
    return record.kind === 'read' ? record.value.excluded : []
  })
  return [...new Set(patterns)].sort()
}

function removeExclude(common: string): void {
  rmSync(join(common, 'info/exclude'), { force: true })
  if (readdirSync(join(common, 'info')).length === 0) rmdirSync(join(common, 'info'))
}
