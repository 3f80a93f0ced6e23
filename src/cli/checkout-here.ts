import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { spawnGit } from '../system/spawn-git.ts'
import { UserError } from '../system/user-error.ts'

/**
 * The checkout that a folder belongs to, by a single call of git; null: there is none, or git has something to say. A git
 * that could not be asked throws: then it is not known whose configuration counts here.
 */
export async function checkoutHere(cwd: string): Promise<{ root: string; gitDirs: GitDirs } | null> {
  const run = await spawnGit(cwd, ['rev-parse', '--path-format=absolute', '--show-toplevel'], 60_000)
  if (run.kind === 'not-found') throw new UserError('git is not on PATH.', 'Install git, then try again.')
  if (run.kind === 'stopped') throw new UserError(`${run.why}.`, 'Put that right, then try again.', 1)
  if (run.exitCode !== 0) return null
  const root = run.stdout.toString('utf8').replace(/\n$/, '')
  const gitDirs = root.includes('\n') ? null : readGitDirs(root)
  return gitDirs === null ? null : { root, gitDirs }
}
