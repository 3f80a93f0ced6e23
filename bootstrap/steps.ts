import { spawn } from 'node:child_process'
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
import { constants as constantsNodeOs } from 'node:os'
import { basename, dirname, join, posix, relative, resolve } from 'node:path'
import type { HookEntries } from '../src/install/hook-entries.ts'
import { deniedRules } from '../src/install/settings-audit.ts'
import { checkFolder, ensureFolder, ensureReviewDir, errnoOf, readRegular, writeAtomic } from '../src/state/files.ts'
import { gitDirFolder, ownSkills, reviewDir } from '../src/state/own-paths.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { locateProgram, withAbsolutePath } from '../src/system/find-program.ts'
import { asFailure, git } from '../src/system/git.ts'
import { type CommandOutcome, runCommand } from '../src/system/run-command.ts'
import { sha256 } from '../src/system/sha256.ts'
import { interceptSignals } from '../src/system/signals.ts'

const includeFile = '.worktreeinclude'

/**
 * Copies the files that `.worktreeinclude` names (in the language of .gitignore) from the checkout into the worktree,
 * as Claude Code does for its own: only files that git ignores, here and there, so that the worktree's status stays
 * clean. What is there already is left alone.
 */
export async function copyIncluded(checkout: string, worktree: string): Promise<string[]> {
  if (!statSync(join(checkout, includeFile), { throwIfNoEntry: false })?.isFile()) return []
  const wanted = new Set(await ignoredFiles(checkout, ['--exclude-from', includeFile]))
  const ignored = await ignoredFiles(checkout, ['--exclude-standard'])
  const missing = ignored.filter((path) => wanted.has(path) && !isOurs(path) && isFree(worktree, path))
  const harmless = await ignoredIn(worktree, missing)
  return harmless.filter((path) => copyOne(join(checkout, path), join(worktree, path)))
}

/** A folder full of packages may take a while. */
const listTimeoutMs = 10 * 60_000

async function ignoredFiles(checkout: string, patterns: readonly string[]): Promise<string[]> {
  const listed = await git(checkout, ['ls-files', '-z', '--others', '--ignored', ...patterns], {
    timeoutMs: listTimeoutMs,
  })
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

const maxPathsPerCall = 500
const noneIgnoredStatus = 1

/** Those that the worktree ignores, too: its commit may have another .gitignore than the checkout. */
async function ignoredIn(worktree: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  if (paths.length > maxPathsPerCall) return ignoredInHalves(worktree, paths)
  // A line for each path, in their order. ./ keeps a leading colon from being read as a pathspec's magic.
  const pathspecs = paths.map((path) => `./${path}`)
  const listed = await git(worktree, ['check-ignore', '--verbose', '--non-matching', ...pathspecs]).catch(asFailure)
  if (typeof listed === 'string') {
    const lines = listed.split('\n')
    return paths.filter((_, index) => /^[^:].*?:\d+:(?!!)/.test(lines[index] ?? ''))
  }
  // One that lies in a submodule there fails them all.
  return listed.status === noneIgnoredStatus || paths.length === 1 ? [] : ignoredInHalves(worktree, paths)
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
      `${from}, which ${includeFile} names, cannot be copied (${errnoOf(error)}).`,
      `Fix that, or take it out of ${includeFile}; then run the same command again.`,
      1,
    )
  }
  return true
}

/**
 * Passed by `--settings`, which is read once and wins over what any settings file says later: hooks that are switched
 * off during the session stay on. Rules with a single slash mean nothing there, so the paths are absolute.
 */
export const claudeSettings = (root: string, entries: HookEntries): object => ({
  disableAllHooks: false,
  env: { NODE_OPTIONS: '' },
  hooks: entries,
  permissions: { deny: deniedRules.map((rule) => rule.replace('(/', `(/${escapePattern(root)}/`)) },
})

const escapePattern = (path: string): string => path.replace(/[[\]*?{}()!]/g, '\\$&')

/** The prompt first, because flags such as --allowedTools swallow what follows them. */
export const claudeArgs = (prompt: string, settings: object, flags: readonly string[]): string[] => [
  prompt,
  '--settings',
  JSON.stringify(settings),
  ...flags,
]

/** Hands the terminal over and returns Claude Code's exit code; a signal that ends it becomes 128 and its number. */
export function launchClaude(cwd: string, args: readonly string[]): Promise<number> {
  const look = locateProgram('claude')
  if (look.path === null) throw new UserError(`${look.why}.`, 'Install it: npm i -g @anthropic-ai/claude-code')
  return new Promise((resolve, reject) => {
    const child = spawn(look.path, args, { cwd, stdio: 'inherit', env: cleanEnvironment() })
    // Ctrl-C belongs to the program in the foreground; the others are passed on.
    const giveBack = interceptSignals((signal) => signal === 'SIGINT' || child.kill(signal))
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      giveBack()
      resolve(code ?? 128 + constantsNodeOs.signals[signal ?? 'SIGTERM'])
    })
  })
}

