import { copyFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from './errors.ts'
import { spawnGit } from './git.ts'
import type { GitDirs } from './git-dirs.ts'
import { withTemporaryFolder } from './temporary-folder.ts'

/** `from`: what a renamed file was called before. */
export type ChangedFile = {
  readonly path: string
  readonly from: string | null
  readonly status: 'added' | 'changed' | 'deleted' | 'renamed'
}

/** What differs between a commit and the worktree, files that git does not know included; the index stays as it is. */
export const worktreeDiff = (root: string, gitDirs: GitDirs, base: string): Promise<string> =>
  beside(root, gitDirs, base, 120_000, (diff) => diff([]))

/** The same, and beside it which files it is about. `timeoutMs` is for each command of git. */
export const worktreeChanges = (
  root: string,
  gitDirs: GitDirs,
  base: string,
  timeoutMs: number,
): Promise<{ readonly diff: string; readonly files: readonly ChangedFile[] }> =>
  beside(root, gitDirs, base, timeoutMs, async (diff) => ({
    diff: await diff([]),
    files: parseNames(await diff(['--name-status', '-z'])),
  }))

const beside = <T>(
  root: string,
  gitDirs: GitDirs,
  base: string,
  timeoutMs: number,
  work: (diff: (flags: readonly string[]) => Promise<string>) => Promise<T>,
): Promise<T> =>
  withTemporaryFolder('diff', async (folder) => {
    const index = join(folder, 'index')
    copyIndex(join(gitDirs.own, 'index'), index)
    const env = { GIT_INDEX_FILE: index, GIT_OPTIONAL_LOCKS: '0' }
    const run = (args: readonly string[], onFailure = failed): Promise<string> =>
      runGit(root, args, { env, timeoutMs, onFailure })
    const commit = await run(['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`], () =>
      unknown(base),
    )
    await run(['add', '--intent-to-add', '--', '.'])
    return await work((flags) => run(['diff', ...diffFlags, ...flags, commit.trim(), '--']))
  })

const diffFlags = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
]

/** `M`, a path; `R90`, the old path, the new one. */
function parseNames(text: string): ChangedFile[] {
  const parts = text.split('\0')
  const files: ChangedFile[] = []
  for (let at = 0; at + 1 < parts.length; ) {
    const letter = parts[at]?.[0] ?? ''
    const isPair = letter === 'R' || letter === 'C'
    const path = parts[at + (isPair ? 2 : 1)] ?? ''
    files.push({ path, from: letter === 'R' ? (parts[at + 1] ?? null) : null, status: statuses[letter] ?? 'changed' })
    at += isPair ? 3 : 2
  }
  return files
}

const statuses: { readonly [letter: string]: ChangedFile['status'] } = {
  A: 'added',
  C: 'added',
  D: 'deleted',
  R: 'renamed',
}

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

type Run = {
  readonly env: { [name: string]: string }
  readonly timeoutMs: number
  readonly onFailure: (message: string) => UserError
}

async function runGit(root: string, args: readonly string[], { env, timeoutMs, onFailure }: Run): Promise<string> {
  const outcome = await spawnGit(root, args, timeoutMs, env)
  if (outcome.kind === 'not-found') throw new UserError('git is not on PATH.', 'Install git, then try again.')
  if (outcome.kind === 'stopped') throw failed(outcome.why)
  if (outcome.exitCode !== 0) throw onFailure(outcome.stderr)
  return outcome.stdout.toString('utf8')
}

const unknown = (base: string): UserError =>
  new UserError(`${base} is not a commit here.`, 'Give a branch, a tag or a commit: --diff main.')

const failed = (message: string): UserError =>
  new UserError(`git could not say what changed: ${message.trim()}`, 'Mend what git reports, then try again.', 1)
