import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SimpleGit } from 'simple-git'
import { gitEnvironment, maxOutputBytes, notOnPath } from './environment.ts'
import { systemErrorCode, UserError } from './errors.ts'
import { waitForOwnSignal } from './signals.ts'

/** `retryLocked`: while another git holds a lock or writes its entry of the list of worktrees. */
type GitOptions = { timeoutMs?: number; env?: { readonly [name: string]: string }; retryLocked?: boolean }

/** `status` is git's exit code; null where git was not started, was killed or was stopped by us. */
export class GitFailure extends UserError {
  readonly status: number | null
  readonly stderr: string
  constructor(message: string, nextStep: string, status: number | null, stderr: string) {
    super(message, nextStep, 1)
    this.status = status
    this.stderr = stderr
  }
}

/** Runs git and returns what it wrote to stdout. Any exit code but 0 throws a `GitFailure`. */
export async function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run(cwd, args, options, (repository) => repository.raw([...args]))
    } catch (error) {
      const isLocked = options.retryLocked && error instanceof GitFailure && lockedByOther.test(error.stderr)
      if (!isLocked || tries === maxTries) throw error
      await sleep(30 + Math.random() * 50 * tries)
    }
  }
}

const maxTries = 15
const lockedByOther = /failed to read .*worktrees\/|\.lock': File exists|cannot lock ref|unable to read .*worktrees\//i

/** A question that git may answer with no (an exit code), which is null. A git that gave no exit code throws. */
export const gitOrNull = (cwd: string, args: readonly string[]): Promise<string | null> =>
  git(cwd, args).catch(nullIfAnswered)

export const readBlob = (cwd: string, object: string): Promise<Buffer | null> =>
  run(cwd, ['cat-file', 'blob', object], {}, (repository) => repository.binaryCatFile(['blob', object])).catch(
    nullIfAnswered,
  )

function nullIfAnswered(error: unknown): null {
  if (asFailure(error).status === null) throw error
  return null
}

/** For `git(…).catch(asFailure)`: the failure as a value. Where git is not installed at all, that still throws. */
export function asFailure(error: unknown): GitFailure {
  if (error instanceof GitFailure) return error
  throw error
}

/** What simple-git does not hand out: the process and how it ended; `stopped` is why we ended it. */
type Run = {
  child?: ChildProcess
  startError?: Error
  signal?: NodeJS.Signals | null
  status?: number | null
  stderr?: string
  stopped?: string
}

const killAfterMs = 2_000

async function run<T>(
  cwd: string,
  args: readonly string[],
  { timeoutMs = 60_000, env = {} }: GitOptions,
  task: (repository: SimpleGit) => PromiseLike<T>,
): Promise<T> {
  const { simpleGit } = await import('simple-git')
  const run: Run = {}
  const abort = new AbortController()
  const stop = (why: string): void => {
    run.stopped ??= why
    // By SIGINT, which git passes on to what it has started.
    abort.abort()
    if (run.child !== undefined) closePipes(run.child)
    setTimeout(() => run.child?.kill('SIGKILL'), killAfterMs).unref()
  }
  const late = setTimeout(() => stop(`git ${args[0]} did not end within ${timeoutMs / 1000} s`), timeoutMs)
  const fullEnv = { ...gitEnvironment(), ...env }
  try {
    const repository = simpleGit({
      baseDir: cwd,
      abort: abort.signal,
      allowEnvironment: Object.keys(fullEnv),
      unsafe,
      completion: { onExit: false },
      input: () => Buffer.alloc(0),
      errors: (error, { exitCode, stdErr }) => {
        run.status = exitCode
        run.stderr = Buffer.concat(stdErr).toString('utf8').slice(0, 20_000).trim()
        return error ?? (exitCode === 0 ? undefined : new Error('git failed'))
      },
    })
    repository.env(fullEnv).outputHandler((_, stdout, stderr) => {
      let bytes = 0
      for (const stream of [stdout, stderr])
        stream.on('data', (piece: Buffer) => {
          bytes += piece.length
          if (bytes > maxOutputBytes) stop('git printed more than 256 MB')
        })
    })
    return await currentRun.run(run, () => task(repository))
  } catch (error) {
    // The 'error' event of a program that could not be started may still be on its way.
    await new Promise(setImmediate)
    await waitForOwnSignal(run.status, run.signal)
    throw failureOf(run, error, cwd, args)
  } finally {
    clearTimeout(late)
  }
}

const currentRun = new AsyncLocalStorage<Run>()

subscribe('child_process', (message) => {
  const run = currentRun.getStore()
  if (run === undefined) return
  const { process: child } = message as { process: ChildProcess }
  run.child = child
  // simple-git does not get to listen where no descriptor is left for the pipes, and without a listener node would end.
  child.on('error', (error) => {
    run.startError = error
  })
  // Without any output simple-git waits 50 ms longer; an empty piece counts as output.
  child.once('spawn', () => child.stdout?.emit('data', Buffer.alloc(0)))
  child.once('exit', (_, signal) => {
    run.signal = signal
    // A hook of the repository may leave a daemon behind that holds the pipes; what git itself said has arrived by then.
    setTimeout(() => closePipes(child), killAfterMs).unref()
  })
})

function closePipes({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy()
  stderr?.destroy()
}

/**
 * All of them: arguments and variables are ours or the user's, and nothing foreign stands where git would take it for an
 * option. The patterns would refuse the configuration of a branch named `alias`.
 */
const unsafe = Object.fromEntries(
  (
    'Alias AskPass CommandBinaries ConfigEnvCount ConfigPaths CredentialHelper DiffExternal DiffTextConv Editor Exec ' +
    'Filter FsMonitor GitProxy GpgProgram HooksPath Include MergeDriver Pack Pager ProtocolOverride SshCommand ' +
    'Submodule TemplateDir UrlRewrite'
  )
    .split(' ')
    .map((category) => [`allowUnsafe${category}`, true])
    // What forbids abbreviations is a variable that the hooks of the repository would inherit.
    .concat([['allowAbbreviatedOptions', true]]),
)

function failureOf(run: Run, error: unknown, cwd: string, args: readonly string[]): unknown {
  const [command] = args
  const errno = run.child?.pid === undefined ? startErrno(run.startError ?? error, cwd) : null
  if (errno === 'ENOENT' && existsSync(cwd))
    return new UserError(`${notOnPath}.`, 'Install git (https://git-scm.com/downloads), then try again.')
  const { signal = null, status = null, stderr = '' } = run
  const stopped =
    run.stopped ??
    (errno !== null ? `git ${command} could not be started in ${cwd} (${errno})` : null) ??
    (signal !== null ? `git ${command} was ended by ${signal}` : null)
  if (stopped !== null) return new GitFailure(`${stopped}.`, 'Fix that, then try again.', null, stopped)
  if (status === null) return error
  const why = stderr || `exit code ${status}`
  return new GitFailure(
    `git ${args.join(' ')} failed in ${cwd}: ${why}`,
    'Fix what git reports, then try again.',
    status,
    stderr,
  )
}

/** Of what spawn throws, simple-git keeps the text alone; of a folder that is not there it says so without a code. */
function startErrno(error: unknown, cwd: string): string | null {
  const named = systemErrorCode(error) ?? /\bE[A-Z0-9]{2,}\b/.exec(String(error))?.[0]
  return named ?? (existsSync(cwd) ? null : 'ENOENT')
}
