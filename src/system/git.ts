import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from './errors.ts'
import { type GitRun, gitEnvironment, maxOutputBytes } from './hook-git.ts'
import { hearOwnSignal } from './signals.ts'

/**
 * Where other gits are at work in the same repository: one reads an entry of the list of worktrees that another has only
 * half written, or finds a file locked for a moment. Then the same works a little later.
 */
export async function gitWithRetry(cwd: string, args: readonly string[], timeoutMs?: number): Promise<GitOutcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await git(cwd, args, timeoutMs)
    if (outcome.kind === 'ok' || tries === mostTries || !passing.test(outcome.message)) return outcome
    await sleep(30 + Math.random() * 50 * tries)
  }
}

const mostTries = 15

const passing = /failed to read .*worktrees\/|\.lock': File exists|cannot lock ref|unable to read .*worktrees\//i

type GitOutcome = { kind: 'ok'; stdout: string } | { kind: 'failed'; exitCode: number; message: string }

/** git for the commands, with text for an answer. */
export async function git(cwd: string, args: readonly string[], timeoutMs = 60_000): Promise<GitOutcome> {
  const run = await spawnGit(cwd, args, timeoutMs)
  switch (run.kind) {
    case 'ended':
      return run.exitCode === 0
        ? { kind: 'ok', stdout: run.stdout.toString('utf8') }
        : { kind: 'failed', exitCode: run.exitCode, message: run.stderr }
    case 'stopped':
      return { kind: 'failed', exitCode: -1, message: run.why }
    case 'not-found':
      throw new UserError('git is not on PATH.', 'Install git (https://git-scm.com/downloads), then try again.')
  }
}

/** A question to which git may say no, which is null. A git that could not be asked, or gave no answer, has not said no. */
export async function gitOrNull(cwd: string, args: readonly string[]): Promise<string | null> {
  const outcome = await git(cwd, args)
  if (outcome.kind === 'ok') return outcome.stdout
  if (outcome.exitCode >= 0) return null
  throw new UserError(`${outcome.message}.`, 'Put that right, then try again.', 1)
}

/** For calls that only fail when something is badly wrong. */
export async function gitOrThrow(cwd: string, args: readonly string[], timeoutMs?: number): Promise<string> {
  const outcome = await git(cwd, args, timeoutMs)
  if (outcome.kind === 'ok') return outcome.stdout
  throw new UserError(
    `git ${args.join(' ')} failed in ${cwd}: ${outcome.message || `exit code ${outcome.exitCode}`}`,
    'Mend what git reports, then try again.',
    1,
  )
}

/**
 * The one door to git: English messages, no pager, no prompt, no lock for its own convenience, and none of the
 * variables that a git hook inherits. Bytes come out, because names of files are bytes. In our own process group, so
 * that whatever ends us ends git too.
 */
export function spawnGit(
  cwd: string,
  args: readonly string[],
  timeoutMs: number,
  env: NodeJS.ProcessEnv = {},
): Promise<GitRun> {
  return new Promise((resolve) => {
    const notStarted = ({ code }: NodeJS.ErrnoException): void =>
      // A folder that is gone ends here as well.
      resolve(
        code === 'ENOENT' && existsSync(cwd)
          ? { kind: 'not-found' }
          : { kind: 'stopped', why: `git ${args[0]} could not be started in ${cwd} (${code})` },
      )
    const child = start(cwd, args, env)
    if (child instanceof Error) return notStarted(child)
    const pieces: Buffer[] = []
    let [bytes, said] = [0, '']
    const stop = (why: string): void => {
      // git passes SIGTERM on to what it has started; only a git that does not listen is killed.
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 2_000).unref()
      resolve({ kind: 'stopped', why })
    }
    const letGo = (): void => {
      child.stdout.destroy()
      child.stderr.destroy()
    }
    const late = setTimeout(() => stop(`git ${args[0]} did not end within ${timeoutMs / 1000} s`), timeoutMs)
    child.once('error', (error) => {
      clearTimeout(late)
      notStarted(error)
    })
    // With no descriptor left there are no pipes either, whatever the types say; the error is on its way.
    if (child.stdout === undefined) return
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > maxOutputBytes) stop('git said more than 256 MB')
      else pieces.push(piece)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, 20_000)
    })
    // A hook may leave a daemon behind that holds our pipes: what git itself said has arrived shortly after its end.
    child.once('exit', () => setTimeout(letGo, 2_000).unref())
    child.once('close', async (code, signal) => {
      clearTimeout(late)
      await hearOwnSignal(code, signal)
      if (code === null) resolve({ kind: 'stopped', why: `git ${args[0]} was ended by ${signal}` })
      else resolve({ kind: 'ended', exitCode: code, stdout: Buffer.concat(pieces), stderr: said.trim() })
    })
  })
}

/** What `spawn` cannot tell by an event, such as a command line that is too long, it throws. */
function start(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const { spawn } = process.getBuiltinModule('node:child_process')
  try {
    return spawn('git', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...gitEnvironment(), ...env } })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
