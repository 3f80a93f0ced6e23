import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runOwnHook } from '../../../src/install/self-test.ts'
import { ownHooksOf } from '../../../src/install/settings.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'

/** The gate compiles through a code cache that lies beside it; what it says must not depend on that file. */
describe('the gate without a usable code cache', () => {
  let worktree: GatedWorktree
  beforeEach(async () => {
    worktree = await gatedWorktree()
  })
  afterEach(() => worktree.remove())

  const cache = '.claude/hooks/plan-gate/pre-tool-use.mjs.cache'

  async function ask(file: string): Promise<number | null> {
    const [entry] = ownHooksOf(JSON.parse(worktree.read('.claude/settings.json')))
    const tool_input = { file_path: worktree.at(file), content: '' }
    const event = { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input }
    const outcome = await runOwnHook(worktree.root, entry ?? expect.unreachable(), JSON.stringify(event))
    return outcome.kind === 'ended' ? outcome.exitCode : null
  }

  it.each<[string, (path: string) => void]>([
    ['as installed', (path) => expect(existsSync(path)).toBe(true)],
    ['missing', (path) => rmSync(path)],
    ['empty', (path) => writeFileSync(path, '')],
    ['of another program', (path) => writeFileSync(path, Buffer.alloc(50_000, 7))],
    ['cut short', (path) => writeFileSync(path, worktree.read(cache).slice(0, 1_000))],
  ])('%s: decides all the same', async (_, prepare) => {
    prepare(worktree.at(cache))
    expect([await ask('src/a.ts'), await ask('docs/plan.md')]).toEqual([2, 0])
  })
})
