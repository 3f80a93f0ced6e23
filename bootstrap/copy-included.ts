import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { ownSkills } from '../src/gate/place-of.ts'
import { checkFolder } from '../src/store/check-folder.ts'
import { errnoOf } from '../src/store/store-error.ts'
import { git, gitOrThrow } from '../src/system/git.ts'
import { UserError } from '../src/system/user-error.ts'

const list = '.worktreeinclude'

/**
 * Copies the files that `.worktreeinclude` names (in the language of .gitignore) from the checkout into the worktree,
 * as Claude Code does for its own: only files that git ignores, here and there, so that the worktree's status stays
 * clean. What is there already is left alone.
 */
export async function copyIncluded(checkout: string, worktree: string): Promise<string[]> {
  if (!statSync(join(checkout, list), { throwIfNoEntry: false })?.isFile()) return []
  const wanted = new Set(await ignoredFiles(checkout, ['--exclude-from', list]))
  const ignored = await ignoredFiles(checkout, ['--exclude-standard'])
  const missing = ignored.filter((path) => wanted.has(path) && !isOurs(path) && isFree(worktree, path))
  const harmless = await ignoredIn(worktree, missing)
  return harmless.filter((path) => copyOne(join(checkout, path), join(worktree, path)))
}

/** A folder full of packages may take a while. */
const deadlineMs = 10 * 60_000

async function ignoredFiles(checkout: string, patterns: readonly string[]): Promise<string[]> {
  const listed = await gitOrThrow(checkout, ['ls-files', '-z', '--others', '--ignored', ...patterns], deadlineMs)
  return listed.split('\0').filter((path) => path !== '' && !path.endsWith('/'))
}

/** Another worktree's gate, reviews and local settings are not this one's. */
const isOurs = (path: string): boolean =>
  [
    '.claude/review/',
    '.claude/hooks/plan-gate/',
    '.claude/settings',
    '.claude/worktrees/',
    ...ownSkills.map((name) => `.claude/skills/${name}/`),
  ].some((prefix) => path.startsWith(prefix))

/** Nothing is there, and no tracked symbolic link leads the copy out of the worktree. */
const isFree = (worktree: string, path: string): boolean =>
  checkFolder(worktree, posix.dirname(path)).kind !== 'refused' &&
  lstatSync(join(worktree, path), { throwIfNoEntry: false }) === undefined

const atOnce = 500
const noneIgnored = 1

/** Those that the worktree ignores, too: its commit may have another .gitignore than the checkout. */
async function ignoredIn(worktree: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  if (paths.length > atOnce) return ignoredInHalves(worktree, paths)
  // A line for each path, in their order. ./ keeps a leading colon from being read as a pathspec's magic.
  const asked = await git(worktree, [
    'check-ignore',
    '--verbose',
    '--non-matching',
    ...paths.map((path) => `./${path}`),
  ])
  if (asked.kind === 'ok') {
    const lines = asked.stdout.split('\n')
    return paths.filter((_, index) => /^[^:].*?:\d+:(?!!)/.test(lines[index] ?? ''))
  }
  // One that lies in a submodule there fails them all.
  return asked.exitCode === noneIgnored || paths.length === 1 ? [] : ignoredInHalves(worktree, paths)
}

async function ignoredInHalves(worktree: string, paths: readonly string[]): Promise<string[]> {
  const half = paths.length >> 1
  return [...(await ignoredIn(worktree, paths.slice(0, half))), ...(await ignoredIn(worktree, paths.slice(half)))]
}

function copyOne(from: string, to: string): boolean {
  // None where it has gone since, or has a name that is no text.
  const found = lstatSync(from, { throwIfNoEntry: false })
  if (found === undefined) return false
  // Renamed when it is whole: half a copy would be taken for the file by the next run.
  const temporary = join(dirname(to), '.plan-gate-copy')
  try {
    mkdirSync(dirname(to), { recursive: true })
    rmSync(temporary, { force: true })
    if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), temporary)
    else copyFileSync(from, temporary, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    renameSync(temporary, to)
  } catch (error) {
    throw new UserError(
      `${from}, which ${list} names, cannot be copied (${errnoOf(error)}).`,
      `Mend that, or take it out of ${list}; then run the same command again.`,
      1,
    )
  }
  return true
}
