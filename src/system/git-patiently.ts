import { setTimeout as sleep } from 'node:timers/promises'
import { type GitOutcome, git } from './git.ts'

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
