import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, posix, relative, resolve } from 'node:path'
import { checkFolder, ensureFolder, ensureReviewDir, errnoOf, readRegular, writeAtomic } from '../src/state/files.ts'
import { gitDirFolder, hooksDir, isOwnPath, ownSkillDirs, reviewDir } from '../src/state/own-paths.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { asFailure, git, gitOrNull } from '../src/system/git.ts'
import { isGitLocation } from '../src/system/hook-git.ts'
import { describeOutcome, runCommand } from '../src/system/run-command.ts'
import { sha256 } from '../src/system/sha256.ts'
import { printable } from '../src/text/clean.ts'
import { recordMadeBySetup } from './archive.ts'

export type Strategy = { path: string; bytes: Buffer; inCheckout: string | null }

const maxBytes = 4 * 1024 * 1024

/** The document that says what is wanted; `inCheckout` is its path there. */
export function findStrategy(cwd: string, file: string | null, checkout: string | null = null): Strategy | null {
  if (file === null) return null
  const path = resolve(cwd, file)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined)
    throw new UserError(
      `The strategy document ${path} does not exist.`,
      'Check the path, or leave it out and describe in the session what you want.',
    )
  if (!found.isFile()) throw new UserError(`${path} is not a file.`, 'Name the document itself.')
  if (found.size > maxBytes)
    throw new UserError(`${path} is larger than 4 MB.`, 'Name a shorter document that says what is wanted.')
  return { path, bytes: bytesOf(path), inCheckout: checkout === null ? null : insideOf(checkout, path) }
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UserError(`${path} cannot be read (${errnoOf(error)}).`, 'Make it readable, then try again.')
  }
}

function insideOf(checkout: string, path: string): string | null {
  const inside = relative(checkout, realpathSync(path))
  return inside === '..' || inside.startsWith('../') ? null : inside
}

/** The worktree's name: --name, or the strategy's file name, or today's date. */
export function nameFor(requested: string | null, strategy: Strategy | null, now: Date): string {
  if (requested === null)
    return strategy === null
      ? now.toISOString().slice(0, 10)
      : slug(basename(strategy.path).replace(/\.[^.]*$/, '')) || 'plan'
  const name = requested.normalize('NFC')
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u.test(name) && !/\.\.|\.$|\.lock$/.test(name)) return name
  throw new UserError(
    `${JSON.stringify(requested)} is not a valid name: it becomes part of a folder and of a branch.`,
    'Use letters, digits, dots, dashes and underscores, at most 64.',
  )
}

function slug(text: string): string {
  const words = text
    .toLowerCase()
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
  return [...words]
    .slice(0, 48)
    .join('')
    .replace(/^[-\p{M}]+|-+$/gu, '')
}

/** Its own path where the worktree has it unchanged; any other is copied into `.claude/review`, hidden from git. */
export function copyStrategy(worktree: string, strategy: Strategy): string {
  const path = strategyPath(strategy, (inside) => {
    const read = readRegular(worktree, inside)
    return read.kind === 'read' ? read.bytes : null
  })
  if (path !== copiedStrategy) return path
  ensureReviewDir(worktree)
  writeAtomic(worktree, path, strategy.bytes)
  return path
}

export const copiedStrategy = `${reviewDir}/strategy.md`

export const strategyPath = (
  { inCheckout, bytes }: Strategy,
  readInWorktree: (path: string) => Buffer | null,
): string => (inCheckout !== null && readInWorktree(inCheckout)?.equals(bytes) === true ? inCheckout : copiedStrategy)