/** A session inside a session (plan-gate started from Claude Code's own shell) must not take itself for a child. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(withAbsolutePath(process.env)).filter(
      ([name]) =>
        !/^(GIT_DIR|GIT_WORK_TREE|GIT_INDEX_FILE|GIT_COMMON_DIR|GIT_OBJECT_DIRECTORY|GIT_NAMESPACE|GIT_PREFIX|CLAUDECODE|CLAUDE_PROJECT_DIR|CLAUDE_CODE_(SESSION_ID|CHILD_SESSION|SIMPLE|SAFE_MODE)|NODE_OPTIONS)$/.test(
          name,
        ),
    ),
  )

const setupTimeoutMs = 30 * 60_000
const doneFile = `${gitDirFolder}/setup-done`

/**
 * Runs `worktree.setup` once for a worktree, each command with its output in sight. What ran is remembered in the
 * worktree's git directory: a second bootstrap runs them again only if one failed or the list has changed.
 */
export async function runSetup(
  worktree: string,
  gitDir: string,
  commands: readonly string[],
  tell: (command: string) => void,
): Promise<number> {
  const digest = sha256(JSON.stringify(commands))
  if (commands.length === 0 || doneDigest(gitDir) === digest) return 0
  for (const command of commands) {
    tell(command)
    const options = { cwd: worktree, env: environment(), timeoutMs: setupTimeoutMs, show: true }
    const outcome = await runCommand('/bin/sh', ['-c', command], options)
    if (outcome.kind === 'ended' && outcome.exitCode === 0) continue
    throw new UserError(
      `The setup command \`${command}\` failed (${describeOutcome(outcome)}) in ${worktree}.`,
      'Fix it, then run the same bootstrap again: it goes on with this worktree and runs the setup anew.',
      1,
    )
  }
  ensureFolder(gitDir, gitDirFolder)
  writeAtomic(gitDir, doneFile, `${digest}\n`)
  return commands.length
}

/** A git in a setup command must mean this worktree, even where plan-gate was started from a git hook. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX)$/.test(name)),
  )

function describeOutcome(outcome: CommandOutcome): string {
  switch (outcome.kind) {
    case 'ended':
      return `exit code ${outcome.exitCode}`
    case 'timed-out':
      return `it did not end within ${setupTimeoutMs / 60_000} minutes`
    case 'killed':
      return `ended by ${outcome.signal}`
    case 'not-found':
      return '/bin/sh cannot be started there'
    case 'not-started':
      return outcome.why
  }
}

const doneDigest = (gitDir: string): string | null =>
  unlessAbsent(() => readFileSync(join(gitDir, doneFile), 'utf8').trim(), null)

type Strategy = { path: string; bytes: Buffer; inCheckout: string | null }

const maxBytes = 4 * 1024 * 1024

/** The document that says what is wanted. */
export function findStrategy(cwd: string, given: string | null, checkout: string | null = null): Strategy | null {
  if (given === null) return null
  const path = resolve(cwd, given)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined)
    throw new UserError(
      `The strategy document ${path} does not exist.`,
      'Check the path, or leave it out and tell Claude what you want.',
    )
  if (!found.isFile()) throw new UserError(`${path} is not a file.`, 'Name the document itself.')
  if (found.size > maxBytes)
    throw new UserError(
      `${path} is larger than 4 MB.`,
      'Name a document that says what is wanted, not the material for it.',
    )
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

/** The worktree's name: the one given, or the strategy's, or today's. */
export function nameFor(given: string | null, strategy: Strategy | null, now: Date): string {
  if (given === null)
    return strategy === null
      ? now.toISOString().slice(0, 10)
      : slug(basename(strategy.path).replace(/\.[^.]*$/, '')) || 'plan'
  const name = given.normalize('NFC')
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u.test(name) && !/\.\.|\.$|\.lock$/.test(name)) return name
  throw new UserError(
    `${JSON.stringify(given)} cannot be a name: it becomes part of a folder and of a branch.`,
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

/**
 * The first prompt. A strategy that the worktree has with the same content is named where it stands; any other is laid
 * into `.claude/review`, where it is part of the record and does not show up in `git status`.
 */
export function copyStrategy(worktree: string, strategy: Strategy | null): string {
  if (strategy === null) return '/plan-with-review'
  const own = strategy.inCheckout === null ? null : readRegular(worktree, strategy.inCheckout)
  if (own?.kind === 'read' && own.bytes.equals(strategy.bytes)) return `/plan-with-review ${strategy.inCheckout}`
  const path = `${reviewDir}/strategy.md`
  ensureReviewDir(worktree)
  writeAtomic(worktree, path, strategy.bytes)
  return `/plan-with-review ${path}`
}
