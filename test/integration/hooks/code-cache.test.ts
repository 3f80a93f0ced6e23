import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { askGate } from '../../support/run-hook.ts'

/** The gate compiles through a code cache that lies beside it; what it says must not depend on that file. */
describe('the gate without a usable code cache', () => {
  let worktree: GatedWorktree
  beforeEach(async () => {
    worktree = await gatedWorktree()
  })
  afterEach(() => worktree.remove())

  const cache = '.claude/hooks/plan-gate/pre-tool-use.mjs.cache'

  it.each<[string, (path: string) => void]>([
    ['as installed', (path) => expect(existsSync(path)).toBe(true)],
    ['missing', (path) => rmSync(path)],
    ['empty', (path) => writeFileSync(path, '')],
    ['of another program', (path) => writeFileSync(path, Buffer.alloc(50_000, 7))],
    ['cut short', (path) => writeFileSync(path, worktree.read(cache).slice(0, 1_000))],
  ])('%s: decides all the same', (_, prepare) => {
    prepare(worktree.at(cache))
    expect(askGate(worktree.root, 'Write', { file_path: worktree.at('src/a.ts') })).toMatch(/not allowed/)
    expect(askGate(worktree.root, 'Write', { file_path: worktree.at('docs/plan.md') })).toBeNull()
    expect(askGate(worktree.root, 'Bash', { command: 'git status' })).toBeNull()
    expect(askGate(worktree.root, 'Bash', { command: 'ls | tee x' })).toMatch(/tee/)
  })
})
