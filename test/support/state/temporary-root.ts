import { mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** An empty worktree root, gone after the test. */
export function temporaryRoot(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'plan-gate-store-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

/** As if a minute had passed since a process was killed: its locks look dead, its temporary files old. */
export function letAMinutePass(root: string): void {
  const then = new Date(Date.now() - 60_000)
  for (const path of filesUnder(join(root, '.claude/review'))) {
    if (/\.lock$|\.remove$|\.tmp$/.test(path)) utimesSync(path, then, then)
  }
}

export const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .sort()
