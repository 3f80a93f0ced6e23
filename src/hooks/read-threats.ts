import { join } from 'node:path'
import type { Refused } from '../store/check-folder.ts'
import { installRecordPath, readInstallRecord } from '../store/install-record.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { type FileThreat, findThreats } from './find-threats.ts'

/**
 * Everything in the settings that a session in this worktree reads which would switch the gate off. The main
 * checkout's settings.local.json counts for a linked worktree too, and more than the worktree's own.
 */
export function readThreats(root: string): FileThreat[] {
  const gitDirs = readGitDirs(root)
  const record = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  return [
    ...(gitDirs !== null && record?.kind === 'refused' ? [lostRecord(gitDirs.own, record)] : []),
    ...findThreats(root, gitDirs?.mainRoot ?? null, record?.kind === 'read' ? record.value.settings : null),
  ]
}

/** Without it our own hooks would not be missed. */
const lostRecord = (gitDir: string, refused: Refused): FileThreat => ({
  ...{ file: join(gitDir, installRecordPath), dir: gitDir, path: installRecordPath, whose: 'install record', refused },
  what: refused.why,
  remedy: 'Run `plan-gate install`, or `plan-gate doctor` for more.',
})
