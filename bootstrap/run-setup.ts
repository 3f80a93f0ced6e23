import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../src/store/ensure-folder.ts'
import { gitDirFolder } from '../src/store/install-record.ts'
import { sha256 } from '../src/store/sha256.ts'
import { writeWhole } from '../src/store/write-whole.ts'
import { runCommand } from '../src/system/run-command.ts'
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
    const outcome = await runCommand('/bin/sh', ['-c', command], { cwd: worktree, timeoutMs: deadlineMs, show: true })
    if (outcome.kind === 'ended' && outcome.exitCode === 0) continue
    const how = outcome.kind === 'ended' ? `exit code ${outcome.exitCode}` : outcome.kind
    throw new UserError(
      `The setup command \`${command}\` failed (${how}) in ${worktree}.`,
      'Mend it, then run the same bootstrap again; it goes on from here.',
      1,
    )
  }
  ensureFolder(gitDir, gitDirFolder)
  writeWhole(gitDir, doneFile, `${digest}\n`)
  return commands.length
}

const doneDigest = (gitDir: string): string | null =>
  existsSync(join(gitDir, doneFile)) ? readFileSync(join(gitDir, doneFile), 'utf8').trim() : null
