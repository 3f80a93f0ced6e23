import { constants, copyFileSync, existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gitOutput } from '../src/system/git.ts'
import { resolvePath } from '../src/system/resolve-path.ts'

const list = '.worktreeinclude'

/**
 * Copies the files that `.worktreeinclude` names (in the language of .gitignore) from the checkout into the worktree,
 * as Claude Code does for its own: only files that git ignores, so that the worktree's status stays clean. What is
 * there already is left alone.
 */
export async function copyIncluded(checkout: string, worktree: string): Promise<string[]> {
  if (!existsSync(join(checkout, list))) return []
  const wanted = new Set(await ignoredFiles(checkout, ['--exclude-from', list]))
  const ignored = await ignoredFiles(checkout, ['--exclude-standard'])
  return ignored.filter((path) => wanted.has(path) && !isOurs(path) && copyOne(checkout, worktree, path))
}

async function ignoredFiles(checkout: string, patterns: readonly string[]): Promise<string[]> {
  const listed = await gitOutput(checkout, ['ls-files', '-z', '--others', '--ignored', ...patterns])
  return listed.split('\0').filter((path) => path !== '' && !path.endsWith('/'))
}

/** Another worktree's gate, reviews and local settings are not this one's. */
const isOurs = (path: string): boolean =>
  ['.claude/review/', '.claude/hooks/plan-gate/', '.claude/settings', '.claude/worktrees/'].some((prefix) =>
    path.startsWith(prefix),
  )

function copyOne(checkout: string, worktree: string, path: string): boolean {
  const from = join(checkout, path)
  const to = join(worktree, path)
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined || !staysInside(worktree, to)) return false
  mkdirSync(dirname(to), { recursive: true })
  if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to)
  else copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  return true
}

/** A tracked symbolic link of the repository must not lead the copy out of the worktree. */
function staysInside(worktree: string, to: string): boolean {
  const target = resolvePath(dirname(to))
  return target.kind === 'resolved' && (target.real === worktree || target.real.startsWith(`${worktree}/`))
}
