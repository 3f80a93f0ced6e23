import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { git, gitOutput } from '../src/system/git.ts'
import { UserError } from '../src/system/user-error.ts'

export type Repository = {
  /** Where git commands run: the checkout, or the bare repository itself. */
  dir: string
  /** The checkout that the user stands in; null in a bare repository. */
  checkout: string | null
  /** The main checkout's folder, or the bare repository's: new worktrees are laid beside it. */
  home: string
  commonDir: string
  name: string
}

/** The repository that a folder belongs to, from wherever in it: a subfolder, a linked worktree, a submodule, a bare one. */
export async function findRepository(cwd: string): Promise<Repository> {
  const facts = await git(cwd, [
    'rev-parse',
    '--path-format=absolute',
    '--is-bare-repository',
    '--is-inside-git-dir',
    '--git-common-dir',
  ])
  if (facts.kind === 'failed') throw notARepository(cwd, facts.message)
  const [bare, insideGitDir, common = ''] = facts.stdout.trimEnd().split('\n')
  const commonDir = realpathSync(common)
  if (bare === 'true')
    return {
      dir: commonDir,
      checkout: null,
      home: commonDir,
      commonDir,
      name: basename(commonDir).replace(/\.git$/, '') || 'repo',
    }
  if (insideGitDir === 'true')
    throw new UserError(
      `${cwd} is inside a git directory, not in a checkout.`,
      'Go to the folder of your files, then try again.',
    )
  const checkout = (await gitOutput(cwd, ['rev-parse', '--path-format=absolute', '--show-toplevel'])).replace(/\n$/, '')
  const home = await homeOf(checkout, commonDir)
  return { dir: checkout, checkout, home, commonDir, name: basename(home) }
}

/** In a linked worktree `home` is still the main checkout, so that worktrees do not pile up inside or beside each other. */
async function homeOf(checkout: string, commonDir: string): Promise<string> {
  const main = basename(commonDir) === '.git' ? dirname(commonDir) : null
  if (main !== null) return main
  const listed = await gitOutput(checkout, ['worktree', 'list', '--porcelain', '-z'])
  const first = listed.split('\0')[0]?.replace(/^worktree /, '') ?? checkout
  // A submodule lists its git directory in .git/modules as its main worktree.
  return first.startsWith(commonDir) ? checkout : first
}

function notARepository(cwd: string, message: string): UserError {
  if (message.includes('dubious ownership'))
    return new UserError(
      `git does not trust the repository at ${cwd}: it belongs to somebody else.`,
      `If you trust it: git config --global --add safe.directory ${join(cwd)}`,
    )
  return new UserError(
    `${cwd} is not in a git repository.`,
    'Go to a repository, or make one: git init && git commit --allow-empty -m "first commit".',
  )
}

/** What a new worktree starts from. */
export async function resolveBase(repository: Repository, base: string): Promise<string> {
  const found = await git(repository.dir, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`])
  if (found.kind === 'ok') return found.stdout.trim()
  if (base === 'HEAD')
    throw new UserError(
      'This repository has no commit yet, and a worktree needs one to start from.',
      'Commit something first: git commit --allow-empty -m "first commit".',
    )
  throw new UserError(
    `The base ${base} is not a commit that this repository knows.`,
    'Name a branch, a tag or a commit (`git branch -a` lists branches; `git fetch` gets new ones).',
  )
}
