import { readInstallRecord } from '../store/install-record.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { type FileThreat, findThreats } from './find-threats.ts'

/**
 * Everything in the settings that a session in this worktree reads which would switch the gate off. The main
 * checkout's settings.local.json counts for a linked worktree too, and more than the worktree's own.
 */
export function readThreats(root: string): FileThreat[] {
  const gitDirs = readGitDirs(root)
  const record = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  return findThreats(root, gitDirs?.mainRoot ?? null, record?.kind === 'read' ? record.value.settings : null)
}
