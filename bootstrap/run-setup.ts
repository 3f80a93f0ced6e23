import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../src/store/ensure-folder.ts'
import { gitDirFolder } from '../src/store/install-record.ts'
import { sha256 } from '../src/store/sha256.ts'
import { writeWhole } from '../src/store/write-whole.ts'
import { type CommandOutcome, runCommand } from '../src/system/run-command.ts'
import { unlessAbsent } from '../src/system/system-failure.ts'
import { UserError } from '../src/system/user-error.ts'

const deadlineMs = 30 * 60_000
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
    const options = { cwd: worktree, env: environment(), timeoutMs: deadlineMs, show: true }
    const outcome = await runCommand('/bin/sh', ['-c', command], options)
    if (outcome.kind === 'ended' && outcome.exitCode === 0) continue
    throw new UserError(
      `The setup command \`${command}\` failed (${how(outcome)}) in ${worktree}.`,
      'Mend it, then run the same bootstrap again: it goes on with this worktree and runs the setup anew.',
      1,
    )
  }
  ensureFolder(gitDir, gitDirFolder)
  writeWhole(gitDir, doneFile, `${digest}\n`)
  return commands.length
}

/** A git in a setup command must mean this worktree, even where plan-gate was started from a git hook. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX)$/.test(name)),
  )

function how(outcome: CommandOutcome): string {
  switch (outcome.kind) {
    case 'ended':
      return `exit code ${outcome.exitCode}`
    case 'timed-out':
      return `it did not end within ${deadlineMs / 60_000} minutes`
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