/** What of the checkout a new worktree will not have, for the user; null: nothing, or git cannot say. */
export async function describeLeftBehind(checkout: string, strategy: Strategy | null): Promise<string | null> {
  const listed = await gitOrNull(checkout, ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'])
  const paths = (listed ?? '').split('\0').flatMap((line) => (line.length > 3 ? [line.slice(3)] : []))
  const left = paths.filter((path) => path !== strategy?.inCheckout && !isOwnPath(path))
  if (left.length === 0) return null
  const names = left.slice(0, 3).map((path) => printable(path, 80))
  const more = left.length > names.length ? ` and ${left.length - names.length} more` : ''
  return `${left.length === 1 ? '1 file of this checkout is' : `${left.length} files of this checkout are`} not committed, so the worktree starts without ${left.length === 1 ? 'it' : 'them'}: ${names.join(', ')}${more}. Commit what belongs to the work first, or name a commit that has it with --base.`
}

const includeFile = '.worktreeinclude'

export const hasInclude = (checkout: string): boolean =>
  statSync(join(checkout, includeFile), { throwIfNoEntry: false })?.isFile() === true

/** As Claude Code does it: only what git ignores in both, so that the worktree stays clean. Replaces nothing. */
export async function copyIncluded(checkout: string, worktree: string): Promise<string[]> {
  const included = await filesToInclude(checkout, worktree)
  return included.filter((path) => copyOne(join(checkout, path), join(worktree, path)))
}

/** `worktree`: null where it is not there yet; its commit may ignore less than the checkout, and then gets less. */
export async function filesToInclude(checkout: string, worktree: string | null): Promise<string[]> {
  if (!hasInclude(checkout)) return []
  const wanted = new Set(await ignoredFiles(checkout, ['--exclude-from', includeFile]))
  const ignored = await ignoredFiles(checkout, ['--exclude-standard'])
  const ours = ignored.filter((path) => wanted.has(path) && !isOurs(path))
  if (worktree === null) return ours
  return ignoredIn(
    worktree,
    ours.filter((path) => isFree(worktree, path)),
  )
}

/** A folder full of packages takes a while. */
const listTimeoutMs = 10 * 60_000

async function ignoredFiles(checkout: string, patterns: readonly string[]): Promise<string[]> {
  const listed = await git(checkout, ['ls-files', '-z', '--others', '--ignored', ...patterns], {
    timeoutMs: listTimeoutMs,
  })
  return listed.split('\0').filter((path) => path !== '' && !path.endsWith('/'))
}

/** Another worktree's gate, reviews and local settings are not copied. */
const isOurs = (path: string): boolean =>
  path.startsWith('.claude/settings') ||
  [reviewDir, hooksDir, '.claude/worktrees', ...ownSkillDirs].some((folder) => path.startsWith(`${folder}/`))

/** Nothing is there, and no symbolic link leads out of the worktree. */
const isFree = (worktree: string, path: string): boolean =>
  checkFolder(worktree, posix.dirname(path)).kind !== 'refused' &&
  lstatSync(join(worktree, path), { throwIfNoEntry: false }) === undefined

const maxPathsPerCall = 500
const noneIgnoredStatus = 1

/** Its commit may have another .gitignore than the checkout. */
async function ignoredIn(worktree: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  if (paths.length > maxPathsPerCall) return ignoredInHalves(worktree, paths)
  // One line per path, in their order. `./` keeps a leading colon from being pathspec magic.
  const pathspecs = paths.map((path) => `./${path}`)
  const listed = await git(worktree, ['check-ignore', '--verbose', '--non-matching', ...pathspecs]).catch(asFailure)
  if (typeof listed === 'string') {
    const lines = listed.split('\n')
    return paths.filter((_, index) => /^[^:].*?:\d+:(?!!)/.test(lines[index] ?? ''))
  }
  // A path inside a submodule fails the whole call.
  return listed.status === noneIgnoredStatus || paths.length === 1 ? [] : ignoredInHalves(worktree, paths)
}

async function ignoredInHalves(worktree: string, paths: readonly string[]): Promise<string[]> {
  const half = paths.length >> 1
  return [...(await ignoredIn(worktree, paths.slice(0, half))), ...(await ignoredIn(worktree, paths.slice(half)))]
}

function copyOne(from: string, to: string): boolean {
  // Deleted meanwhile, or a name that is not UTF-8.
  const found = lstatSync(from, { throwIfNoEntry: false })
  if (found === undefined) return false
  // Renamed when complete: the next run would take a partial copy for the file.
  const temporary = join(dirname(to), '.plan-gate-copy')
  try {
    mkdirSync(dirname(to), { recursive: true })
    rmSync(temporary, { force: true })
    if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), temporary)
    else copyFileSync(from, temporary, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    renameSync(temporary, to)
  } catch (error) {
    throw new UserError(
      `${from}, which ${includeFile} names, cannot be copied (${errnoOf(error)}).`,
      `Fix that, or remove it from ${includeFile}; then run the same command again.`,
      1,
    )
  }
  return true
}

const setupTimeoutMs = 30 * 60_000
const doneFile = `${gitDirFolder}/setup-done`

/** Once for a worktree: again only if a command failed, or the list has changed. */
export async function runSetup(
  worktree: string,
  gitDir: string,
  commands: readonly string[],
  onCommand: (command: string) => void,
): Promise<number> {
  const digest = sha256(JSON.stringify(commands))
  if (commands.length === 0 || doneDigest(gitDir) === digest) return 0
  await recordMadeBySetup(worktree, gitDir, () => runAll(worktree, commands, onCommand))
  ensureFolder(gitDir, gitDirFolder)
  writeAtomic(gitDir, doneFile, `${digest}\n`)
  return commands.length
}

async function runAll(worktree: string, commands: readonly string[], onCommand: (command: string) => void) {
  for (const command of commands) {
    onCommand(command)
    const options = { cwd: worktree, env: withoutGitLocation(process.env), timeoutMs: setupTimeoutMs, show: true }
    const outcome = await runCommand('/bin/sh', ['-c', command], options)
    if (outcome.kind === 'ended' && outcome.exitCode === 0) continue
    throw new UserError(
      `The setup command \`${command}\` failed (${describeOutcome(outcome)}) in ${worktree}.`,
      'Fix it, then run the same bootstrap again: it reuses this worktree and repeats the setup.',
      1,
    )
  }
}

/** git must use this worktree, also if plan-gate was started from a git hook. */
const withoutGitLocation = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isGitLocation(name)))

const doneDigest = (gitDir: string): string | null =>
  unlessAbsent(() => readFileSync(join(gitDir, doneFile), 'utf8').trim(), null)
