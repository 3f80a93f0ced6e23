import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type CliRun, runCli } from '../../../support/run-cli.ts'
import { git, snapshot, statusOf } from '../../../support/temporary-repo.ts'

export type Opened = { worktree: string; branch: string | null; prompt: string; stderr: string; lines: JsonLine[] }
export type JsonLine = { event: string; [key: string]: unknown }

export const offline = ['bootstrap', '--no-launch', '--reviewer', 'checklist']

/**
 * Bootstraps the worktree x and checks what is true of every success: the new worktree's status is clean, and the
 * checkout that the user stands in is as it was.
 */
export async function bootstrapIn(
  cwd: string,
  {
    args = ['--name', 'x'],
    checkout = cwd,
    ...run
  }: { args?: string[]; checkout?: string | null } & Partial<CliRun> = {},
): Promise<Opened> {
  const before = checkout === null ? null : lookOf(checkout)
  const { stdout, stderr } = await runCli([...offline, ...args, '--json'], { cwd, ...run })
  const lines = jsonLines(stdout)
  const { worktree, branch, prompt } = lines.at(-1) as JsonLine & Opened
  expect(statusOf(worktree)).toBe('')
  if (checkout !== null) expect(lookOf(checkout)).toEqual(before)
  return { worktree, branch, prompt, stderr, lines }
}

export const jsonLines = (stdout: string): JsonLine[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonLine)

/** A checkout: its files, its branch and its git status. */
export const lookOf = (checkout: string) => ({
  status: git(checkout, 'status', '--porcelain=v2', '--branch', '--untracked-files=all'),
  staged: git(checkout, 'diff', '--cached'),
  files: snapshot(checkout, ['.git']),
})

/** The locks of worktrees that are being opened, or whose opening was killed. */
export const openingsOf = (repo: string): string[] =>
  readdirSync(join(repo, '.git')).filter((name) => name.startsWith('plan-gate-opening-'))
