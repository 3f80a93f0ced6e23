import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import type { LedgerEvent } from '../../../src/schemas/records.ts'
import { readEvents } from '../../../src/state/ledger.ts'
import { finding, verdict } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { askGate, runHook } from '../../support/run-hook.ts'
import type { Turn, Turns } from '../../support/servers/responses-api.ts'

export type Files = { readonly [path: string]: string }

/** A reviewed worktree for one test, gone after it. */
export async function openWorktree(
  turns: Turns,
  files: Files = {},
  reviewer: 'codex' | null = 'codex',
): Promise<ReviewedWorktree> {
  const worktree = await reviewedWorktree(turns, { 'src/app.ts': 'export {}\n', ...files }, reviewer)
  onTestFinished(() => worktree.remove())
  const env = { ...worktree.env, XDG_CACHE_HOME: cache() }
  return { ...worktree, env, savePlan: (text, more) => worktree.savePlan(text, { env: { ...env, ...more?.env } }) }
}

let cacheDir: string | undefined

/** What is known of this Codex is found out once for all of a file's worktrees. */
function cache(): string {
  cacheDir ??= mkdtempSync(join(tmpdir(), 'loop-cache-'))
  return cacheDir
}

afterAll(() => {
  if (cacheDir !== undefined) rmSync(cacheDir, { recursive: true, force: true })
  cacheDir = undefined
})

/** A model whose next answers can be changed while the test goes on. */
export function changingModel(first: Turn | (() => Turn)): { turns: Turns; says: (turn: Turn | (() => Turn)) => void } {
  let current = first
  return {
    turns: () => (typeof current === 'function' ? current() : current),
    says: (turn) => {
      current = turn
    },
  }
}

export const unclear: Turn = verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('It is unclear.')] })
/** After `unclear`. */
export const approves: Turn = verdict({
  verdict: 'APPROVED',
  previous: [{ id: 'F1', status: 'fixed', reason: 'It is clear now.' }],
})

export const gateIsOpen = ({ root, at }: ReviewedWorktree): boolean =>
  askGate(root, 'Write', { file_path: at('src/app.ts'), content: 'x' }) === null

export function eventsOf(root: string): readonly LedgerEvent[] {
  const read = readEvents(root)
  return read.kind === 'read' ? read.events : []
}

export const hashOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The installed hook after a tool call that does not write the plan by name. */
export const useATool = ({ root }: ReviewedWorktree): string =>
  runHook(root, 'post-tool-use', {
    hook_event_name: 'PostToolUse',
    cwd: root,
    tool_name: 'Bash',
    tool_input: { command: 'true' },
    tool_response: {},
  }).stdout
