import { readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { InstallRecord } from '../schemas/records.ts'
import { putFile, readRegular, sweepTemporaries, throwIfUnreadable } from '../state/files.ts'
import { holdLock } from '../state/lock.ts'
import { calibrationDir, gitDirFolder, installRecordPath } from '../state/own-paths.ts'
import { readInstallRecord, removeConsent } from '../state/records.ts'
import { UserError, unlessAbsent } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'

/** All worktrees share the file: our block is rewritten under a lock from their records, and goes with the last. */
export async function refreshExcludes({ common }: GitDirs): Promise<void> {
  const rewrite = (): void => {
    sweepTemporaries(common, 'info', 'exclude')
    rewriteExclude(common)
  }
  const held = await holdLock(join(common, 'plan-gate-exclude.lock'), rewrite, { waitMs: 30_000 })
  if (held.kind === 'busy')
    throw new UserError(
      `${join(common, 'info/exclude')} was locked by another plan-gate for 30 s.`,
      'Try again when it has finished.',
      1,
    )
}

function rewriteExclude(common: string): void {
  const read = readRegular(common, 'info/exclude')
  if (read.kind === 'refused')
    throw new UserError(
      `plan-gate cannot hide its files from git: ${read.why}.`,
      'Make it a regular file, then try again.',
    )
  // latin1 keeps every byte, whatever the encoding.
  const text = read.kind === 'read' ? read.bytes.toString('latin1') : null
  const wanted = withExcludeBlock(text, livePatterns(common))
  if (wanted === text) return
  if (wanted === null) return removeExclude(common)
  const mode = text === null ? 0o644 : statSync(join(common, 'info/exclude')).mode & 0o7777
  putFile(common, 'info/exclude', Buffer.from(wanted, 'latin1'), mode)
}

const livePatterns = (common: string): string[] =>
  [...new Set(installRecords(common).flatMap(({ excluded }) => excluded))].sort()

/** Of all worktrees of the repository. */
function installRecords(common: string): InstallRecord[] {
  const worktrees = join(common, 'worktrees')
  const names = unlessAbsent(() => readdirSync(worktrees), [])
  const gitDirs = [common, ...names.map((name) => join(worktrees, name))]
  return gitDirs.flatMap((gitDir) => {
    const record = readInstallRecord(gitDir)
    // Without its patterns, its files would show up in git status.
    throwIfUnreadable(join(gitDir, installRecordPath), record)
    return record.kind === 'read' ? [record.value] : []
  })
}

/** With the last worktree the folder that they share goes, too, unless it has the user's consent. */
export function removeSharedFolder(common: string): void {
  const folder = join(common, gitDirFolder)
  if (installRecords(common).length === 0 && unlessAbsent(() => readdirSync(folder), ['absent']).length === 0)
    rmdirSync(folder)
}

/** Also the consent, and what was measured. */
export function removeShared(common: string): void {
  if (installRecords(common).length > 0) return
  removeConsent(common)
  rmSync(join(common, calibrationDir), { recursive: true, force: true })
  removeSharedFolder(common)
}

function removeExclude(common: string): void {
  rmSync(join(common, 'info/exclude'), { force: true })
  if (readdirSync(join(common, 'info')).length === 0) rmdirSync(join(common, 'info'))
}

const begin = '# >>> plan-gate: its files in a worktree, so that they do not show up in `git status`'
const end = '# <<< plan-gate'

/** Noted in the block, so that removing it restores the file byte for byte. */
type Origin = 'plain' | 'line-end-added' | 'file-created'

const markOf: { readonly [origin in Origin]: string } = {
  plain: '',
  'line-end-added': ' (the line end before this is ours)',
  'file-created': ' (the file is ours)',
}

/** `info/exclude` with these patterns in our block; null: no file. */
function withExcludeBlock(text: string | null, patterns: readonly string[]): string | null {
  const bare = withoutExcludeBlock(text)
  if (patterns.length === 0) return bare
  const origin: Origin =
    bare === null ? 'file-created' : bare === '' || bare.endsWith('\n') ? 'plain' : 'line-end-added'
  const block = [`${begin}${markOf[origin]}`, ...patterns, end, ''].join('\n')
  return `${bare ?? ''}${origin === 'line-end-added' ? '\n' : ''}${block}`
}

function withoutExcludeBlock(text: string | null): string | null {
  if (text === null) return null
  const start = text.indexOf(begin)
  const stop = text.indexOf(`\n${end}\n`, start)
  if (start === -1 || stop === -1) return text
  const mark = text.slice(start + begin.length, text.indexOf('\n', start))
  const head = text.slice(0, mark === markOf['line-end-added'] ? start - 1 : start)
  const rest = head + text.slice(stop + end.length + 2)
  return rest === '' && mark === markOf['file-created'] ? null : rest
}
