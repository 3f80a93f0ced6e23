import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { git } from '../../../src/system/git.ts'
import { temporaryRoot } from '../../support/state/temporary-root.ts'

afterEach(() => vi.unstubAllEnvs())

/** First on the path, a git that fails so many times before it does what it is asked. */
function failingGit(folder: string, times: number, message: string): void {
  writeFileSync(join(folder, 'message'), message)
  writeFileSync(join(folder, 'tries'), '')
  writeFileSync(
    join(folder, 'git'),
    `#!/bin/sh
printf . >> '${folder}/tries'
if [ "$(wc -c < '${folder}/tries')" -le ${times} ]; then cat '${folder}/message' >&2; exit 128; fi
echo done
`,
    { mode: 0o755 },
  )
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`)
}

it.each<{ message: string; times: number; tries: number; kind: 'ok' | 'failed' }>([
  { message: '', times: 0, tries: 1, kind: 'ok' },
  { message: 'fatal: failed to read .git/worktrees/w1/commondir: Success', times: 2, tries: 3, kind: 'ok' },
  { message: "fatal: Unable to create '/r/.git/config.lock': File exists.", times: 1, tries: 2, kind: 'ok' },
  { message: "error: cannot lock ref 'refs/heads/plan/x'", times: 1, tries: 2, kind: 'ok' },
  { message: "error: cannot lock ref 'refs/heads/plan/x'", times: 99, tries: 15, kind: 'failed' },
  { message: "fatal: 'x' is already checked out at '/r'", times: 1, tries: 1, kind: 'failed' },
])('"$message" $times times: $kind after $tries tries', async ({ message, times, tries, kind }) => {
  const folder = temporaryRoot()
  failingGit(folder, times, message)
  const outcome = await git(folder, ['worktree', 'list'], { retryLocked: true }).catch(({ status, stderr }) => ({
    status,
    stderr,
  }))
  expect(outcome).toEqual(kind === 'ok' ? 'done\n' : { status: 128, stderr: message })
  expect(readFileSync(join(folder, 'tries'), 'utf8')).toHaveLength(tries)
})
