import { copyFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { GitDirs } from '../system/git-dirs.ts'
import { spawnGit } from '../system/spawn-git.ts'
import { UserError } from '../system/user-error.ts'
import { withTemporaryFolder } from '../system/with-temporary-folder.ts'

/** What differs between a commit and the worktree, files that git does not know included; the index stays as it is. */
export const worktreeDiff = (root: string, gitDirs: GitDirs, base: string): Promise<string> =>
  withTemporaryFolder('diff', async (folder) => {
    const index = join(folder, 'index')
    copyIndex(join(gitDirs.own, 'index'), index)
    const env = { GIT_INDEX_FILE: index, GIT_OPTIONAL_LOCKS: '0' }
    const commit = await run(
      root,
      ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`],
      env,
      () => unknown(base),
    )
    await run(root, ['add', '--intent-to-add', '--', '.'], env, failed)
    return await run(root, ['diff', ...diffFlags, commit.trim(), '--'], env, failed)
  })

const diffFlags = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
] as const

/**
 * With its time: git looks again into a file that is as old as the index, since it may have changed within the second
 * in which it was added. A copy that were younger would hide such a change.
 */
function copyIndex(own: string, copy: string): void {
  const stat = statSync(own, { throwIfNoEntry: false })
  if (stat === undefined) return
  copyFileSync(own, copy)
  const seconds = Math.floor(stat.mtimeMs / 1000)
  utimesSync(copy, seconds, seconds)
}

async function run(
  root: string,
  args: readonly string[],
  env: { [name: string]: string },
  onFailure: (message: string) => UserError,
): Promise<string> {
  const outcome = await spawnGit(root, args, 120_000, env)
  if (outcome.kind === 'not-found') throw new UserError('git is not on PATH.', 'Install git, then try again.')
  if (outcome.kind === 'stopped') throw failed(outcome.why)
  if (outcome.exitCode !== 0) throw onFailure(outcome.stderr)
  return outcome.stdout.toString('utf8')
}

const unknown = (base: string): UserError =>
  new UserError(`${base} is not a commit here.`, 'Give a branch, a tag or a commit: --diff main.')

const failed = (message: string): UserError =>
  new UserError(`git could not say what changed: ${message.trim()}`, 'Mend what git reports, then try again.', 1)
