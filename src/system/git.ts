import { runCommand } from './run-command.ts'
import { UserError } from './user-error.ts'

export type GitOutcome = { kind: 'ok'; stdout: string } | { kind: 'failed'; exitCode: number; message: string }

/** The one door to git. English messages, no pager, no prompt, and none of the variables that a git hook inherits. */
export async function git(cwd: string, args: readonly string[], timeoutMs = 60_000): Promise<GitOutcome> {
  const outcome = await runCommand('git', args, { cwd, env: gitEnvironment(), timeoutMs })
  switch (outcome.kind) {
    case 'ended':
      return outcome.exitCode === 0
        ? { kind: 'ok', stdout: outcome.stdout }
        : { kind: 'failed', exitCode: outcome.exitCode, message: outcome.stderr.trim() }
    case 'not-found':
      throw new UserError('git is not on PATH.', 'Install git (https://git-scm.com/downloads), then try again.')
    case 'timed-out':
      return { kind: 'failed', exitCode: -1, message: `git ${args[0]} did not end within ${outcome.afterMs / 1000} s` }
    case 'killed':
      return { kind: 'failed', exitCode: -1, message: `git ${args[0]} was ended by ${outcome.signal}` }
  }
}

/** For calls that only fail when something is badly wrong. */
export async function gitOutput(cwd: string, args: readonly string[], timeoutMs?: number): Promise<string> {
  const outcome = await git(cwd, args, timeoutMs)
  if (outcome.kind === 'ok') return outcome.stdout
  throw new UserError(
    `git ${args.join(' ')} failed in ${cwd}: ${outcome.message || `exit code ${outcome.exitCode}`}`,
    'Mend what git reports, then try again.',
    1,
  )
}

const inherited = /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|NAMESPACE|PREFIX)$/

const gitEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name))),
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
})
