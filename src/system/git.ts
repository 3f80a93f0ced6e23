import { spawnGit } from './spawn-git.ts'
import { UserError } from './user-error.ts'

export type GitOutcome = { kind: 'ok'; stdout: string } | { kind: 'failed'; exitCode: number; message: string }

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
