import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { UserError, unlessAbsent } from './errors.ts'
import { firstLine, readGitDirs } from './git-dirs.ts'

/** A worktree and its repository name each other by their paths; after a plain `mv` one of the two is wrong. */
export class MovedError extends UserError {}

/** Thrown for a worktree that was moved by itself: the repository still has its old folder. */
export function throwIfMoved(checkout: string, gitDir: string): void {
  const before = firstLine(join(gitDir, 'gitdir'))
  if (before === null || existsSync(resolveFrom(gitDir, before))) return
  throw new MovedError(
    `This worktree was moved: git knows it as ${dirname(resolveFrom(gitDir, before))}.`,
    `Tell git where it is: git -C ${shellWord(checkout)} worktree repair`,
  )
}

/** The main checkout was moved, so git finds no repository from a worktree of it. Null: that is not the reason. */
export function movedMainError(cwd: string): MovedError | null {
  const root = nearestWithGit(cwd)
  const gitDir = root === null ? null : (readGitDirs(root)?.own ?? null)
  if (root === null || gitDir === null || existsSync(gitDir)) return null
  const [, oldCommon = ''] = /^(.*)\/worktrees\/[^/]+$/.exec(gitDir) ?? []
  if (oldCommon === '') return null
  const old = basename(oldCommon) === '.git' ? dirname(oldCommon) : oldCommon
  const [main, ...others] = mainCheckoutsNear([dirname(old), dirname(root)], basename(gitDir), root)
  const where = main === undefined || others.length > 0 ? '<its folder>' : shellWord(main)
  return new MovedError(
    `The main checkout of this worktree was moved: ${old} is gone.`,
    `Tell git where the worktree is: ${repairCommand(where, [root])}`,
  )
}

/** The hooks name paths in the git directory, so the gate is put right, too. */
const repairCommand = (main: string, worktrees: readonly string[]): string =>
  [
    `git -C ${main} worktree repair ${worktrees.map((path) => shellWord(path)).join(' ')}`,
    ...worktrees.map((path) => `cd ${shellWord(path)} && plan-gate install`),
  ].join(' && ')

/** Seen from the main checkout: what is wrong with the worktrees that git lists. */
export function movedWorktrees(main: string, commonDir: string, paths: readonly string[]): MovedError | null {
  const stale = paths.filter((path) => {
    const own = readGitDirs(path)?.own
    return own !== undefined && !existsSync(own)
  })
  if (stale.length > 0)
    return new MovedError(
      `The main checkout was moved, and ${stale.join(', ')} still ${stale.length === 1 ? 'looks' : 'look'} for it elsewhere.`,
      `Tell git: ${repairCommand(shellWord(main), stale)}`,
    )
  const gone = paths.filter((path) => !existsSync(path))
  const near = [...new Set([...gone.map((path) => dirname(path)), dirname(main)])]
  const found = near.flatMap(foldersIn).filter((path) => !paths.includes(path) && isWorktreeOf(path, commonDir))
  if (gone.length === 0 || found.length === 0) return null
  return new MovedError(
    `${gone.join(', ')} ${gone.length === 1 ? 'was' : 'were'} moved to ${found.join(', ')}.`,
    `Tell git: git -C ${shellWord(main)} worktree repair ${found.map((path) => shellWord(path)).join(' ')}`,
  )
}

/** Of this repository, by a folder that git does not have. */
function isWorktreeOf(path: string, commonDir: string): boolean {
  const own = readGitDirs(path)?.own
  if (own === undefined || !existsSync(own) || dirname(dirname(realpathSync(own))) !== commonDir) return false
  const known = firstLine(join(own, 'gitdir'))
  return known !== null && !existsSync(resolveFrom(own, known))
}

/** Checkouts whose git directory has an entry for this worktree. */
const mainCheckoutsNear = (folders: readonly string[], id: string, root: string): string[] =>
  [...new Set(folders)].flatMap(foldersIn).filter((folder) => {
    const entry = join(folder, '.git/worktrees', id)
    const known = unlessAbsent(() => firstLine(join(entry, 'gitdir')), null)
    return known !== null && resolveFrom(entry, known) === join(root, '.git')
  })

const foldersIn = (folder: string): string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [join(folder, entry.name)] : [],
    )
  } catch {
    return []
  }
}

function nearestWithGit(cwd: string): string | null {
  for (let at = cwd; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

const resolveFrom = (folder: string, path: string): string => (path.startsWith('/') ? path : join(folder, path))

/** As `shellWord`, which this layer cannot load. */
const shellWord = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
