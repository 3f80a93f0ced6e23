import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type GatedWorktree, gatedWorktree } from './gated-worktree.ts'
import { fireAfterWrite, type PlanTold } from './reviewed-worktree.ts'
import { temporaryFolder } from './temporary-repo.ts'

export type FakeReviewedWorktree = GatedWorktree & {
  env: { readonly [name: string]: string }
  savePlan: (text: string) => Promise<PlanTold>
}

/** A turn of the fake Codex: what its model says, or the error that ends the turn. */
export type FakeTurn = string | { readonly error: string }

/** A gated worktree whose reviewer is `fake-codex.mjs`, for tests that must not need the real one. */
export async function fakeReviewedWorktree(
  turns: readonly FakeTurn[],
  files: { readonly [path: string]: string } = {},
  reflect = false,
): Promise<FakeReviewedWorktree> {
  const home = temporaryFolder()
  const script = join(home, 'turns.json')
  writeFileSync(script, JSON.stringify(turns))
  const codex = join(home, 'bin', 'codex')
  mkdirSync(join(home, 'bin'))
  writeFileSync(codex, `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, 'fake-codex.mjs')}" "$@"\n`)
  chmodSync(codex, 0o755)
  // What the reviewer's process may see is a positive list; its home is on it, so the script is found through that.
  const env = {
    PATH: [join(home, 'bin'), process.env.PATH ?? '/usr/bin:/bin'].join(delimiter),
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    FAKE_CODEX_SCRIPT: script,
    LANG: 'C.UTF-8',
  }
  const worktree = await gatedWorktree({ 'src/app.ts': 'export {}\n', ...files }, { reviewer: 'codex', reflect })
  onTestFinished(() => worktree.remove())
  return {
    ...worktree,
    env,
    savePlan: (text) => {
      const file_path = worktree.write('docs/plan.md', text)
      const event = { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input: { file_path, content: '' } }
      return fireAfterWrite(worktree.root, event, env)
    },
  }
}
